"""What `repair` does: an example of every change, and the laws over hostile histories and rules."""

import hashlib
import os
import random
import re
import subprocess
import sys
import time
from typing import get_args

import hostile
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from molo import (
    Assistant,
    Image,
    ProviderData,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
    assistant,
    assistant_with_reasoning,
    system,
    tool_result,
    user,
)
from molo.history import (
    NO_CONTENT,
    RAW_ARGUMENTS,
    SYNTHESIZED_RESULT,
    ChangeCode,
    Code,
    Rules,
    check,
    pair,
    repair,
)

U, A, S = user("Hi"), assistant("Hello"), system("Be brief.")

REMAINING = {
    "empty_history",
    "no_user",
    "first_role",
    "last_role",
    "block_kind",
    "system_refused",
    "tool_name",
    "arguments_too_long",
    "id_space",
    "reasoning_required",
}


def asks(*ids, text="", arguments="{}", reasoning=None, **fields):
    calls = tuple(ToolCall(id, "f", arguments) for id in ids)
    return Assistant(text, reasoning, calls, **fields)


def answers(*ids, text="done"):
    return [tool_result(id, text) for id in ids]


def synthesized(id):
    return ToolResult(
        id,
        "No result of this call was recorded; this message was put in its place.",
        is_error=True,
    )


SEALED = ProviderData(dialect="x", delta="{}", digest="0", sealed=True)

