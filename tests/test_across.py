"""From every dialect to every vendor: what was said and done is kept, or is named as a loss.

A history is read from a recorded request, repaired for another vendor, written for it and read
again. Both histories are compared; of what is missing, a loss of that very message has to tell.
The vendors that speak the dialect of OpenAI chat besides OpenAI are tested under `heavy`.
"""

import json
from collections import Counter
from functools import cache
from itertools import groupby, islice, pairwise, takewhile
from typing import NamedTuple

import pytest
from recordings import DIALECTS, histories, needs_corpus

from molo import Assistant, Audio, File, Image, System, Text, ToolResult, User, Wire
from molo.dialects import data_url
from molo.dialects.wire import parse
from molo.history import check, pair, repair, rules

TARGETS = {
    name: value
    for name, value in vars(rules).items()
    if isinstance(value, rules.Rules) and value.dialect
}
MAIN = ("OPENAI_CHAT", "OPENAI_RESPONSES", "ANTHROPIC", "GEMINI")

PAIRS = [
    pytest.param(source, target, marks=[] if target in MAIN else [pytest.mark.heavy])
    for source in DIALECTS
    for target in TARGETS
]
every_pair = pytest.mark.parametrize(("source", "target"), PAIRS)
pytestmark = needs_corpus


class Conversion(NamedTuple):
    """A history on its way: repaired, written and read again, and what was said of it."""

    id: str
    history: list
    remaining: set  # codes of the problems that nothing mends
    losses: set  # (place of the message, code, index of the block or call)
    request: dict
    again: list


@cache
def conversions(source, target):
    return [converted(id, history, TARGETS[target]) for id, history in histories(source).items()]


def converted(id, history, rules):
    dialect = DIALECTS[rules.dialect]
    repaired = repair(history, rules)
    written = dialect.to_request(repaired.history, rules=rules)
    data = dialect.to_request_json(repaired.history, rules=rules)
    return Conversion(
        id,
        repaired.history,
        {problem.code for problem in repaired.remaining},
        {(loss.at, loss.code, loss.part) for loss in written.losses},
        json.loads(data),
        dialect.from_request(data).history,
    )


@every_pair
def test_what_is_written_is_accepted_as_far_as_repair_could_see_to_it(source, target):
    problems = [
        (conversion.id, problem)
        for conversion in conversions(source, target)
        for problem in check(conversion.again, TARGETS[target])
        if problem.code not in conversion.remaining
    ]
    assert problems[:5] == []


# --- What was said --------------------------------------------------------------------------------


def blocks(message):
    return message.content if isinstance(message, User) else getattr(message, "attachments", ())


def texts(message):
    held = [block.text for block in blocks(message) if isinstance(block, Text)]
    return held if isinstance(message, User) else [message.content, *held]


def thoughts(message):
    return filter(None, [message.reasoning])


SAID = [(System, texts), (User, texts), (Assistant, texts), (Assistant, thoughts)]
MAY_NAME = {texts: set(), thoughts: {"reasoning"}}


@every_pair
@pytest.mark.parametrize(("role", "words"), SAID)
def test_text_is_kept_in_its_order_and_reasoning_is_kept_or_named(source, target, role, words):
    lost = [
        (conversion.id, at)
        for conversion in conversions(source, target)
        for at in not_told(conversion.history, conversion.again, role, words)
        if not is_named(conversion, at, None, MAY_NAME[words])
    ]
    assert lost[:5] == []


def not_told(history, again, role, words):
    """List the places of texts that do not stand, in their order, in the other history."""
    told = "\n".join(text for m in again if isinstance(m, role) for text in words(m))
    position = 0
    for at, message in enumerate(history):
        for text in words(message) if isinstance(message, role) else ():
            start = told.find(text, position)
            position = max(position, start + len(text))
            if start < 0:
                yield at


def is_named(conversion, at, part, codes):
    return any((at, code, part) in conversion.losses for code in codes)


# --- What was done, and shown ---------------------------------------------------------------------


class Fact(NamedTuple):
    """Something that has to be found again, unless a loss with one of the codes names it."""

    what: tuple
    at: int
    part: int | None
    codes: set


def of_calls(spelled):
    """Give what is to be known of calls: of their arguments `spelled` tells what has to stay."""

    def facts(history):
        for number, asked in enumerate(pair(history).pairs):
            at, part, call, result = asked.at, asked.part, asked.call, asked.result
            yield Fact((number, "name", call.name), at, part, set())
            yield Fact((number, "arguments", spelled(call.arguments)), at, part, set())
            if result is not None:
                yield Fact((number, "result", result.content), asked.result_at, None, set())
                failed = (number, "is_error", result.is_error)
                yield Fact(failed, asked.result_at, None, {"error_flag"})

    return facts


def value_of(arguments):
    """Say what arguments mean, numbers as they are spelled."""
    return repr(parse(arguments) if arguments.strip() else {})


def of_media(history):
    for at, message in enumerate(history):
        for part, block in enumerate(blocks(message)):
            if isinstance(block, Image | Audio | File):
                mime_type, shown = medium(block)
                yield Fact(("medium", shown), at, part, {"block"})
                yield Fact(("type", shown, mime_type), at, part, {"block", "media_type"})


ALIASES = {"audio/x-wav": "audio/wav"}


