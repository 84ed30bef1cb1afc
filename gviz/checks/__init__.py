"""A recording held against limits and against a baseline, for continuous integration."""
