"""Processes that do a task for one part after the other.

`jobs` loads this for a second worker: what it stands on takes a tenth of the command's start.
"""

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.resource_tracker import ensure_running
from typing import TypeVar

__all__ = ["in_order"]

P = TypeVar("P")
T = TypeVar("T")


def in_order(
    task: Callable[[P], T], parts: Iterator[P], workers: int
) -> Generator[tuple[P, T], None, None]:
    """Do a task for each part, in so many processes; give the parts in order, with what it returns.

    No more than two parts a worker are given out at a time. When this generator is closed, or ends
    by an exception, the workers end at once.

    Raises:
        ChildProcessError: a worker has died.
    """
    waiting: deque[tuple[P, Future[T]]] = deque()
    try:
        with _pool(workers) as pool:
            for part in parts:
                with _uninterrupted():
                    waiting.append((part, pool.submit(task, part)))
                if len(waiting) >= 2 * workers:
                    done, future = waiting.popleft()
                    yield done, future.result()
            while waiting:
                done, future = waiting.popleft()
                yield done, future.result()
    except BrokenProcessPool:
        pass
    else:
        return
    raise ChildProcessError(
        "a worker died before it was done (it was killed, ran out of memory, "
        "or cannot import the job)"
    )


@contextmanager
def _pool(workers: int) -> Generator[ProcessPoolExecutor, None, None]:
    """Keep workers that end with the block, at once if it ends by an exception.

    They are started afresh on every system: a fork would copy the threads' locks of this process.
    """
    context = get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _start, (theirs,))
    try:
        yield pool
        pool.shutdown()
    finally:
        ours.close()
        pool.shutdown(cancel_futures=True)
        theirs.close()


@contextmanager
def _uninterrupted() -> Generator[None, None, None]:
    """Hold interrupts back, also from a worker that starts here, until it ignores them itself."""
    if sys.platform == "win32":
        yield
        return
    ensure_running()  # before the rest: where it starts, some releases of Python let them through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(lifeline: Connection) -> None:
    """Set up a worker: it ends when its parent closes the other end, or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # that is the parent's business
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    lifeline.poll(None)
    os._exit(1)
