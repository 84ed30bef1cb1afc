from gviz.formats.svg.time_colours import TimeColours as TimeColours
from gviz.formats.svg.time_colours import format_ns as format_ns
