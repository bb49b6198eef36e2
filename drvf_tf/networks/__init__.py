"""Stacked ensemble layers, heads, the critic and the actor."""