# Rules, a history, what it becomes, and the changes: code, at, part, to.
REPAIRS = {
    "a missing result is added behind the others": (
        Rules(),
        [asks("a", "b"), *answers("b"), U],
        [asks("a", "b"), *answers("b"), synthesized("a"), U],
        [("dangling_call", 0, 0, 2)],
    ),
    "a late result moves to its call, in front of what stood between": (
        Rules(),
        [asks("a", "b"), *answers("b"), U, *answers("a")],
        [asks("a", "b"), *answers("b", "a"), U],
        [("misplaced_result", 3, None, 2)],
    ),
    "late results keep their order, missing ones come last": (
        Rules(),
        [asks("a", "b", "c"), U, *answers("c"), A, *answers("a")],
        [asks("a", "b", "c"), *answers("c", "a"), synthesized("b"), U, A],
        [
            ("dangling_call", 0, 1, 3),
            ("misplaced_result", 2, None, 1),
            ("misplaced_result", 4, None, 2),
        ],
    ),
    "a late result may come out of the block of another step": (
        Rules(),
        [asks("a"), U, asks("b"), *answers("a", "b")],
        [asks("a"), *answers("a"), U, asks("b"), *answers("b")],
        [("misplaced_result", 3, None, 1)],
    ),
    "results that answer nothing are taken out": (
        Rules(),
        [*answers("a"), U, *answers("b"), A],
        [U, A],
        [("orphaned_result", 0, None, None), ("orphaned_result", 2, None, None)],
    ),
    "of two results the first stays": (
        Rules(),
        [asks("a"), *answers("a"), *answers("a", text="again")],
        [asks("a"), *answers("a")],
        [("duplicate_result", 2, None, None)],
    ),
    "results come in the order of their calls": (
        Rules(results_in_call_order=True),
        [asks("a", "b", "c"), *answers("c", "b", "a")],
        [asks("a", "b", "c"), *answers("a", "b", "c")],
        [("results_order", 1, None, 3), ("results_order", 3, None, 1)],
    ),
    "where results may stand anywhere they stay": (
        Rules(results="anywhere"),
        [asks("a"), U, asks("b"), A, *answers("a"), *answers("z")],
        [asks("a"), U, asks("b"), A, *answers("a"), synthesized("b")],
        [("dangling_call", 2, 0, 5), ("orphaned_result", 5, None, None)],
    ),
    "a reply in pieces is joined from its first calls on": (
        Rules(split_replies=False),
        [
            U,
            A,
            asks("a", text="First", reasoning="So"),
            asks("b", reasoning="then"),
            assistant("Last"),
            *answers("a", "b"),
        ],
        [U, A, asks("a", "b", text="First\n\nLast", reasoning="So\n\nthen"), *answers("a", "b")],
        [
            ("split_reply", 2, None, 2),
            ("split_reply", 3, None, 2),
            ("split_reply", 4, None, 2),
        ],
    ),
    "neighbours of one role are joined": (
        Rules(alternation=True),
        [U, user("there"), A, assistant("you")],
        [User((Text("Hi"), Text("there"))), assistant("Hello\n\nyou")],
        [
            ("alternation", 0, None, 0),
            ("alternation", 1, None, 0),
            ("alternation", 2, None, 1),
            ("alternation", 3, None, 1),
        ],
    ),
    "systems move to the end of the leading ones": (
        Rules(system="leading"),
        [S, U, system("one"), A, system("two")],
        [S, system("one"), system("two"), U, A],
        [("system_place", 2, None, 1), ("system_place", 4, None, 2)],
    ),
    "a result finds its own call though a system stood between replies of one id": (
        Rules(system="leading"),
        [asks("a"), S, asks("a"), *answers("a")],
        [S, asks("a"), synthesized("a"), asks("a"), *answers("a")],
        [("dangling_call", 0, 0, 2), ("system_place", 1, None, 0)],
    ),
    "an empty id gets a name, and its result with it": (
        Rules(),
        [asks("", ""), *answers("", "")],
        [asks("call", "call_2"), *answers("call", "call_2")],
        [
            ("id_empty", 0, 0, 0),
            ("id_empty", 0, 1, 0),
            ("id_empty", 1, None, 1),
            ("id_empty", 2, None, 2),
        ],
    ),
    "the first use of an id stays": (
        Rules(id_scope="history"),
        [asks("a"), *answers("a"), asks("a", "a_2"), *answers("a_2", "a")],
        [asks("a"), *answers("a"), asks("a_2", "a_2_2"), *answers("a_2_2", "a_2")],
        [
            ("id_repeated", 2, 0, 2),
            ("id_repeated", 2, 1, 2),
            ("id_repeated", 3, None, 3),
            ("id_repeated", 4, None, 4),
        ],
    ),
    "an id of another vendor becomes a legal one": (
        Rules(id_chars="alnum", id_min=9, id_max=9),
        [asks("call_00_0123456789", "f:0"), *answers("f:0", "call_00_0123456789")],
        [asks("123456789", "f00000000"), *answers("f00000000", "123456789")],
        [
            ("id_length", 0, 0, 0),
            ("id_length", 0, 1, 0),
            ("id_length", 1, None, 1),
            ("id_length", 2, None, 2),
        ],
    ),
    "arguments are kept as text": (
        Rules(arguments="parsed"),
        [asks("a", arguments='{"city":"Bei'), *answers("a")],
        [asks("a", arguments='{"_raw_arguments":"{\\"city\\":\\"Bei"}'), *answers("a")],
        [("arguments_invalid", 0, 0, 0)],
    ),
    "blank text is dropped, and an empty message says so": (
        Rules(text="not_blank", result_text="not_blank"),
        [
            User((Text(" "), Image(url="x:"), Text(""))),
            asks("a", text="\n\n"),
            *answers("a", text=" "),
            user(""),
        ],
        [
            User((Image(url="x:"),)),
            asks("a"),
            *answers("a", text="(no content)"),
            user("(no content)"),
        ],
        [
            ("content_blank", 0, 0, 0),
            ("content_empty", 0, 2, 0),
            ("content_blank", 1, None, 1),
            ("content_blank", 2, None, 2),
            ("content_empty", 2, None, 2),
            ("content_empty", 3, 0, 3),
            ("content_empty", 3, None, 3),
        ],
    ),
    "the last reply loses the white space at its end": (
        Rules(final_trailing_blank=False),
        [assistant("So "), U, assistant("So \n")],
        [assistant("So "), U, assistant("So")],
        [("content_trailing_blank", 2, None, 2)],
    ),
    "missing reasoning becomes empty": (
        Rules(reasoning="required", reasoning_in="tool_turns"),
        [U, A, U, asks("a"), *answers("a"), assistant_with_reasoning("Hello", "So")],
        [U, A, U, asks("a", reasoning=""), *answers("a"), assistant_with_reasoning("Hello", "So")],
        [("reasoning_required", 3, None, 3)],
    ),
    "refused reasoning goes": (
        Rules(reasoning="refused"),
        [U, assistant_with_reasoning("Hello", "So"), U, assistant_with_reasoning("Bye", "")],
        [U, A, U, assistant("Bye")],
        [("reasoning_refused", 1, None, 1), ("reasoning_refused", 3, None, 3)],
    ),
    "a reply that was nothing but refused reasoning says so": (
        Rules(reasoning="refused", text="not_empty"),
        [U, assistant_with_reasoning("", "So")],
        [U, assistant("(no content)")],
        [("reasoning_refused", 1, None, 1), ("content_empty", 1, None, 1)],
    ),
    "reasoning without its seal goes, and a changed reply has lost its seal": (
        Rules(sealed_reasoning=True),
        [
            Assistant("Hello", "So", provider_data=SEALED),
            asks("", reasoning="So", provider_data=SEALED),
            *answers(""),
        ],
        [Assistant("Hello", "So", provider_data=SEALED), asks("call"), *answers("call")],
        [
            ("id_empty", 1, 0, 1),
            ("provider_data_dropped", 1, None, 1),
            ("reasoning_unsealed", 1, None, 1),
            ("id_empty", 2, None, 2),
        ],
    ),
    "a reply that loses its seal with the white space loses its reasoning": (
        Rules(final_trailing_blank=False, sealed_reasoning=True),
        [U, Assistant("Hello ", "So", provider_data=SEALED)],
        [U, A],
        [
            ("provider_data_dropped", 1, None, 1),
            ("content_trailing_blank", 1, None, 1),
            ("reasoning_unsealed", 1, None, 1),
        ],
    ),
    "results that a system kept apart are put in order": (
        Rules(results="anywhere", results_in_call_order=True, system="leading"),
        [asks("a", "b"), *answers("b"), S, *answers("a")],
        [S, asks("a", "b"), *answers("a", "b")],
        [
            ("results_order", 1, None, 3),
            ("system_place", 2, None, 0),
            ("results_order", 3, None, 2),
        ],
    ),
    "only the results of the step are put in order": (
        Rules(results="anywhere", results_in_call_order=True),
        [asks("a"), U, asks("b", "c"), *answers("c", "a", "b")],
        [asks("a"), U, asks("b", "c"), *answers("b", "a", "c")],
        [("results_order", 3, None, 5), ("results_order", 5, None, 3)],
    ),
    "lone surrogates become the replacement character": (
        Rules(),
        [user("cut \ud83d"), asks("\udc00"), *answers("\udc00", text="\udc00")],
        [user("cut \ufffd"), asks("\ufffd"), *answers("\ufffd", text="\ufffd")],
        [
            ("text_not_utf8", 0, None, 0),
            ("text_not_utf8", 1, None, 1),
            ("text_not_utf8", 2, None, 2),
        ],
    ),
}


