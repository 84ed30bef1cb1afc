"""The origin of a node: NVTX ranges and the Python lines that created it."""

from __future__ import annotations

from collections.abc import Sequence

from dash.development.base_component import Component

from gviz.app.components import elements as html
from gviz.model import call_line, own_frame
from gviz.recording import rows

_EXACT = "PyTorch's sequence number of autograd's node is that of this operation."
_BESIDE = (
    "Autograd's node is of a view, which launches nothing, beside this operation in PyTorch's "
    "sequence, or adds to the gradient that this operation's backward pass gave."
)


def stack_view(stack: Sequence[rows.Location], reason: str | None) -> Component:
    """Return the Python stack, innermost own line first and large, or why there is none."""
    if not stack:
        return _no_stack(reason)
    own = own_frame(stack)
    prominent = own if own is not None else 0
    frames = [_frame(x, own=depth == own) for depth, x in enumerate(stack)]
    return html.Div(
        [
            _prominent(stack[prominent]),
            html.Details(
                [
                    html.Summary(f"All {len(stack)} frames, innermost first"),
                    html.Ol(frames, className="gv-frames"),
                ]
            )
            if len(stack) > 1
            else None,
        ]
    )


def _no_stack(reason: str | None) -> Component:
    return html.P(f"No Python stack: {reason or 'none was recorded'}.", className="gv-muted")


def origin_line(
    stack: Sequence[rows.Location], reason: str | None, forward: Sequence[rows.Location]
) -> Component:
    """Return where a node comes from, in a line; of a node without a stack its forward operation.

    Parameters
    ----------
    stack, reason
        Of the node; why there is none.
    forward
        Of the operation of the forward pass whose backward pass it is; empty: not known.
    """
    shown = stack or forward
    if not shown:
        return _no_stack(reason)
    own = own_frame(shown)
    place = _place(shown[0 if own is None else own])
    inferred = "" if stack else " (inferred: of the forward operation)"
    return html.P(
        [html.Code(call_line(shown)), inferred],
        className="gv-origin",
        title=f"{place}{inferred}",
    )


def forward_operation(
    operation: rows.Node,
    autograd_name: str | None,
    nvtx: str | None,
    stack: Sequence[rows.Location],
    *,
    is_exact: bool,
) -> Component:
    """Return where the operation was called whose backward pass a node is, and how that is known.

    Parameters
    ----------
    operation
        The first node that the operation created.
    nvtx, stack
        Its NVTX ranges and Python stack.
    is_exact
        Whether PyTorch's sequence numbers are equal.
    """
    how = "autograd: sequence" if is_exact else "autograd: next in sequence"
    return html.Div(
        [
            html.P(
                f"{autograd_name} of node {operation.node_id} {operation.name} ({how})",
                title=_EXACT if is_exact else _BESIDE,
            ),
            html.P(nvtx) if nvtx else None,
            stack_view(stack, operation.stack_reason),
        ]
    )


def _prominent(location: rows.Location) -> Component:
    return html.Div(
        className="gv-line-own",
        children=[
            html.Code(
                location.source.strip() if location.source else location.function,
                className="gv-source",
            ),
            html.Div(_place(location), className="gv-muted gv-mono gv-break"),
        ],
    )


def _frame(location: rows.Location, *, own: bool) -> Component:
    return html.Li(
        className="gv-frame-own" if own else None,
        children=[
            html.Div(_place(location), className="gv-mono gv-break"),
            html.Code(location.source.strip(), className="gv-source")
            if location.source
            else html.Span("source not recorded", className="gv-muted"),
        ],
    )


def _place(location: rows.Location) -> str:
    line = f":{location.line}" if location.line else ""
    return f"{location.file}{line} in {location.function}"
