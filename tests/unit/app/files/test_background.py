"""Work in the background: nobody who waits for something else is slowed by it."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from gviz.app.files.background import Background


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priorities of their own")
def test_work_in_the_background_lets_others_go_first() -> None:
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    before = niceness()
    found = Background[int]().find("key", niceness, patience_s=60)
    assert found == min(before + 10, 19)
    assert niceness() == before
