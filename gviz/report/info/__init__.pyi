from gviz.report.info.graphs_table import GraphEntry as GraphEntry
from gviz.report.info.graphs_table import graphs_document as graphs_document
from gviz.report.info.recording_document import info_document as info_document
