"""Fleets: the recordings of many ranks as one data set that DuckDB, pandas and Spark read."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)
