"""Slow, plain readings of the definitions of history, to compare `pair` and `check` with."""

import json
import math
import re
from itertools import pairwise

import msgspec

from molo import Assistant, System, Text, ToolResult, User, Wire

# Structure


def slow_steps(history):
    """A step is a run of adjacent Assistants and the results right behind it."""
    found = []
    for start, message in enumerate(history):
        begins = start == 0 or not isinstance(history[start - 1], Assistant)
        if isinstance(message, Assistant) and begins:
            block = start
            while block < len(history) and isinstance(history[block], Assistant):
                block += 1
            stop = block
            while stop < len(history) and isinstance(history[stop], ToolResult):
                stop += 1
            found.append((start, block, stop))
    return found


def slow_pair(history):
    """The four rules for a result, tried in their order."""
    steps = slow_steps(history)
    calls = {
        (at, part): call
        for at, message in enumerate(history)
        if isinstance(message, Assistant)
        for part, call in enumerate(message.tool_calls)
    }
    answers, orphaned, misplaced, duplicate = {}, [], [], []

    def of_step(step, id, *, answered):
        places = [place for place in calls if step[0] <= place[0] < step[1]]
        return [p for p in places if calls[p].id == id and (p in answers) == answered]

    for at, message in enumerate(history):
        if not isinstance(message, ToolResult):
            continue
        own = [step for step in steps if step[1] <= at < step[2]]
        earlier = [step for step in reversed(steps) if step[2] <= at]
        open_here = [p for step in own for p in of_step(step, message.id, answered=False)]
        closed_here = [p for step in own for p in of_step(step, message.id, answered=True)]
        open_earlier = [p for step in earlier for p in of_step(step, message.id, answered=False)]
        if open_here:
            answers[open_here[0]] = at
        elif closed_here:
            duplicate.append(at)
        elif message.id != "" and open_earlier:
            answers[open_earlier[0]] = at
            misplaced.append(at)
        else:
            orphaned.append(at)
    pairs = [(*place, answers.get(place)) for place in calls]
    return pairs, orphaned, misplaced, duplicate


# Problems: a function per group of codes, each a list of (code, at, part).


def slow_check(history, rules):
    found = [finding for slow in SLOW_CHECKERS for finding in slow(history, rules)]
    return sorted(found, key=str)


def slow_roles(history, rules):
    if not history:
        return [("empty_history", None, None)]
    spoken = [at for at, message in enumerate(history) if not isinstance(message, System)]
    found = []
    if rules.needs_user and all(role_of(message) != "user" for message in history):
        found.append(("no_user", None, None))
    if spoken and role_of(history[spoken[0]]) not in rules.first_roles:
        found.append(("first_role", spoken[0], None))
    if role_of(history[-1]) not in rules.last_roles:
        found.append(("last_role", len(history) - 1, None))
    return found


def role_of(message):
    return {System: "system", User: "user", Assistant: "assistant", ToolResult: "tool"}[
        type(message)
    ]


def slow_neighbours(history, rules):
    found = []
    for at, (before, message) in enumerate(pairwise(history), 1):
        roles = (role_of(before), role_of(message))
        if rules.alternation and roles in {("user", "user"), ("assistant", "assistant")}:
            found.append(("alternation", at, None))
        if not rules.split_replies and roles == ("assistant", "assistant") and before.tool_calls:
            found.append(("split_reply", at, None))
    return found


def slow_systems(history, rules):
    systems = [at for at, message in enumerate(history) if isinstance(message, System)]
    if rules.system == "refused":
        return [("system_refused", at, None) for at in systems]
    if rules.system == "leading":
        return [("system_place", at, None) for at in systems if systems.index(at) != at]
    return []