@pytest.mark.parametrize(
    ("some_rules", "history", "mended", "changes"), REPAIRS.values(), ids=REPAIRS.keys()
)
def test_each_repair_loses_as_little_as_it_can(some_rules, history, mended, changes):
    repaired = repair(history, some_rules)
    assert repaired.history == mended
    assert [(c.code, c.at, c.part, c.to) for c in repaired.changes] == changes
    assert repaired.remaining == ()


def test_the_examples_show_every_change():
    shown = {code for *_, changes in REPAIRS.values() for code, *_ in changes}
    arguments = {code for code in get_args(Code) if code.startswith("arguments_")}
    ids = {"id_chars"}
    every = set(get_args(Code)) | {"provider_data_dropped"}
    assert get_args(ChangeCode)
    assert shown | arguments | ids | REMAINING == every


ARGUMENTS = [
    ("json", '{"a":1', True),
    ("json", "", False),
    ("json", "null", False),
    ("object", "null", True),
    ("object", ' {"a":1,"a":NaN}', False),
    ("parsed", '{"a":1,"a":2}', True),
    ("parsed", '{"a":NaN}', True),
    ("parsed", '{"a":1e400}', False),
]


@pytest.mark.parametrize(("shape", "text", "wrapped"), ARGUMENTS)
def test_arguments_that_are_not_taken_are_kept_under_a_key(shape, text, wrapped):
    repaired = repair([asks("a", arguments=text), *answers("a"), asks("b")], Rules(arguments=shape))
    expected = msgspec.json.encode({RAW_ARGUMENTS: text}).decode() if wrapped else text
    assert repaired.history[0].tool_calls[0].arguments == expected
    assert (repaired.history[0].tool_calls[0].arguments == text) is not wrapped


