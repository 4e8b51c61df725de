"""Pure functions over histories: structure, what vendors accept, check and repair.

A history is any sequence of messages. No function touches its input; a history that comes out is
a new list of, where possible, the same objects. Everything takes time linear in the history.
"""

from molo.history.structure import Pair, Pairing, Step, Turn, pair, steps, turns

__all__ = ["Pair", "Pairing", "Step", "Turn", "pair", "steps", "turns"]
