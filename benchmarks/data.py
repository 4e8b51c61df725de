"""The data sets: conversations enough for a pass of some milliseconds."""

from benchmarks.generate import REALISTIC, SMALL, conversations
from molo import Message

DATA = {
    "realistic": (100, REALISTIC),  # a log: 5 MB of JSON
    "small": (400, SMALL),  # a few words a message: 1 MB
}


def load(name: str, share: float = 1) -> list[list[Message]]:
    """Make a data set, or a share of it, at least one conversation."""
    count, sizes = DATA[name]
    return conversations(max(1, round(count * share)), sizes)
