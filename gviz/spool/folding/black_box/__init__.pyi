from gviz.spool.folding.black_box.faults import fold_faults as fold_faults