KEPT = [
    ("empty_history", Rules(), []),
    ("no_user", Rules(needs_user=True), [A]),
    ("first_role", Rules(first_roles=("user",)), [A]),
    ("last_role", Rules(last_roles=("user",)), [A]),
    ("block_kind", Rules(dialect="x"), [User((Wire("y", "{}"),))]),
    ("system_refused", Rules(system="refused"), [S]),
    ("tool_name", Rules(name_max=0), [asks("a"), *answers("a")]),
    ("arguments_too_long", Rules(arguments_max=1), [asks("a"), *answers("a")]),
    ("id_space", Rules(id_max=0), [asks("a"), *answers("a")]),
    ("reasoning_required", Rules(reasoning="required", empty_reasoning=False), [A]),
    ("reasoning_required", Rules(reasoning="required", sealed_reasoning=True), [A]),
]


@pytest.mark.parametrize(("code", "some_rules", "history"), KEPT)
def test_what_nothing_can_mend_stays_and_is_told(code, some_rules, history):
    repaired = repair(history, some_rules)
    assert repaired.history == history
    assert repaired.changes == ()
    assert [problem.code for problem in repaired.remaining] == [code]


# The laws


@given(hostile.histories, hostile.rules)
def test_only_what_nothing_can_mend_remains(history, some_rules):
    repaired = repair(history, some_rules)
    assert check(repaired.history, some_rules) == repaired.remaining
    assert {problem.code for problem in repaired.remaining} <= REMAINING


def same_objects(some, others):
    return len(some) == len(others) and all(map(lambda a, b: a is b, some, others))


@given(hostile.histories, hostile.rules)
def test_repairing_twice_changes_nothing(history, some_rules):
    once = repair(history, some_rules)
    twice = repair(once.history, some_rules)
    assert twice.changes == ()
    assert same_objects(twice.history, once.history)


@given(hostile.histories, hostile.rules)
def test_a_history_without_problems_comes_back_with_the_same_objects(history, some_rules):
    good = repair(history, some_rules).history
    fine = not check(good, some_rules)
    repaired = repair(tuple(good), some_rules)
    assert not fine or same_objects(repaired.history, good)
    assert not fine or (repaired.changes, repaired.remaining) == ((), ())
    assert isinstance(repaired.history, list)


@given(hostile.histories, hostile.rules)
def test_the_input_stays_as_it_was(history, some_rules):
    before = list(history)
    repair(history, some_rules)
    assert same_objects(history, before)


@given(hostile.histories, hostile.rules)
def test_an_unchanged_message_is_the_same_object(history, some_rules):
    repaired = repair(history, some_rules)
    touched = {change.to for change in repaired.changes}
    given_in = {id(message) for message in history}
    untouched = [m for to, m in enumerate(repaired.history) if to not in touched]
    assert all(id(message) in given_in for message in untouched)