def slow_results(history, rules):
    pairs, orphaned, misplaced, duplicate = slow_pair(history)
    found = [("dangling_call", at, part) for at, part, answer in pairs if answer is None]
    found += [("orphaned_result", at, None) for at in orphaned]
    found += [("duplicate_result", at, None) for at in duplicate]
    if rules.results == "block":
        found += [("misplaced_result", at, None) for at in misplaced]
    if rules.results_in_call_order:
        for start, block, stop in slow_steps(history):
            answered = {
                answer: (at, part)
                for at, part, answer in pairs
                if start <= at < block and answer in range(block, stop)
            }
            found += [
                ("results_order", at, None)
                for at in answered
                if any(answered[other] > answered[at] for other in answered if other < at)
            ]
    return found


ALNUM = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
CHARS = {"alnum": ALNUM, "word": ALNUM + "_-", "dotted": ALNUM + "_-.:"}


def of_alphabet(text, alphabet):
    return alphabet == "any" or set(text) <= set(CHARS[alphabet])


def slow_ids(history, rules):
    """Ids are settled from left to right within their scope."""
    calls = [(at, part, history[at].tool_calls[part].id) for at, part, _ in slow_pair(history)[0]]
    whole = rules.id_scope == "history" or rules.results == "anywhere"
    spans = [(0, len(history))] if whole else [(s, b) for s, b, _ in slow_steps(history)]
    found = []
    for start, stop in spans:
        given = set()
        for at, part, id in calls:
            if start <= at < stop:
                fault = id_fault(id, given, rules)
                found += [(fault, at, part)] if fault else []
                given |= set() if fault else {id}
    return found


def id_fault(id, given, rules):
    legal = CHARS.get(rules.id_chars, CHARS["word"])
    lengths = range(max(1, rules.id_min), 999 if rules.id_max is None else rules.id_max + 1)
    room = sum(len(legal) ** length for length in lengths) if len(lengths) < 20 else math.inf
    used = len([other for other in given if set(other) <= set(legal)])
    fault = None
    if id == "":
        fault = "id_empty"
    elif len(id) not in lengths:
        fault = "id_length"
    elif not of_alphabet(id, rules.id_chars):
        fault = "id_chars"
    elif id in given:
        fault = "id_repeated"
    return "id_space" if fault and used == room else fault


def slow_calls(history, rules):
    found = []
    for at, part, _ in slow_pair(history)[0]:
        call = history[at].tool_calls[part]
        named = rules.name_chars == "any" or call.name != ""
        fits = rules.name_max is None or len(call.name) <= rules.name_max
        if not (named and fits and of_alphabet(call.name, rules.name_chars)):
            found.append(("tool_name", at, part))
        if fault := slow_arguments_fault(call.arguments, rules.arguments):
            found.append((fault, at, part))
        if rules.arguments_max is not None and len(call.arguments) > rules.arguments_max:
            found.append(("arguments_too_long", at, part))
    return found


def slow_arguments_fault(text, shape):
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    if text.strip() == "":
        return None
    constants, repeated = [], []

    def members(pairs):
        keys = [key for key, _ in pairs]
        repeated.extend(key for key in keys if keys.count(key) > 1)
        return dict(pairs)

    try:
        value = json.loads(text, parse_constant=constants.append, object_pairs_hook=members)
        json.dumps(value, ensure_ascii=False).encode()  # fails where an escape is half a pair
    except (ValueError, RecursionError):
        return "arguments_invalid"
    if depth(value) > 256:
        return "arguments_invalid"
    if shape != "json" and not isinstance(value, dict):
        return "arguments_not_object"
    if shape == "parsed" and repeated:
        return "arguments_repeated_key"
    return "arguments_not_finite" if shape == "parsed" and constants else None


def depth(value):
    items = value.values() if isinstance(value, dict) else value
    return 1 + max(map(depth, items), default=0) if isinstance(value, dict | list) else 0


def texts_of(message):
    """The text of a message and its text blocks, with the part that each is."""
    found = [] if isinstance(message, User) else [(None, message.content)]
    blocks = blocks_of(message)
    return found + [(n, block.text) for n, block in enumerate(blocks) if isinstance(block, Text)]


