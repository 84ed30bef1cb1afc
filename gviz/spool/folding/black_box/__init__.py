"""Upgrades of recordings of older schemas: one module a step from a version to the next."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)