def applied(message, change):
    """Do to a message what a change tells; `before` must be what stands there."""
    match change.before or change.after:
        case ToolCall():
            assert message.tool_calls[change.part] == change.before
            calls = list(message.tool_calls)
            calls[change.part] = change.after
            return msgspec.structs.replace(message, tool_calls=tuple(calls))
        case ProviderData():
            return msgspec.structs.replace(message, provider_data=None)
        case Text():
            return message  # compared without its blank blocks
        case System() | User() | Assistant() | ToolResult():
            assert bare(message) == bare(change.before)
            return change.after
        case _:
            field = "reasoning" if change.code.startswith("reasoning") else "content"
            assert getattr(message, field) == change.before
            return msgspec.structs.replace(message, **{field: change.after})


def bare(message):
    """A message without vendor's data and blank blocks, which have changes of their own."""
    fields = {"User": "content", "Assistant": "attachments", "ToolResult": "attachments"}
    name = fields.get(type(message).__name__)
    blocks = getattr(message, name or "", ())
    kept = tuple(b for b in blocks if not isinstance(b, Text) or b.text.strip())
    replaced = {"provider_data": None} | ({name: kept} if name else {})
    return msgspec.structs.replace(message, **replaced)


def replayed(history, changes, length):
    """Make the output from the input and the changes alone."""
    now, places, output = dict(enumerate(history)), {}, [None] * length
    for change in changes:
        if change.code == "dangling_call":
            output[change.to] = change.after
        else:
            now[change.at] = applied(now[change.at], change)
            places[change.at] = change.to
    for at in sorted(places, reverse=True):  # of joined messages the first goes on
        if places[at] is not None:
            output[places[at]] = now[at]
    unchanged = iter([message for at, message in now.items() if at not in places])
    return [next(unchanged) if message is None else message for message in output]


@given(hostile.histories, hostile.rules)
def test_the_changes_tell_everything(history, some_rules):
    repaired = repair(history, some_rules)
    copy = replayed(history, repaired.changes, len(repaired.history))
    assert list(map(bare, copy)) == list(map(bare, repaired.history))


@given(hostile.histories, hostile.rules)
def test_a_changed_message_has_no_vendor_data_and_that_is_told(history, some_rules):
    repaired = repair(history, some_rules)
    given_in = {id(message) for message in history}
    new = [message for message in repaired.history if id(message) not in given_in]
    assert all(message.provider_data is None for message in new)
    dropped = {c.at: c for c in repaired.changes if c.code == "provider_data_dropped"}
    kept = {id(message) for message in repaired.history}
    removed = {c.at for c in repaired.changes if c.to is None}
    assert dropped.keys() == {
        at
        for at, message in enumerate(history)
        if message.provider_data and id(message) not in kept and at not in removed
    }
    assert all(c.before is history[at].provider_data for at, c in dropped.items())
    assert all(("sealed" in c.text) is c.before.sealed for c in dropped.values())


def squeezed(text):
    return re.sub(r"\s", "", re.sub("[\ud800-\udfff]", "\ufffd", text))


def written(history):
    """Everything that system, user and model wrote, by role, without white space."""
    said = {System: [], User: [], Assistant: []}
    for message in history:
        texts = [getattr(message, "content", "")] if not isinstance(message, User) else []
        blocks = message.content if isinstance(message, User) else ()
        texts += [block.text for block in blocks if isinstance(block, Text)]
        said.get(type(message), []).extend(map(squeezed, texts))
    return {role: sorted(filter(None, texts)) for role, texts in said.items()}


