"""A second opinion on gviz's figures: the same, computed anew from raw files by plain Python.

Nothing here imports gviz, numpy or anything else that is not Python's own
(tests/unit/test_oracle_imports.py), and nothing is made fast: a figure is written down as its
definition says it. tests/oracle_agreement.py holds gviz's figures against these.
"""
