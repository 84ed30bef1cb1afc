"""Records of trials: an edited copy of a graph against one that is not edited."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from gviz.spool.records.structure import U32, U64, Tail, Text


class TrialEdit(NamedTuple):
    """A change of the copy, in a TRIAL record.

    Attributes
    ----------
    kind
        enum change_kind
    node_id
        of a dependency that is cut or added, the node that is waited for
    to_node_id
        and the one that waits; of an order of creation, the node that comes next
    value_ns
        of a delay
    """

    kind: U32
    graph_id: U32
    node_id: U32
    to_node_id: U32
    value_ns: U64


class TrialPair(NamedTuple):
    """Two launches, one after the other in whichever order, in a TRIAL record after its edits.

    Attributes
    ----------
    unedited_ns
        without the edit, between two events around the launch
    edited_ns
        with it
    """

    unedited_ns: U64
    edited_ns: U64


class TrialRecord(NamedTuple):
    """A trial of an executable's graph.

    Attributes
    ----------
    kind
        enum trial_kind
    results
        enum trial_results
    held_ns
        how long calls of the program were held
    saved_bytes
        device memory that was saved and restored
    tail
        struct trial_edit, then struct trial_pair
    """

    graph_id: U32
    exec_id: U32
    kind: U32
    results: U32
    edits: U32
    pairs: U32
    begin_ns: U64
    held_ns: U64
    saved_bytes: U64
    tail: Annotated[Any, Tail()] = b""


class TrialRefusedRecord(NamedTuple):
    """A trial was not made, or none of an executable's graph.

    Attributes
    ----------
    kind
        enum trial_kind
    why
        in words
    """

    graph_id: U32
    exec_id: U32
    kind: U32
    reserved: U32
    why: Text = ""
