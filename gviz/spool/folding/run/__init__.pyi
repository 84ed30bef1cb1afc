from gviz.spool.folding.run.gpu_states import fold_gpu_states as fold_gpu_states
from gviz.spool.folding.run.periods import fold_periods as fold_periods
from gviz.spool.folding.run.stacks import fold_stacks as fold_stacks
