"""Run folders in, one page of tables and pictures out."""