@given(hostile.histories, hostile.rules)
def test_nothing_that_was_written_is_deleted(history, some_rules):
    repaired = repair(history, some_rules)
    fills = {c.to for c in repaired.changes if c.code == "content_empty" and c.part is None}
    out = written(m for to, m in enumerate(repaired.history) if to not in fills)
    came_in = written(history)
    joined = {role: sorted("".join(texts)) for role, texts in out.items()}
    assert joined == {role: sorted("".join(texts)) for role, texts in came_in.items()}


@given(hostile.histories, hostile.rules)
def test_reasoning_goes_only_where_it_is_refused(history, some_rules):
    repaired = repair(history, some_rules)
    refuses = some_rules.reasoning == "refused" or some_rules.sealed_reasoning
    thought = [squeezed(m.reasoning or "") for m in history if isinstance(m, Assistant)]
    left = [squeezed(m.reasoning or "") for m in repaired.history if isinstance(m, Assistant)]
    assert refuses or "".join(left) == "".join(thought)


def numbered(history):
    """Give every call a name and every result a text of its own."""

    def named(at, message):
        if isinstance(message, Assistant):
            calls = [
                msgspec.structs.replace(call, name=f"n{at}_{part}")
                for part, call in enumerate(message.tool_calls)
            ]
            return msgspec.structs.replace(message, tool_calls=tuple(calls))
        if isinstance(message, ToolResult):
            return msgspec.structs.replace(message, content=f"r{at}")
        return message

    return [named(at, message) for at, message in enumerate(history)]


def answered(history):
    return {
        found.call.name: found.result.content
        for found in pair(history).pairs
        if found.result is not None and found.result.content != SYNTHESIZED_RESULT
    }


@given(hostile.histories.map(numbered), hostile.rules)
def test_every_result_stays_with_its_call(history, some_rules):
    assert answered(repair(history, some_rules).history) == answered(history)


@given(hostile.histories, hostile.rules)
def test_an_added_result_says_that_it_is_one(history, some_rules):
    repaired = repair(history, some_rules)
    added = [c.after for c in repaired.changes if c.code == "dangling_call"]
    assert len(added) == len(pair(history).dangling)
    assert all((r.content, r.is_error) == (SYNTHESIZED_RESULT, True) for r in added)


def call_ids(history):
    return [call.id for m in history if isinstance(m, Assistant) for call in m.tool_calls]


@given(hostile.histories, hostile.rules, st.lists(hostile.messages, max_size=4))
def test_ids_never_depend_on_later_messages(history, some_rules, later):
    ids = call_ids(repair(history, some_rules).history)
    longer = call_ids(repair(history + later, some_rules).history)
    assert longer[: len(ids)] == ids


@given(hostile.histories, hostile.rules)
def test_a_change_names_no_conversation_text(history, some_rules):
    sentences = {change.text for change in repair(history, some_rules).changes}
    assert all(re.fullmatch(r'[A-Z][A-Za-z0-9 ,;+\'"]*\.', sentence) for sentence in sentences)


# The same bytes in every process, and time in proportion


def arbitrary(seed, length):
    rng = random.Random(seed)

    def call():
        return ToolCall(rng.choice(hostile.IDS), "f", rng.choice(hostile.ARGUMENTS))

    def reply():
        calls = tuple(call() for _ in range(rng.randrange(4)))
        return Assistant(rng.choice(hostile.TEXTS), rng.choice([None, "", "So"]), calls)

    makers = [
        reply,
        lambda: ToolResult(rng.choice(hostile.IDS), rng.choice(hostile.TEXTS)),
        lambda: ToolResult(rng.choice(hostile.IDS), rng.choice(hostile.TEXTS)),
        lambda: User((Text(rng.choice(hostile.TEXTS)),)),
        lambda: System(rng.choice(hostile.TEXTS)),
    ]
    return [rng.choice(makers)() for _ in range(length)]


STRICT = Rules(
    results_in_call_order=True,
    split_replies=False,
    alternation=True,
    id_chars="word",
    id_scope="history",
    arguments="parsed",
    system="leading",
    text="not_blank",
    result_text="not_blank",
    reasoning="required",
)


