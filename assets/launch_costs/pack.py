"""pack.py RECORDING OUTPUT: copy a bench recording without the machine's name and folders."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from gviz.analysis.launch_costs.recorded import read_figures, write_results
from gviz.recording.reader import Recording


def main(source: str, output: str) -> int:
    """Write the first run of ``source`` to ``output``; return the exit code."""
    with Recording(source) as recording:
        run = recording.fetch_runs()[0]
        (device,) = recording.fetch_devices(run.run_id)
        gaps = [(gap.experiment, gap.reason) for gap in recording.fetch_cost_gaps(run.run_id)]
        notes = recording.fetch_notes(run.run_id)
        figures = read_figures(recording, run.run_id)
    plain = dataclasses.replace(
        run, host=None, command="gviz bench", process_id=None, git_revision=None, git_dirty=None
    )
    warnings = [note.text for note in notes]
    write_results(Path(output), plain, device, figures, gaps, warnings, overwrite=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
