"""The uncertainty-reporting policy, export and loading."""
