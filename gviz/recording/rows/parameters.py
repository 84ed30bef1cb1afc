"""The rows of kernels' parameters as frameworks declare them."""

from __future__ import annotations

from gviz.recording.rows.tables import column, table


@table(
    "declared_parameter",
    primary_key=("function_id", "declaration", "position"),
    without_rowid=True,
)
class DeclaredParameter:
    """A parameter of a kernel as the framework that compiled it declares it.

    A framework may compile several kernels of one name: each has a declaration.
    """

    function_id: int = column("the kernel", key="kernel_function")
    declaration: int = column("which of the kernels of this name, from 1")
    position: int = column("from 0")
    name: str = column("as in the kernel's source")
    type: str = column("as the framework spells it, such as *fp16 or i32")
    known_by: str = column("the framework, such as Triton")
