#!/usr/bin/env bash
# Draws every picture of README.md and docs/ again, from commands alone.
# Usage: tools/docs.sh [--list] [--runs=<folder>] [<python>]
#
#   --list   only says which pictures there are, and what each is made from
#   --runs   where trainings are kept; runs/docs by default
#
# A finished training in that folder is used as it is, without its dataset; to
# train it again, delete its folder. From nothing it takes some three hours on
# two cores. AntMaze and hopper need datasets, D4RL's files or others of their
# names in D4RL_DATASET_DIR. A picture that cannot be drawn stays as it is and
# is named in the end, which is then not a success.
set -euo pipefail
cd "$(dirname "$0")/.."
pictures=docs/results
runs=runs/docs
list=false
python=python3
for word in "$@"; do
  case $word in
    --list) list=true ;;
    --runs=*) runs=${word#--runs=} ;;
    -*) echo "$word is not an option: there are --list and --runs=." >&2
        exit 2 ;;
    *) python=$word ;;
  esac
done
missing=()

finished() { # finished <run>
  [[ -f $runs/$1/curve.png ]] && grep -qs '"finished"' "$runs/$1/run.json"
}

announce() { # announce <picture> <what it is made from>
  if $list; then echo "$pictures/$1.png: $2"; fi
  ! $list
}

give_up() { # give_up <picture> <why>
  echo "$pictures/$1.png stays as it is: $2." >&2
  missing+=("$1.png")
}

state() { # state <run>
  if finished "$1"; then echo "finished run $runs/$1"
  else echo "$runs/$1, to be trained"; fi
}

trained() { # trained <run> <flags of launch/train.py>
  local name=$1
  shift
  finished "$name" ||
    "$python" launch/train.py "$@" --run="$runs/$name" \
      --gin_param="configure_runtime.inter_op_threads=1"
}

curve() { # curve <picture and run> <flags of launch/train.py>
  announce "$1" "curve.png of $(state "$1")" || return 0
  trained "$@" ||
    { give_up "$1" "launch/train.py could not train $runs/$1"; return 0; }
  cp "$runs/$1/curve.png" "$pictures/$1.png"
}

