from gviz.report.answers.finding_section import FoundFinding as FoundFinding
from gviz.report.answers.finding_section import find_finding as find_finding
from gviz.report.answers.finding_section import finding_document as finding_document
from gviz.report.answers.finding_section import findings_document as findings_document
from gviz.report.answers.gap_section import gap_document as gap_document
from gviz.report.answers.overview_section import overview_document as overview_document
from gviz.report.answers.overview_section import recordings_document as recordings_document
