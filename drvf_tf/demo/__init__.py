"""The idea in one dimension."""
