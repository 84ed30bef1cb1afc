from gviz.formats.svg.time_colours import TimeColours as TimeColours
