"""What learns: the ensemble SAC agent and the methods that are rows of it."""