def medium(block):
    """Give the type of a medium, and its bytes or the URL where they are to be had."""
    written_as, data = data_url.split(block.url or "") or ("", block.url)
    mime_type = block.mime_type or written_as
    return ALIASES.get(mime_type, mime_type), block.data or data


def of_names(history):
    for at, message in enumerate(history):
        for part, block in enumerate(blocks(message)):
            if isinstance(block, File) and block.name:
                yield Fact(("name", block.name), at, part, {"block", "name"})


def of_wires(history):
    for at, message in enumerate(history):
        for part, block in enumerate(blocks(message)):
            if isinstance(block, Wire):
                yield Fact(("wire", repr(parse(block.data))), at, part, {"block"})


def lost(facts, source, target):
    for conversion in conversions(source, target):
        left = Counter(fact.what for fact in facts(conversion.again))
        for fact in facts(conversion.history):
            left[fact.what] -= 1
            missing = left[fact.what] < 0
            if missing and not is_named(conversion, fact.at, fact.part, fact.codes):
                yield (conversion.id, fact)


@every_pair
def test_calls_keep_their_names_their_arguments_and_their_results(source, target):
    is_text = source != TARGETS[target].dialect and TARGETS[target].arguments != "parsed"
    spelled = str if is_text else value_of
    assert list(islice(lost(of_calls(spelled), source, target), 5)) == []


@every_pair
@pytest.mark.parametrize("facts", [of_media, of_names, of_wires])
def test_media_and_what_only_one_vendor_knows_are_kept_or_named(source, target, facts):
    assert list(islice(lost(facts, source, target), 5)) == []


@every_pair
def test_what_only_its_own_vendor_reads_is_named(source, target):
    unnamed = [
        (conversion.id, at)
        for conversion in conversions(source, target)
        for at, message in enumerate(conversion.history)
        if message.provider_data is not None
        and message.provider_data.dialect != TARGETS[target].dialect
        and not is_named(conversion, at, None, {"foreign", "sealed"})
    ]
    assert unnamed[:5] == []


# --- How it stands on the wire --------------------------------------------------------------------


def chat_steps(request):
    runs = [[*run] for _, run in groupby(request["messages"], lambda one: one["role"])]
    for run, (behind, *others) in pairwise([*runs, [{"role": "user"}]]):
        calls = [call["id"] for message in run for call in message.get("tool_calls", ())]
        results = [one.get("tool_call_id") for one in (behind, *others)]
        yield calls, results if behind["role"] == "tool" else []


def responses_steps(request):
    """All calls and all outputs: ids tell which belong together, wherever they stand."""
    items = request["input"]
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    results = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    yield calls, results


def anthropic_steps(request):
    for said, heard in runs_of_replies(request["messages"], "assistant", "content"):
        results = takewhile(lambda block: block["type"] == "tool_result", heard)
        calls = [block["id"] for block in said if block["type"] == "tool_use"]
        yield calls, [block["tool_use_id"] for block in results]


def gemini_steps(request):
    for said, heard in runs_of_replies(request["contents"], "model", "parts"):
        results = takewhile(lambda part: named(part, "functionResponse"), heard)
        calls = filter(None, (named(part, "functionCall") for part in said))
        yield [*calls], [named(part, "functionResponse") for part in results]


def named(part, key):
    snake = {"functionCall": "function_call", "functionResponse": "function_response"}[key]
    return (part.get(key) or part.get(snake) or {}).get("name")


def runs_of_replies(objects, role, key):
    """For each run of replies: all that they hold, and what the one object behind them holds."""
    runs = [[*run] for _, run in groupby(objects, lambda one: one.get("role") == role)]
    for run, (behind, *_) in pairwise([*runs, [{key: []}]]):
        if run[0].get("role") == role:
            yield [part for one in run for part in listed(one, key)], listed(behind, key)


def listed(holder, key):
    held = holder.get(key, [])
    bare = [{"type": "text", "text": held}] if isinstance(held, str) else [held]
    return held if isinstance(held, list) else bare


STEPS = {
    "openai_chat": chat_steps,
    "openai_responses": responses_steps,
    "anthropic": anthropic_steps,
    "gemini": gemini_steps,
}


# Within a dialect all stays as it was recorded, in whatever way the vendor accepted it.
ACROSS = [pair for pair in PAIRS if TARGETS[pair.values[1]].dialect != pair.values[0]]


@pytest.mark.parametrize(("source", "target"), ACROSS)
def test_every_call_has_its_result_where_the_vendor_looks_for_it(source, target):
    steps = STEPS[TARGETS[target].dialect]
    unanswered = [
        (conversion.id, calls, results)
        for conversion in conversions(source, target)
        for calls, results in steps(conversion.request)
        if sorted(calls) != sorted(results)
    ]
    assert unanswered[:5] == []


@every_pair
def test_blocks_that_leave_a_result_stand_right_behind_its_step(source, target):
    for conversion in conversions(source, target):
        moved = [
            medium(conversion.history[at].attachments[part])
            for at, code, part in conversion.losses
            if code == "moved" and part is not None
        ]
        behind = [
            medium(block)
            for before, message in pairwise(conversion.again)
            if isinstance(before, ToolResult)
            for block in blocks(message)
            if isinstance(block, Image | Audio | File)
        ]
        assert [one for one in moved if not any(one[1] == other[1] for other in behind)] == []
