"""``gviz.profile`` with the recording that it made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gviz.collectors import profiler
from gviz.errors import RecordingError

if TYPE_CHECKING:
    from gviz.api.opened import Opened


class profile(profiler.ProfiledBlock):  # noqa: D101  # it is the next line
    __doc__ = profiler.ProfiledBlock.__doc__

    @property
    def recording(self) -> Opened:
        """The recording, after the block; opened anew each time, and closed by its ``close``.

        Raises
        ------
        RecordingError
            Inside the block, or where nothing was recorded.
        """
        # Not earlier: numpy and what reads recordings have no place in a watched program.
        from gviz.api.opened import Opened

        if self._entered or not self._used:
            raise RecordingError(f"{self.path} is written when the with block ends; ask after it")
        if not self.path.exists():
            raise RecordingError(
                f"there is no {self.path}: nothing was recorded, or 'gviz run' did it into its "
                "own file; the message on stderr has the reason"
            )
        return Opened.at(self.path)

    def show(self, *, server: bool = False, height: int = 720) -> None:
        """Show the recording, as :meth:`gviz.api.opened.Opened.show` does."""
        with self.recording as opened:
            opened.show(server=server, height=height)

    def _repr_html_(self) -> str | None:
        """Return the summary that notebooks show; None before there is a recording."""
        if self._entered or not self._used or not self.path.exists():
            return None
        with self.recording as opened:
            return opened._repr_html_()
