"""Records of slices: edited copies of a graph against others, and values that probes read."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from gviz.spool.records.structure import F64, U32, U64, Tail, Text


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


class ProbedValue(NamedTuple):
    """Memory that a node is given, in a VALUES record.

    Attributes
    ----------
    place
        of the node in the order in which the copy ran them
    position
        of the argument; of a copy 0 is what it writes, and 1 what it reads
    offset
        of the address in the argument
    type
        enum element_type
    extent
        enum value_extent
    flags
        enum value_flag
    address
        that the node is given
    start
        of what was read, from there
    sum_before
        of the finite ones, as least and greatest
    """

    graph_id: U32
    node_id: U32
    place: U32
    position: U32
    offset: U32
    type: U32
    extent: U32
    flags: U32
    address: U64
    start: U64
    bytes: U64
    hash_before: U64
    hash_after: U64
    nan_before: U64
    infinite_before: U64
    zero_before: U64
    finite_before: U64
    least_before: F64
    greatest_before: F64
    sum_before: F64
    nan_after: U64
    infinite_after: U64
    zero_after: U64
    finite_after: U64
    least_after: F64
    greatest_after: F64
    sum_after: F64


class WrittenPiece(NamedTuple):
    """Memory that a launch of the executable wrote to, somewhere in it, in a VALUES record."""

    address: U64
    bytes: U64


class ValuesRecord(NamedTuple):
    """Values of nodes, read in one slice.

    Attributes
    ----------
    results
        enum trial_results: of the copy, against the program's executable
    repeats
        enum trial_results: of what two launches of the copy read
    whole
        1: all nodes of the graph were probed at once
    by_calls
        1: of stream calls, which are the graph's nodes; nothing was launched
    held_ns
        how long calls of the program were held
    saved_bytes
        device memory that was saved and restored
    probed_bytes
        that the probes of a launch read
    plain_ns
        a launch of the executable
    probed_ns
        a launch of the copy
    tail
        struct probed_value, then struct written_piece
    """

    graph_id: U32
    exec_id: U32
    values: U32
    pieces: U32
    results: U32
    repeats: U32
    whole: U32
    by_calls: U32
    begin_ns: U64
    held_ns: U64
    saved_bytes: U64
    probed_bytes: U64
    plain_ns: U64
    probed_ns: U64
    tail: Annotated[Any, Tail()] = b""


class ValuesRefusedRecord(NamedTuple):
    """The values of an executable's nodes were not read, or not all of them.

    Attributes
    ----------
    why
        in words
    """

    graph_id: U32
    exec_id: U32
    why: Text = ""
