from gviz.formats.dot.export import to_dot as to_dot
from gviz.formats.importer import bare_name as bare_name
from gviz.formats.importer import import_files as import_files
from gviz.formats.perfetto.export import write_trace as write_trace
from gviz.formats.svg.picture import draw_graphs as draw_graphs
from gviz.formats.svg.picture import draw_launch as draw_launch
