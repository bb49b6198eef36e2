"""Dynamics models: fitted to a dataset, rolled out as a source of batches."""
