"""Single-line mutations of gviz and the tests that catch them; bench/mutations.py runs it."""
