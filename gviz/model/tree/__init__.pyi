from gviz.model.tree.graph_level import GraphLevel as GraphLevel
from gviz.model.tree.graph_tree import GraphTree as GraphTree
from gviz.model.tree.keep import Keep as Keep
from gviz.model.tree.keep import build_anew as build_anew
from gviz.model.tree.tree_nodes import read_level_columns as read_level_columns
