"""Changes between the last two builds of a data set: layers, and what the ranks run on."""

from __future__ import annotations

from typing import Any

from gviz.fleet.answers.results import LayerChange, VersionChange

#: Changes below this share are of no use to anyone.
_LEAST_FRACTION = 0.01
#: Deviations of the difference of two medians beyond which it is no chance: of 1,000 layers that
#: did not change less than one is beyond.
_LEAST_DEVIATIONS = 4.0
#: Ranks on each side, at least.
_LEAST_RANKS = 3
_VERSIONS = ("driver_version", "cupti_version", "gviz_version", "gpus", "libraries", "git_revision")


def find_layer_changes(connection: Any) -> tuple[LayerChange, ...]:
    """Return the layers whose work changed with the last build, those that became slower first."""
    limits = [_LEAST_RANKS, _LEAST_RANKS, _LEAST_FRACTION, _LEAST_DEVIATIONS]
    rows = connection.execute(_CHANGES, limits).fetchall()
    return tuple(LayerChange(*row) for row in rows)


def find_version_changes(connection: Any) -> tuple[VersionChange, ...]:
    """Return what the ranks of the last build run on and those of the build before do not."""
    found = []
    for name in _VERSIONS:
        after, before = connection.execute(_VALUES.format(name=name)).fetchone()
        if before is not None and after != before:
            found.append(VersionChange(name, tuple(before), tuple(after)))
    return tuple(found)


_CHANGES = """
    SELECT graph, layer, build, before_build, rank_count, before_rank_count, median_ns, before_ns,
        change_fraction
    FROM build_changes
    WHERE build = (SELECT max(build) FROM ranks) AND rank_count >= ? AND before_rank_count >= ?
        AND abs(change_fraction) >= ? AND coalesce(abs(deviations) >= ?, true)
    ORDER BY change_fraction DESC
"""
_VALUES = """
    WITH found AS (
        SELECT build, list_sort(list_distinct(list({name}::VARCHAR))) AS seen
        FROM ranks GROUP BY build QUALIFY row_number() OVER (ORDER BY build DESC) <= 2
    )
    SELECT max_by(seen, build), CASE WHEN count(*) = 2 THEN min_by(seen, build) END FROM found
"""
