from gviz.report.comparison.diff_document import change_document as change_document
from gviz.report.comparison.diff_document import diff_documents as diff_documents
from gviz.report.comparison.diff_verdict import group_change as group_change
from gviz.report.comparison.time_changes import change_verdict as change_verdict
from gviz.report.comparison.trend_sections import MOST_SERIES as MOST_SERIES
from gviz.report.comparison.trend_sections import trend_document as trend_document