uncertainty() { # uncertainty <picture> <data that are not theirs> <run> ...
  local name=$1 data=$2 run flags=()
  shift 2
  announce "$name" "launch/uncertainty.py of $*, $data" || return 0
  for run in "$@"; do
    finished "$run" ||
      { give_up "$name" "there is no finished run in $runs/$run"; return 0; }
    local method=${run##*_}
    flags+=(--run="$runs/$run" --label="${method^^}")
  done
  "$python" launch/uncertainty.py "${flags[@]}" --ood="$data" \
    --out="$runs/$name" ||
    { give_up "$name" "launch/uncertainty.py could not draw it"; return 0; }
  cp "$runs/$name/uncertainty.png" "$pictures/$name.png"
}

finetuned() { # finetuned <picture> <offline runs> <flags of launch/finetune.py>
  local name=$1 run policy flags=()
  announce "$name" "launch/finetune.py of $2" || return 0
  for policy in posterior optimistic actor_samples; do
    for run in $2; do
      finished "${run}_$policy" ||
        "$python" launch/finetune.py --run="$runs/$run" \
          --out="$runs/${run}_$policy" \
          --gin_param="OnlineBatches.policy=@$policy" \
          --gin_param="ONLINE_STEPS=50_000" "${@:3}" ||
        { give_up "$name" "launch/finetune.py could not tune the run"
          return 0; }
      flags+=(--show="$runs/${run}_$policy")
    done
  done
  "$python" launch/finetune.py "${flags[@]}" --out="$runs/$name" ||
    { give_up "$name" "launch/finetune.py could not draw it"; return 0; }
  cp "$runs/$name/finetune.png" "$pictures/$name.png"
}

growth() { # growth <picture>
  announce "$1" "launch/benchmark.py --suite=growth" || return 0
  "$python" launch/benchmark.py --suite=growth --rounds=3 \
    --out="$pictures/$1.png" ||
    give_up "$1" "launch/benchmark.py could not draw it"
}

methods() { # methods <picture>: of the records that are kept, no training
  announce "$1" "launch/report.py of docs/results/runs" || return 0
  "$python" launch/report.py --run=docs/results/runs --out="$runs/$1" ||
    { give_up "$1" "launch/report.py could not draw it"; return 0; }
  cp "$runs/$1/figures/overview.png" "$pictures/$1.png"
}

demo() { # demo <picture>
  announce "$1" "launch/demo.py" || return 0
  "$python" launch/demo.py --out="$runs/$1" ||
    { give_up "$1" "launch/demo.py could not draw it"; return 0; }
  cp "$runs/$1/$1.png" "$pictures/$1.png"
}

film() { # film <picture> <run> <steps of the episode> <its seed>
  local why
  if $list; then
    echo "$pictures/$1.gif: an episode of $(state "$2")"
    return 0
  fi
  if ! finished "$2"; then why="there is no finished run in $runs/$2"
  elif "$python" launch/evaluate.py --run="$runs/$2" --episodes=1 \
    --seed="$4" --out="$runs/$1.json" --video="$pictures/$1.gif" \
    --video_steps="$3"
  then return 0
  else why="launch/evaluate.py could not film it"; fi
  echo "$pictures/$1.gif stays as it is: $why." >&2
  missing+=("$1.gif")
}

selection() { # selection <picture> <episodes at the most> <run> ...
  local name=$1 episodes=$2 run
  shift 2
  announce "$name" "launch/select_.py of $*" || return 0
  for run in "$@"; do
    finished "$run" ||
      { give_up "$name" "there is no finished run in $runs/$run"; return 0; }
  done
  "$python" launch/select_.py "${@/#/$runs/}" --out="$runs/$name" \
    --gin_param="FittedQEvaluation.num_steps=3_000" \
    --gin_param="OfflineEvaluation.max_episodes=$episodes" ||
    { give_up "$name" "launch/select_.py could not draw it"; return 0; }
  cp "$runs/$name/selection.png" "$pictures/$name.png"
}

demo one_dimension
growth growth
methods methods
for seed in 0 1 2; do
  curve "quickstart_seed$seed" --gin_file=gin/quickstart.gin --seed="$seed"
done
# Fine-tuning and selection were measured on quickstart as it was.
small_maze=(--gin_param="generated_maze2d.num_steps=200_000"
  --gin_param="train_eval.num_steps=15_000"
  --gin_param="EnsembleCriticNetwork.input_bias_range=0.0"
  --gin_param="tanh_gaussian_actor.input_bias_range=0.0")
if ! $list; then
  for seed in 0 1 2; do
    trained "small_maze_seed$seed" --gin_file=gin/quickstart.gin \
      --seed="$seed" "${small_maze[@]}" || true
  done
fi
finetuned quickstart_finetuned 'small_maze_seed0 small_maze_seed1'
if ! $list; then
  for seed in 0 1; do
    trained "hopper_seed$seed" --gin_file=gin/hopper_medium.gin \
      --gin_file=gin/cpu.gin --gin_param="Evaluation.interval=5_000" \
      --gin_param="SettlingRate.decay_steps=8_000" --seed="$seed" || true
  done
fi
finetuned hopper_finetuned 'hopper_seed0 hopper_seed1' \
  --gin_param="build_agent.actor_learning_rate=3e-5" \
  --gin_param="Evaluation.interval=5_000" \
  --gin_param="Evaluation.final_episodes=20"
# The paper's letter, at budgets that two cores can pay.
curve hopper_medium_cpu --gin_file=gin/hopper_medium.gin \
  --gin_file=gin/paper.gin --gin_file=gin/cpu.gin \
  --gin_param="train_eval.num_steps=100_000" \
  --gin_param="Evaluation.interval=10_000" \
  --gin_param="Evaluation.num_episodes=20"
if ! $list; then
  trained hopper_drvf --gin_file=gin/hopper_medium.gin \
    --gin_file=gin/cpu.gin --seed=5 || true
  trained hopper_pbrl --gin_file=gin/hopper_medium.gin \
    --gin_file=gin/baselines/pbrl.gin --gin_file=gin/cpu.gin \
    --gin_file=gin/table.gin --gin_param="train_eval.num_steps=18_000" \
    --gin_param="ood_schedule.knee_step=900" \
    --gin_param="ood_schedule.end_step=18_000" || true
fi
uncertainty hopper_uncertainty hopper-expert-v2 hopper_drvf hopper_pbrl
curve antmaze_umaze_cpu --gin_file=gin/antmaze_umaze.gin \
  --gin_file=gin/paper.gin --gin_file=gin/cpu.gin \
  --gin_param="train_eval.num_steps=150_000" \
  --gin_param="Evaluation.interval=10_000"
curve antmaze_umaze_bc --gin_file=gin/antmaze_umaze.gin \
  --gin_file=gin/paper.gin --gin_file=gin/cpu.gin \
  --gin_file=gin/bc_actor.gin --gin_param="train_eval.num_steps=50_000" \
  --gin_param="Evaluation.interval=10_000" \
  --gin_param="DRVFAgent.eta_ood=1.0" \
  --gin_param="loading.load.states=@normalize_observations"
# What docs/healthy.md reads.
curve healthy_good --gin_file=gin/hopper_medium.gin --gin_file=gin/cpu.gin \
  --seed=6
film hopper healthy_good 240 0
curve healthy_runaway --gin_file=gin/halfcheetah_medium.gin \
  --gin_file=gin/cpu.gin --gin_file=gin/xla.gin --seed=3 \
  --gin_param="train_eval.num_steps=100_000" \
  --gin_param="SettlingRate.decay_steps=70_000" \
  --gin_param="DRVFAgent.backup=@target/FadingLcb()" \
  --gin_param="FadingLcb.start=15_000" --gin_param="FadingLcb.length=15_000" \
  --gin_param="target/FadingLcb.first=1.0" \
  --gin_param="target/FadingLcb.then=0.3" \
  --gin_param="actor/FadingLcb.then=0.3"
curve healthy_gone --gin_file=gin/quickstart.gin "${small_maze[@]}" \
  --gin_file=gin/ablations/no_kl.gin --gin_file=gin/ablations/minimum.gin \
  --gin_param="BayesianHead.initial_std=0.002"
curve healthy_too_pessimistic --gin_file=gin/quickstart.gin \
  "${small_maze[@]}" \
  --gin_param="Evaluation.interval=5_000" \
  --gin_param="build_agent.actor_learning_rate=3e-4" \
  --gin_param="DRVFAgent.kl_scale=@kl_mean" \
  --gin_param="target/lcb.alpha=2.25" --gin_param="actor/lcb.alpha=2.25"
# What docs/offline.md reads.
film quickstart quickstart_seed0 300 10
if ! $list; then
  # Methods, seed and steps were fixed before any of their scores was known.
  for method in bc iql td3_bc sac_n edac; do
    trained "small_maze_$method" --task=quickstart --method="$method" \
      --seed=0 "${small_maze[@]}" --gin_param="train_eval.keep_every=5_000" \
      --gin_param="Evaluation.interval=5_000" \
      --gin_param="Evaluation.num_episodes=20" || true
  done
  hopper() { # hopper <run> <flags of launch/train.py>
    trained "$1" --gin_file=gin/hopper_medium.gin --gin_file=gin/cpu.gin \
      "${@:2}" || true
  }
  hopper hopper_settled_8 --seed=3 \
    --gin_param="SettlingRate.decay_steps=8_000"
  hopper hopper_settled_12 --seed=2 \
    --gin_param="SettlingRate.decay_steps=12_000"
  hopper hopper_settled_20 --seed=1 \
    --gin_param="SettlingRate.decay_steps=20_000" \
    --gin_param="train_eval.num_steps=50_000"
  hopper hopper_settled_40 --seed=10 --gin_param="START=10_000" \
    --gin_param="SettlingRate.decay_steps=40_000" \
    --gin_param="train_eval.num_steps=30_000"
  hopper hopper_settled_40_bold --seed=10 --gin_param="START=10_000" \
    --gin_param="SettlingRate.decay_steps=40_000" \
    --gin_param="target/lcb.alpha=0.5" \
    --gin_param="train_eval.num_steps=50_000"
fi
selection selection_maze2d 3000 small_maze_seed{0,1,2} \
  small_maze_{bc,iql,td3_bc,sac_n,edac}
selection selection_hopper 300 hopper_settled_{8,12,20,40,40_bold}
if $list; then exit 0; fi
if ((${#missing[@]})); then
  echo "Not drawn, for the reasons above: ${missing[*]}." >&2
  exit 1
fi
echo "Pictures are in $pictures."
