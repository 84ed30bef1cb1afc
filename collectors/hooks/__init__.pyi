from gviz.collectors.hooks.compiled_graphs import CompiledGraphHook as CompiledGraphHook
from gviz.collectors.hooks.endings import EndingHooks as EndingHooks
from gviz.collectors.hooks.import_hook import on_import as on_import
from gviz.collectors.hooks.kernel_signatures import KernelSignatureHook as KernelSignatureHook
from gviz.collectors.hooks.nvtx import NvtxHooks as NvtxHooks
from gviz.collectors.hooks.record_function import RecordFunctionHook as RecordFunctionHook
from gviz.collectors.hooks.stacks import StackTaker as StackTaker
from gviz.collectors.hooks.stacks import python_frames as python_frames
