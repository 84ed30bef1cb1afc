from gviz.formats.svg.colours import ColourScale as ColourScale
from gviz.formats.svg.colours import ValueColours as ValueColours
