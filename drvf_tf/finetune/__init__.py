"""Fine-tuning: an offline run's agent goes on in its task, and explores."""
