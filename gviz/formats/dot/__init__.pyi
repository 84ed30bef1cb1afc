from gviz.formats.dot.importer import DotWriter as DotWriter
from gviz.formats.dot.importer import find_parents as find_parents
from gviz.formats.dot.importer import import_dot as import_dot
from gviz.formats.dot.importer import read_graphs as read_graphs
from gviz.formats.dot.model import DotGraph as DotGraph
from gviz.formats.dot.model import DotNode as DotNode
from gviz.formats.dot.model import Parent as Parent
