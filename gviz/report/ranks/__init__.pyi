from gviz.report.ranks.rank_tables import rank_name as rank_name
from gviz.report.ranks.skew_sections import MOST_NODES as MOST_NODES
from gviz.report.ranks.skew_sections import skew_document as skew_document
