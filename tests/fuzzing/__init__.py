"""Seeded mutation fuzzing of what gviz reads; bench/fuzz.py runs it, a part is a unit test."""
