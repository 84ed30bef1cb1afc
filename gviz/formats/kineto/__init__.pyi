from gviz.formats.kineto.reading import read_kineto as read_kineto
