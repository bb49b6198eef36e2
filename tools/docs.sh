#!/usr/bin/env bash
# Draws every picture of README.md and docs/ again, from commands alone.
# Usage: tools/docs.sh <python>
#
# Finished trainings are kept in runs/docs and not repeated; from nothing it
# takes an afternoon on two cores. AntMaze and hopper need datasets: D4RL's
# files, or others of their names, in D4RL_DATASET_DIR; without them their
# pictures stay as they are.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
pictures=docs/results

curve() { # curve <picture> <flags of launch/train.py>
  local name=$1
  shift
  "$python" launch/train.py "$@" --run_dir="runs/docs/$name"
  cp "runs/docs/$name/curve.png" "$pictures/$name.png"
}

"$python" launch/demo.py --output_dir="$pictures"
for seed in 0 1 2; do
  curve "quickstart_seed$seed" --gin_file=gin/quickstart.gin --seed="$seed" \
    --gin_param="configure_runtime.inter_op_threads=1"
done
if [[ -n "${D4RL_DATASET_DIR:-}" ]]; then
  curve hopper_medium_cpu --gin_file=gin/hopper_medium.gin \
    --gin_file=gin/cpu.gin --gin_param="train_eval.num_steps=100_000"
  curve antmaze_umaze_cpu --gin_file=gin/antmaze_umaze.gin \
    --gin_file=gin/cpu.gin --gin_param="Evaluation.interval=20_000" \
    --gin_param="configure_runtime.inter_op_threads=1"
  curve antmaze_umaze_bc --gin_file=gin/antmaze_umaze.gin \
    --gin_file=gin/cpu.gin --gin_file=gin/bc_actor.gin \
    --gin_param="DRVFAgent.eta_ood=1.0" \
    --gin_param="loading.load.transforms=(@affine_reward,@normalize_observations)"
fi
echo "Pictures are in $pictures."
