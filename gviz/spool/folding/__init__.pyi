from gviz.spool.folding.recording_fold import fold as fold
