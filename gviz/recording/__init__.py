"""The recording: one SQLite file that collectors write and everything else reads.

This package is the only place in gviz that speaks SQL.
"""
