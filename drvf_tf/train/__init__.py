"""The training loop, evaluation, metrics and checkpoints."""
