"""Walls of the Python code: each module finds the breaches of one."""
