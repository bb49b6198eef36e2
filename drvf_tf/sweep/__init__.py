"""Many runs at once: tasks × methods × seeds, on Ray."""