def fingerprint():
    rows = [repr(repair(arbitrary(seed, 40), STRICT)) for seed in range(30)]
    return hashlib.sha256("".join(rows).encode("utf-8", "surrogatepass")).hexdigest()


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_the_same_input_gives_the_same_output_in_every_process(seed):
    paths = os.pathsep.join(["tests", "."])
    code = "import test_repairs; print(test_repairs.fingerprint())"
    made = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths},
        cwd=os.path.dirname(os.path.dirname(__file__)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout.strip() == fingerprint()


BROKEN = {
    "everything": lambda n: arbitrary(1, n),
    "one step of equal ids": lambda n: [asks(*["a"] * n), *answers(*["a"] * n)],
    "late results, last call first": lambda n: [
        *(asks(f"c{at}") for at in range(n)),
        U,
        *answers(*(f"c{at}" for at in reversed(range(n)))),
    ],
    "ids in the way of new ones": lambda n: [asks(*(f"a_{k}" for k in range(n)), *["a"] * n)],
    "empty ids of another length": lambda n: [asks(*[""] * n), *answers(*[""] * n)],
    "a reply in n pieces": lambda n: [asks("a", text="x") for _ in range(n)],
    "systems everywhere": lambda n: [U, S] * n,
    "blocks without text": lambda n: [User((Text(""),) * n)],
}


def seconds(history, tries):
    def once():
        start = time.process_time()
        repair(history, STRICT)
        return time.process_time() - start

    return min(once() for _ in range(tries))


@pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN.keys())
def test_repair_takes_time_in_proportion_to_the_history(make):
    few, many = seconds(make(300), tries=5), seconds(make(6000), tries=2)
    assert many < 80 * max(few, 0.001)  # 20, were it exact; 400, were it the square


def test_ids_of_a_tiny_space_are_used_up_before_they_run_out():
    ids = [f"call_{n}" for n in range(70)]
    history = [asks(*ids), *answers(*ids)]
    repaired = repair(history, Rules(id_chars="alnum", id_max=1))
    new = call_ids(repaired.history)
    assert len({id for id in new if len(id) == 1}) == 62
    assert [problem.code for problem in repaired.remaining] == ["id_space"] * 8
    assert repair(repaired.history, Rules(id_chars="alnum", id_max=1)).changes == ()


LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def test_results_in_another_order_stay_with_their_calls_where_ids_run_out():
    ids = ["!0", *LETTERS[1:], "0", "z"]  # "!0" becomes "0"; "0" stays, for none is left
    calls = tuple(ToolCall(id, f"n{n}", "{}") for n, id in enumerate(ids))
    results = [tool_result(id, f"r{n}") for n, id in enumerate(ids)]
    history = [*(Assistant("", tool_calls=(call,)) for call in calls), *reversed(results)]
    repaired = repair(history, Rules(id_chars="alnum", id_max=1))
    assert answered(repaired.history) == answered(history)
    assert {problem.code for problem in repaired.remaining} == {"id_space"}


def test_results_of_another_step_come_home_where_ids_run_out():
    ids = [*LETTERS, "-", "_", "\ud800"]
    history = [
        *(Assistant("", tool_calls=(ToolCall(id, f"n{id!r}", "{}"),)) for id in ids),
        *(tool_result(id, f"r{id!r}") for id in ids[:-1]),
        U,
        Assistant("", tool_calls=(ToolCall("\ud801", "last", "{}"),)),
        tool_result("\ud801", "of the last"),
        tool_result("\ud800", "of the one before"),
    ]
    repaired = repair(history, Rules(id_max=1, results="anywhere"))
    assert answered(repaired.history) == answered(history)
    assert [problem.code for problem in repaired.remaining] == ["id_space"]


def test_the_texts_are_what_the_documentation_says():
    assert NO_CONTENT == "(no content)"
    assert RAW_ARGUMENTS == "_raw_arguments"
