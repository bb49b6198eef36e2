"""Datasets in (D4RL, Minari, arrays), transition batches out."""
