from gviz.comparison.pairing.compared_graph import COMPARED_COLUMNS as COMPARED_COLUMNS
from gviz.comparison.pairing.compared_graph import ComparedGraph as ComparedGraph
from gviz.comparison.pairing.compared_graph import read_compared_graph as read_compared_graph
from gviz.comparison.pairing.node_pairs import pair_nodes as pair_nodes
