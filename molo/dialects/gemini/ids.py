"""Ids of calls where the wire has none: made up from the names, and told from others by their look.

The vendor matches results to calls by name and order, and most of its models send no ids; molo's
messages need them. An id that is made up is the tool's name and a number, `weather_0`: the n-th
call of this tool in the history. So it is the same whenever the same history is read, it tells the
name where only the result is at hand, and it is never sent.
"""

__all__ = ["Ids", "is_made_up", "named"]


def named(id: str) -> str | None:
    """Give the name that an id was made up from; None for other ids.

    >>> named("weather_0"), named("call_ab12")
    ('weather', None)
    """
    name, line, number = id.rpartition("_")
    return name if line and _is_number(number) else None


def is_made_up(id: str, name: str) -> bool:
    """Tell whether the id of a call is one that was made up for this name."""
    end = len(name)
    return id.startswith(name) and id[end : end + 1] == "_" and _is_number(id[end + 1 :])


def _is_number(text: str) -> bool:
    return text.isdecimal() and text.isascii() and (text == "0" or text[0] != "0")


IdsState = tuple[dict[str, int], dict[str, str], set[str], bool]


class Ids:
    """The ids of a history that is being read, in the order of its calls and results."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._open: dict[str, str] = {}  # id -> name of the calls of this step without a result
        self._given: set[str] = set()  # ids of the wire
        self._step_is_over = False

    def state(self) -> IdsState:
        """Copy what is known now."""
        return {**self._counts}, {**self._open}, {*self._given}, self._step_is_over

    def reset(self, state: IdsState) -> None:
        """Go back to a state: what was given out since is forgotten."""
        self._counts, self._open, self._given, self._step_is_over = state

    def end_replies(self) -> None:
        """Begin a new step with the next call."""
        self._step_is_over = True

    def call(self, name: str, id: str | None) -> str:
        """Give the id of the next call; `id` is that of the wire, if it has one."""
        if self._step_is_over:
            self._open = {}
            self._step_is_over = False
        if id:
            self._given.add(id)
        else:
            id = self._make_up(name)
        self._open[id] = name
        return id

    def result(self, name: str, id: str | None) -> str:
        """Give the id of the next result: that of the wire, or of the first call that it answers.

        A result whose id no call has answers a call of its name that has none.
        """
        if id:
            self._given.add(id)
            if self._open.pop(id, None) is not None:
                return id
        for open_id, open_name in self._open.items():
            if open_name == name and (not id or is_made_up(open_id, name)):
                del self._open[open_id]
                return open_id
        return id or self._make_up(name)

    def _make_up(self, name: str) -> str:
        number = self._counts.get(name, 0)
        while (id := f"{name}_{number}") in self._open or id in self._given:
            number += 1
        self._counts[name] = number + 1
        return id
