from gviz.spool.folding.recording_fold import discard as discard
from gviz.spool.folding.recording_fold import fold as fold
