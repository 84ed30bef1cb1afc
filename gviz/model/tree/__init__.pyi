from gviz.model.tree.keep import Keep as Keep
from gviz.model.tree.keep import build_anew as build_anew
