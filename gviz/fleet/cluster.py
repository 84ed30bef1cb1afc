"""The processes that map recordings: Dask's, of this machine or of a cluster that is there."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from gviz.errors import GvizError
from gviz.fleet.extra import load

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
#: As Dask's own programs have it.
ADDRESS_VARIABLE = "DASK_SCHEDULER_ADDRESS"
#: Seconds in which a scheduler must answer.
_ANSWERS_IN = 10
#: Dask's processes keep a profile of each second: 0.2 MB, for up to an hour.
_NO_PROFILE = {"distributed.worker.profile.enabled": False}
#: Items that wait or are worked at, for each process: memory holds no more of them.
_AHEAD = 3


class Mapper(Protocol):
    """Something that calls a function with items, here or elsewhere."""

    def __call__(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item]
    ) -> Iterator[tuple[_Item, _Result | None]]:
        """Yield items with what the function returns, in any order.

        None stands for a result where the process that worked on the item died each time.
        """


@contextmanager
def dask_mapper(scheduler: str | None = None, workers: int | None = None) -> Iterator[Mapper]:
    """Have Dask's workers map items.

    Parameters
    ----------
    scheduler
        Address of a scheduler, or a scheduler file; None: what DASK_SCHEDULER_ADDRESS says, else
        processes of this machine, which speak to each other by TLS with keys of their own: nobody
        else can have them run something.
    workers
        Processes of this machine; None: one a core.

    Raises
    ------
    GvizError
        If Dask is not installed, or the scheduler does not answer.
    """
    distributed = load("distributed")
    scheduler = scheduler or os.environ.get(ADDRESS_VARIABLE)
    if scheduler:
        with _connected(distributed, scheduler) as client:
            yield _DaskMapper(distributed, client)
        return
    with (
        tempfile.TemporaryDirectory(prefix="gviz-fleet-") as folder,
        load("dask").config.set(_NO_PROFILE),
        distributed.LocalCluster(
            n_workers=workers or len(os.sched_getaffinity(0)),
            threads_per_worker=1,
            memory_limit=0,
            # With None there is no dashboard, but web servers on all interfaces all the same.
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            security=True,
            local_directory=folder,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield _DaskMapper(distributed, client)


@contextmanager
def _connected(distributed: Any, scheduler: str) -> Iterator[Any]:
    given: dict[str, Any] = (
        {"scheduler_file": scheduler} if os.path.isfile(scheduler) else {"address": scheduler}
    )
    try:
        client = distributed.Client(**given, timeout=_ANSWERS_IN, set_as_default=False)
    except (OSError, ValueError) as error:
        raise GvizError(
            f"no Dask scheduler answers at {scheduler} ({error}); start one (dask scheduler), or "
            "leave --scheduler out for processes of this machine"
        ) from error
    with client:
        yield client


class _DaskMapper:
    """Maps items by a Dask client, some ahead of what has been yielded."""

    def __init__(self, distributed: Any, client: Any) -> None:
        self._distributed = distributed
        self._client = client

    def __call__(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item]
    ) -> Iterator[tuple[_Item, _Result | None]]:
        rest = iter(items)
        futures: dict[Any, _Item] = {}
        done = self._distributed.as_completed(loop=self._client.loop)

        def submit() -> None:
            for item in rest:
                future = self._client.submit(function, item, pure=False)
                futures[future] = item
                done.add(future)
                return

        for _ in range(_AHEAD * max(len(self._client.nthreads()), 1)):
            submit()
        for future in done:
            item = futures.pop(future)
            try:
                result = future.result()
            except self._distributed.KilledWorker:
                result = None
            submit()
            yield item, result
