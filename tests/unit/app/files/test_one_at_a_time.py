"""One thread works at a time, and none waits for ever."""

from __future__ import annotations

import threading

from gviz.app.files.one_at_a_time import OneAtATime


def test_one_thread_works_at_a_time() -> None:
    one = OneAtATime(60.0)
    inside, most = [0], [0]

    def work() -> None:
        with one.working():
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            threading.Event().wait(0.01)
            inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_nobody_waits_longer_behind_one_that_does_not_end() -> None:
    one = OneAtATime(0.05)
    begun, end = threading.Event(), threading.Event()

    def hang() -> None:
        with one.working():
            begun.set()
            end.wait()

    thread = threading.Thread(target=hang)
    thread.start()
    begun.wait()
    with one.working():
        assert thread.is_alive()
    with one.working():
        assert thread.is_alive()
    end.set()
    thread.join()
    with one.working():  # as before
        assert one._lock.locked()