def blocks_of(message):
    return message.content if isinstance(message, User) else getattr(message, "attachments", ())


def slow_texts(history, rules):
    found = []
    for at, message in enumerate(history):
        wanted = {
            "system": "any",
            "user": rules.text,
            "assistant": rules.text,
            "tool": rules.result_text,
        }[role_of(message)]
        if wanted == "any":
            continue
        refused = {part for _, place, part in slow_blocks(history, rules) if place == at}
        said = [text for part, text in texts_of(message) if text and part is None]
        said += [
            block
            for part, block in enumerate(blocks_of(message))
            if part not in refused or isinstance(block, Text)
        ]
        said += [getattr(message, "tool_calls", ()), getattr(message, "reasoning", None)]
        data = message.provider_data
        if not any(said) and (data is None or rules.dialect not in ("", data.dialect)):
            found.append(("content_empty", at, None))
        for part, text in texts_of(message):
            if text == "" and part is not None:
                found.append(("content_empty", at, part))
            if text and not text.strip() and wanted == "not_blank":
                found.append(("content_blank", at, part))
    last = history[-1] if history else None
    if isinstance(last, Assistant) and last.content != last.content.rstrip():
        found += [("content_trailing_blank", len(history) - 1, None)] * (
            not rules.final_trailing_blank
        )
    return found


def slow_reasoning(history, rules):
    users = [at for at, message in enumerate(history) if isinstance(message, User)]
    edges = [0, *users, len(history)]
    calling = {at for at, m in enumerate(history) if isinstance(m, Assistant) and m.tool_calls}
    found = []
    for start, stop in pairwise(edges):
        turn = set(range(start, stop))
        spoken_of = {
            "all": turn,
            "calls": turn & calling,
            "tool_turns": turn if turn & calling else set(),
            "current_turn": turn if stop == len(history) else set(),
        }[rules.reasoning_in]
        for at in spoken_of:
            if isinstance(history[at], Assistant):
                found += [(code, at, None) for code in slow_reasoning_fault(history[at], rules)]
    return found


def slow_reasoning_fault(reply, rules):
    data = reply.provider_data
    sealed = data is not None and data.sealed and (rules.dialect in ("", data.dialect))
    sealed = sealed and rules.reads_sealed
    has_any = reply.reasoning is not None or sealed
    has_enough = (
        bool(reply.reasoning) or sealed or (reply.reasoning == "" and rules.empty_reasoning)
    )
    has_seal = sealed or not rules.sealed_reasoning
    faults = {
        "refused": [("reasoning_refused", has_any)],
        "required": [("reasoning_required", not (has_enough and has_seal))],
        "optional": [("reasoning_unsealed", reply.reasoning is not None and not has_seal)],
    }
    return [code for code, is_so in faults[rules.reasoning] if is_so]


def slow_blocks(history, rules):
    taken = {
        "user": rules.user_blocks,
        "assistant": rules.assistant_blocks,
        "tool": rules.result_blocks,
    }
    return [
        ("block_kind", at, part)
        for at, message in enumerate(history)
        for part, block in enumerate(blocks_of(message))
        if type(block).__name__.lower() not in taken[role_of(message)]
        or (isinstance(block, Wire) and rules.dialect not in ("", block.dialect))
    ]


def slow_encoding(history, rules):
    return [
        ("text_not_utf8", at, None)
        for at, message in enumerate(history)
        if re.search("[\ud800-\udfff]", "".join(strings(msgspec.to_builtins(message))))
    ]


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


SLOW_CHECKERS = [
    slow_roles,
    slow_neighbours,
    slow_systems,
    slow_results,
    slow_ids,
    slow_calls,
    slow_texts,
    slow_reasoning,
    slow_blocks,
    slow_encoding,
]
