"""Aggregates, figures and cost tables."""
