from gviz.matching.eager_passes import CapturedWork as CapturedWork
from gviz.matching.eager_passes import EagerMatch as EagerMatch
from gviz.matching.eager_passes import EagerWork as EagerWork
from gviz.matching.eager_passes import match_eager as match_eager
from gviz.matching.occurrences import Work as Work
