from gviz.report.info.failure_section import culprit as culprit
from gviz.report.info.failure_section import saved_by_updates as saved_by_updates
from gviz.report.info.failure_section import without_line as without_line
from gviz.report.info.fault_sentences import fault_paragraph as fault_paragraph
from gviz.report.info.graphs_table import GraphEntry as GraphEntry
from gviz.report.info.graphs_table import graphs_document as graphs_document
from gviz.report.info.recording_document import info_document as info_document
