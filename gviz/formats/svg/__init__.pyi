from gviz.formats.svg.colours import ValueColours as ValueColours
from gviz.formats.svg.node_colours import colours_of_nodes as colours_of_nodes
