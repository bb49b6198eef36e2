"""Policies that report their uncertainty, their export and their loading."""
