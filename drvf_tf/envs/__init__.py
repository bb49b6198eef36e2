"""D4RL's tasks as TF-Agents environments."""
