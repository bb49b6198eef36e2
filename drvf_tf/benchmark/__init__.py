"""What a step, a start and an evaluation cost."""
