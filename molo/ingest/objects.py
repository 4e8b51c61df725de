"""JSON values that hold a conversation among other things: taken apart, and put together again.

A line is an array of messages, an object that holds a conversation, or one message. Of an object,
the conversation and the message of its answer become messages; every other member stays as the
text that it is, so that a line that is written in its own form again says what it said.

    {"id":7,"messages":[…],"response":{"choices":[{"message":{…}}],"usage":{…}}}    as it came

    messages  those of the conversation, and that of the answer
    rest      {"id":7,"response":{"choices":[{}],"usage":{…}}}
    origin    Origin("openai-chat", reply="response")

The conversation stands in the object itself or in a member `request`, the answer in `response`. An
answer that says nothing, and one that the dialect cannot read, stays in the rest: an error, an
answer that is not ready, the chunks of a stream.

In molo's own form, and in every other than the one that it came in, the members of `rest` stand
beside the messages. What has no place there stands in a member `molo`: the origin (in molo's own
form), and those members of `rest` whose name is taken.
"""

from collections.abc import Sequence

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from molo.dialects.loss import Loss, Read
from molo.dialects.wire import parse, spelled
from molo.errors import DecodeError
from molo.errors.translation import DECODE_FAILURES
from molo.history.rules import Rules
from molo.ingest.forms import Answers, Form, Members, Path, encode, members_of
from molo.ingest.records import Origin, Record
from molo.message import Assistant, Message

__all__ = ["Content", "Written", "read_value", "write_value"]

NATIVE = "molo"  # the form that is molo's own
OURS = "molo"  # the member that holds what molo has to remember of a line
REQUEST, RESPONSE = "request", "response"  # the members that hold a body and an answer


class Content(Struct, frozen=True):
    """What a line, frame or document holds: a Record that does not know its place."""

    messages: list[Message]
    rest: str = ""
    single: bool = False
    origin: Origin | None = None
    losses: tuple[Loss, ...] = ()  # of reading


class Written(Struct, frozen=True):
    """A record as it is written, and what it lacks."""

    data: bytes
    losses: tuple[Loss, ...] = ()


