from gviz.report.analysis.analysis_document import analysis_documents as analysis_documents
from gviz.report.analysis.analysis_document import run_document as run_document
