from gviz.runs.kernel_functions import KernelFunctions as KernelFunctions
from gviz.runs.node_keys import NodeKeys as NodeKeys
from gviz.runs.numbers import IdCounter as IdCounter
from gviz.runs.operations import OutsideOperations as OutsideOperations
from gviz.runs.operations import operation_name as operation_name
from gviz.runs.run_builder import RunBuilder as RunBuilder
from gviz.runs.spans import Spans as Spans
