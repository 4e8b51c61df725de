"""Passes over the messages where they stood: text that is no UTF-8, ids and arguments of calls."""

from itertools import groupby

import msgspec
from msgspec import Struct

from molo.history.arguments import arguments_fault, wrap_arguments
from molo.history.contents import calls
from molo.history.ids import Scope, id_space, scopes
from molo.history.problems import Code
from molo.history.repairs.draft import Draft
from molo.history.structure import Pair
from molo.history.surrogates import unencodable, without_surrogates
from molo.message import ToolCall

__all__ = ["mend_arguments", "mend_ids", "mend_text"]


def mend_text(draft: Draft) -> None:
    """Put U+FFFD for lone surrogates."""
    for place in unencodable(draft.history()):
        row = draft.rows[place]
        before = row.message
        draft.write(row, without_surrogates(before))
        text = "Lone surrogates became U+FFFD."
        draft.record("text_not_utf8", row, None, before, row.message, text)


class _NewCall(Struct):
    """A call to put in the place of an old one, and why."""

    asked: Pair
    before: ToolCall
    after: ToolCall
    code: Code


def mend_ids(draft: Draft) -> None:
    """Give new ids to the calls that need them, and to their results."""
    space = id_space(draft.rules)
    new_calls: list[_NewCall] = []
    inputs = [row.message for row in draft.inputs]
    for asked_together in scopes(inputs, draft.pairing.pairs, draft.rules):
        scope = Scope(space)
        for asked in asked_together:
            call = draft.call(asked)
            fault = scope.take(call.id)
            if fault == "id_space":
                draft.ids_ran_out = True
            elif fault is not None:
                new = msgspec.structs.replace(call, id=scope.fresh(call.id))
                new_calls.append(_NewCall(asked, call, new, fault))
    _write_calls(draft, new_calls, "The call got a new id.")
    for new_call in new_calls:
        _rename_result(draft, new_call)


def mend_arguments(draft: Draft) -> None:
    """Wrap the text of arguments that the rules do not take."""
    new_calls: list[_NewCall] = []
    for asked in draft.pairing.pairs:
        call = draft.call(asked)
        if fault := arguments_fault(call.arguments, draft.rules.arguments):
            new = msgspec.structs.replace(call, arguments=wrap_arguments(call.arguments))
            new_calls.append(_NewCall(asked, call, new, fault))
    _write_calls(draft, new_calls, "An object that holds the arguments as text took their place.")


def _write_calls(draft: Draft, new_calls: list[_NewCall], text: str) -> None:
    for at, group in groupby(new_calls, key=lambda new_call: new_call.asked.at):
        row = draft.inputs[at]
        of_message = list(calls(row.message))
        for new in group:
            of_message[new.asked.part] = new.after
            draft.record(new.code, row, new.asked.part, new.before, new.after, text)
        draft.write(row, msgspec.structs.replace(row.message, tool_calls=tuple(of_message)))


def _rename_result(draft: Draft, new_call: _NewCall) -> None:
    result_at = new_call.asked.result_at
    if result_at is None:
        return
    row = draft.inputs[result_at]
    before = row.message
    draft.write(row, msgspec.structs.replace(before, id=new_call.after.id))
    text = "The result got the new id of its call."
    draft.record(new_call.code, row, None, before, row.message, text)
