from gviz.model.values.data_flow import DataFlow as DataFlow
from gviz.model.values.data_flow import trace_data as trace_data
from gviz.model.values.given_memory import Direction as Direction
from gviz.model.values.given_memory import GivenMemory as GivenMemory
from gviz.model.values.given_memory import MemoryContents as MemoryContents
from gviz.model.values.graph_values import GraphValues as GraphValues
from gviz.model.values.graph_values import read_graph_values as read_graph_values
