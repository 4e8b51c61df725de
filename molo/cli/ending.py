"""Signals that ask the command to end: it does so as by an exception, which leaves no half file."""

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

__all__ = ["ending"]

_DIED = 128  # and the number of the signal, as a shell has it

_ASKING = [signal.SIGTERM] if sys.platform == "win32" else [signal.SIGTERM, signal.SIGHUP]


@contextmanager
def ending() -> Generator[None, None, None]:
    """Let SIGTERM and SIGHUP raise SystemExit in this block, unless somebody else cares for them.

    Only the main thread can; elsewhere they end the process, as they do by default.
    """
    if current_thread() is not main_thread():
        yield
        return
    cared_for = [number for number in _ASKING if signal.getsignal(number) is signal.SIG_DFL]
    for number in cared_for:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in cared_for:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _: FrameType | None) -> None:
    raise SystemExit(_DIED + number)
