from gviz.report.analysis.advice_section import suggestions_of as suggestions_of
from gviz.report.analysis.analysis_document import analysis_documents as analysis_documents
from gviz.report.analysis.analysis_document import run_document as run_document
from gviz.report.analysis.headline import GraphHeadline as GraphHeadline
from gviz.report.analysis.headline import headline_of as headline_of
from gviz.report.analysis.path_section import critical_path_lines as critical_path_lines