class _Ours(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """The member `molo` of a line."""

    origin: Origin | None = None
    rest: Members = {}


_decode_ours = msgspec.json.Decoder(_Ours).decode
_decode_items = msgspec.json.Decoder(list[Raw]).decode


# --- Reading --------------------------------------------------------------------------------------


def read_value(data: bytes, form: Form) -> Content:
    """Read one JSON value of a form.

    Raises:
        DecodeError: the data is no JSON, or no conversation of this form.
    """
    if data.lstrip()[:1] != b"{":
        read = form.read(data)
        return Content(read.history, losses=read.losses)
    members = members_of(data)
    within, body = _take_body(members, form)
    answer = _take_answer(members, form.answers)
    if within is None and answer is None:
        return _read_single(data, form)
    read = _read_body(data, body, form, within)
    origin = Origin(form.name, read.envelope, within)
    if answer is not None:
        key, message = answer
        read.history.append(message)
        origin = replace(origin, reply=key)
    content = Content(read.history, origin=origin, losses=read.losses)
    return _with_rest(data, members, content, form)


def _take_body(members: Members, form: Form) -> tuple[str | None, Members]:
    """Take the conversation out of an object: say where it stood, and give its members."""
    if body := _taken(members, form.keys):
        return "", body
    request = _object(members.get(REQUEST))
    if request is not None and (body := _taken(request, form.keys)):
        members[REQUEST] = Raw(encode(request))
        return REQUEST, body
    return None, {}


def _taken(members: Members, keys: Sequence[str]) -> Members:
    return {key: members.pop(key) for key in keys if key in members}


def _read_body(data: bytes, body: Members, form: Form, within: str | None) -> Read:
    """Read the conversation of an object; errors have their place in the object, `data`."""
    if not body:
        return Read([])
    place = f"$.{within}" if within else "$"
    key, value = next(reversed(body.items()))
    part = bytes(value)
    # Messages alone are read faster, and forms with one key take nothing else.
    if len(form.keys) == 1 or (len(body) == 1 and key == form.keys[-1] and part[:1] == b"["):
        place = f"{place}.{key}"
    else:
        part = encode(body)
    try:
        return form.read(part)
    except DecodeError as failure:
        error = DecodeError(failure.text, path=place + failure.path.removeprefix("$"))
        is_text = failure.offset is None
    if not is_text:
        parse(data)  # its error has the place in the whole
    raise error


def _take_answer(members: Members, answers: Answers | None) -> tuple[str, Message] | None:
    """Take the message of an answer out of an object: give it, and the key that held it."""
    if answers is None:
        return None
    for key in (RESPONSE, *answers.bare):
        path = _place(key, answers)
        part = _part(members.get(key), path)
        message = None if part is None else _read_answer(part, answers)
        if message is not None:
            whole = members.pop(key)
            if path:
                members[key] = _without(whole, path)
            return key, message
    return None


def _place(key: str, answers: Answers) -> Path:
    return answers.place if key == RESPONSE else ()


def _read_answer(part: Raw, answers: Answers) -> Message | None:
    if bytes(part).strip() in _NOTHING:
        return None
    try:
        return answers.read(bytes(_with(None, answers.place, part))).message
    except DecodeError:
        return None  # it stays in the rest


_NOTHING = {b"null", b"[]", b"{}", b'""'}


def _read_single(data: bytes, form: Form) -> Content:
    """Read an object that is one message."""
    try:
        read = form.read(b"[%b]" % data)
    except DecodeError as failure:
        path = "$" + failure.path.removeprefix("$[0]")
        offset = None if failure.offset is None else failure.offset - 1
        error = DecodeError(failure.text, path=path, offset=offset)
    else:
        if len(read.history) == 1:
            return Content(read.history, single=True, losses=read.losses)
        origin = Origin(form.name, single=True)
        return Content(read.history, origin=origin, losses=read.losses)
    raise error


def _with_rest(data: bytes, members: Members, content: Content, form: Form) -> Content:
    """Add what is left of an object, and what molo remembered of it."""
    origin = None if content.origin == Origin(form.name) else content.origin
    if form.name == NATIVE and (ours := _ours(members.get(OURS))) is not None:
        del members[OURS]
        members |= ours.rest
        origin = ours.origin
    written = encode(members)
    try:
        rest = written.decode()
    except UnicodeDecodeError:
        rest = ""
    if not rest:
        parse(data)  # its error says where the text is no UTF-8
    return replace(content, rest=rest, origin=origin)


def _ours(value: Raw | None) -> _Ours | None:
    """Read what molo remembered; None where a member of that name is somebody else's."""
    try:
        return None if value is None else _decode_ours(value)
    except DECODE_FAILURES:
        return None


# --- Writing --------------------------------------------------------------------------------------


def write_value(record: Record, form: Form, rules: Rules | None = None) -> Written:
    """Write a Record as one JSON value of a form, without a line end.

    Raises:
        EncodeError: the form cannot hold the messages.
    """
    origin = _origin(record, form)
    envelope = None if record.origin is None else record.origin.envelope
    rest = members_of(record.rest.encode()) if record.rest else {}
    history, answer = _parted(record.messages, origin, form.answers)
    written = form.write(history, rules, envelope)
    body, losses = written.members, written.losses
    if answer and form.answers is not None:
        reply = form.write(answer, rules, None)
        _put_answer(reply.members, form.answers, origin.reply, rest)
        losses += tuple(replace(loss, at=len(history)) for loss in reply.losses)
    remembered = record.origin if form.name == NATIVE else None
    messages = body.get(form.keys[-1])
    if messages is not None and len(body) == 1 and remembered is None and not rest:
        if record.single or origin.single:
            return Written(_single(messages), losses)
        if not record.rest and not answer:
            return Written(bytes(messages), losses)
    if origin.within is None and not history:
        body = {}
    elif origin.within:
        rest[origin.within] = Raw(encode({**(_object(rest.get(origin.within)) or {}), **body}))
        body = {}
    return Written(encode({**body, **_beside(body, rest, remembered, form)}), losses)


def _origin(record: Record, form: Form) -> Origin:
    if record.origin is not None and record.origin.dialect == form.name:
        return record.origin
    return Origin(form.name)


def _parted(
    messages: list[Message], origin: Origin, answers: Answers | None
) -> tuple[list[Message], list[Message]]:
    """Part the message that goes back into its answer, if there is one, from the others."""
    if not origin.reply or answers is None or not messages or type(messages[-1]) is not Assistant:
        return messages, []
    return messages[:-1], messages[-1:]


def _put_answer(body: Members, answers: Answers, key: str, rest: Members) -> None:
    """Put a message back into its answer, which stands at a key of the rest."""
    part = Raw(spelled(encode(body), *answers.written).encode())
    rest[key] = _with(rest.get(key), _place(key, answers), part)


def _single(messages: Raw) -> bytes:
    """Give the one message of an array; the array where there are others."""
    items = _decode_items(messages)
    return bytes(items[0] if len(items) == 1 else messages)


def _beside(body: Members, rest: Members, remembered: Origin | None, form: Form) -> Members:
    """Give what stands beside a conversation; members whose name is taken in a member `molo`."""
    taken = _taken(rest, tuple(body))
    mistakable = form.name == NATIVE and _ours(rest.get(OURS)) is not None
    if taken or mistakable or remembered is not None:
        taken |= _taken(rest, (OURS,))
        rest[OURS] = Raw(encode(_Ours(remembered, taken)))
    return rest


# --- Parts of JSON --------------------------------------------------------------------------------


def _object(value: Raw | None) -> Members | None:
    data = b"" if value is None else bytes(value)
    return members_of(data) if data.startswith(b"{") else None


def _array(value: Raw | None) -> list[Raw] | None:
    data = b"" if value is None else bytes(value)
    return _decode_items(data) if data.startswith(b"[") else None


def _part(value: Raw | None, path: Path) -> Raw | None:
    """Give what stands at a path of a value; None where it leads nowhere."""
    for step in path:
        if isinstance(step, str):
            value = (_object(value) or {}).get(step)
        else:
            value = next(iter((_array(value) or [])[step:]), None)
    return value


def _with(value: Raw | None, path: Path, part: Raw) -> Raw:
    """Put a part where a path leads, along with the objects and arrays on the way there."""
    if not path:
        return part
    step, *deeper = path
    if isinstance(step, str):
        members = _object(value) or {}
        members[step] = _with(members.get(step), tuple(deeper), part)
        return Raw(encode(members))
    items = _array(value) or []
    items[step : step + 1] = [_with(next(iter(items[step:]), None), tuple(deeper), part)]
    return Raw(encode(items))


def _without(value: Raw | None, path: Path) -> Raw:
    """Take away the member to which a path leads."""
    step, *deeper = path
    if isinstance(step, int):
        items = _array(value) or []
        items[step] = _without(items[step], tuple(deeper))
        return Raw(encode(items))
    members = _object(value) or {}
    if deeper:
        members[step] = _without(members[step], tuple(deeper))
    else:
        del members[step]
    return Raw(encode(members))
