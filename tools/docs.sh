#!/usr/bin/env bash
# Draws every picture of README.md and docs/ again, from commands alone.
# Usage: tools/docs.sh [--list] [--runs=<folder>] [<python>]
#
#   --list   only says which pictures there are, and what each is made from
#   --runs   where trainings are kept; runs/docs by default
#
# A finished training in that folder is used as it is, without its dataset; to
# train it again, delete its folder. From nothing it takes an afternoon on two
# cores. AntMaze and hopper need datasets, D4RL's files or others of their
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

curve() { # curve <picture and run> <flags of launch/train.py>
  local name=$1
  shift
  announce "$name" "curve.png of $(state "$name")" || return 0
  finished "$name" ||
    "$python" launch/train.py "$@" --run_dir="$runs/$name" ||
    { give_up "$name" "launch/train.py could not train $runs/$name"; return 0; }
  cp "$runs/$name/curve.png" "$pictures/$name.png"
}

uncertainty() { # uncertainty <picture> <run> <data that are not its own>
  announce "$1" "launch/uncertainty.py of $(state "$2"), $3" || return 0
  finished "$2" ||
    { give_up "$1" "there is no finished run in $runs/$2"; return 0; }
  "$python" launch/uncertainty.py --run="$runs/$2" --ood="$3" \
    --output_dir="$runs/$2/uncertainty" ||
    { give_up "$1" "launch/uncertainty.py could not draw it"; return 0; }
  cp "$runs/$2/uncertainty/uncertainty.png" "$pictures/$1.png"
}

demo() { # demo <picture>
  announce "$1" "launch/demo.py" || return 0
  "$python" launch/demo.py --output_dir="$pictures" ||
    give_up "$1" "launch/demo.py could not draw it"
}

demo one_dimension
for seed in 0 1 2; do
  curve "quickstart_seed$seed" --gin_file=gin/quickstart.gin --seed="$seed" \
    --gin_param="configure_runtime.inter_op_threads=1"
done
curve hopper_medium_cpu --gin_file=gin/hopper_medium.gin \
  --gin_file=gin/cpu.gin --gin_param="train_eval.num_steps=100_000"
uncertainty hopper_uncertainty hopper_medium_cpu hopper-expert-v2
curve antmaze_umaze_cpu --gin_file=gin/antmaze_umaze.gin \
  --gin_file=gin/cpu.gin --gin_param="Evaluation.interval=20_000" \
  --gin_param="configure_runtime.inter_op_threads=1"
curve antmaze_umaze_bc --gin_file=gin/antmaze_umaze.gin \
  --gin_file=gin/cpu.gin --gin_file=gin/bc_actor.gin \
  --gin_param="DRVFAgent.eta_ood=1.0" \
  --gin_param="loading.load.transforms=(@affine_reward,@normalize_observations)"
if $list; then exit 0; fi
if ((${#missing[@]})); then
  echo "Not drawn, for the reasons above: ${missing[*]}." >&2
  exit 1
fi
echo "Pictures are in $pictures."
