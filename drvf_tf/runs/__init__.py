"""Run folders: what is written to them, and the one reader of it."""
