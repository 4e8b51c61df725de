"""The data sets: conversations enough for a pass of some milliseconds."""

from benchmarks.generate import MEDIUM, REALISTIC, SMALL, conversations
from molo import Message

# What most sections measure.
DATA = {
    "realistic": (100, REALISTIC),  # a log: 5 MB of JSON
    "small": (400, SMALL),  # a few words a message: 1 MB
}
# What molo is measured with beside its peers.
DATA_OF_PEERS = {
    **DATA,
    "medium": (200, MEDIUM),  # a few sentences a message: 2 MB
}


def load(name: str, share: float = 1) -> list[list[Message]]:
    """Make a data set, or a share of it, at least one conversation."""
    count, sizes = DATA_OF_PEERS[name]
    return conversations(max(1, round(count * share)), sizes)
