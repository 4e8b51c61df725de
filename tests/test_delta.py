"""The difference between two JSON values: computed, applied, recognised as stale."""

import gc
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from molo import DecodeError, EncodeError, ProviderData
from molo.dialects.delta import Base, Unit, added, difference, keep, known, patched, restore
from molo.dialects.wire import Number, parse, text

LONG = "A text of more than twelve characters."
OTHER = "Another one, which is as long as that."

# Few keys and strings, so that the two values of a pair have much in common; `$` marks references.
_SCALARS = st.sampled_from(
    [f"<{LONG}>", None, True, False, 0, 1, "", "text", LONG, OTHER, LONG + OTHER, "[1]"]
)
JSON = st.recursive(
    _SCALARS | st.integers() | st.builds(Number, st.sampled_from(["0.10", "1E2", "1e400"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "$", "cut", "json"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def same(one, other):
    """Compare as JSON: an oracle that knows no edits."""
    return json.dumps(parse(text(one)), default=repr, sort_keys=True) == json.dumps(
        other, default=repr, sort_keys=True
    )


@given(JSON, JSON)
def test_an_edit_turns_one_value_into_the_other(base, wire):
    edit = difference(base, wire)
    assert same(wire, patched(base, parse(text(edit))) if edit is not None else base)


# So many strings that they are no longer looked for one by one, and so many that begin alike.
MANY = [f"A text of more than twelve characters, number {number}." for number in range(40)]
_PIECES = st.lists(st.sampled_from([*MANY, LONG, OTHER, MANY[39][5:]]), max_size=60)


@given(_PIECES, _PIECES)
def test_an_edit_of_many_strings_turns_one_value_into_the_other(base, wire):
    for one, other in (
        ({"a": base}, {"b": wire}),
        ({"a": "\n".join(base)}, {"a": wire}),
        ({"a": base}, {"a": [{"text": piece} for piece in wire]}),
    ):
        edit = difference(one, other)
        assert same(other, patched(one, parse(text(edit))) if edit is not None else one)


def test_a_base_is_gone_when_nothing_needs_it():
    gc.collect()
    gc.disable()
    try:
        for _ in range(100):
            Base({"a": LONG, "b": OTHER}).edit({"a": LONG, "c": OTHER})
        assert sum(isinstance(thing, Base) for thing in gc.get_objects()) < 10
    finally:
        gc.enable()


def test_of_many_strings_all_that_the_base_has_are_copied():
    edit = difference({"a": MANY}, {"a": MANY, "b": [*map(str.upper, MANY), *MANY]})
    *others, last = edit["b"][0]
    assert last == {"$": ["a", 39]}
    assert [piece for piece in others if isinstance(piece, str)] == [*map(str.upper, MANY)]


@given(JSON)
def test_equal_values_have_no_difference(value):
    assert difference(value, parse(text(value))) is None


@pytest.mark.parametrize(
    ("base", "wire", "edit"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({"a": 1}, {"a": True}, {"a": [True]}),
        ({"a": 1}, {}, {"a": []}),
        ({}, {"a": None}, {"a": [None]}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"a": {"c": [3]}}),
        ([1, 2, 3], [1, 4], {"1": [4], "2": []}),
        ([1], [1, 2], {"1": [2]}),
        ({"a": "short"}, {"a": ["short"]}, {"a": [["short"]]}),
        ({"a": LONG}, {"a": [{"text": LONG}]}, {"a": [[{"text": {"$": ["a"]}}]]}),
        ({"a": "11 chars ok"}, {"a": ["11 chars ok"]}, {"a": [["11 chars ok"]]}),
        ({"a": "12 chars too"}, {"a": ["12 chars too"]}, {"a": [[{"$": ["a"]}]]}),
        # Of two texts that begin alike, the right one
        (
            {"a": LONG, "b": LONG + OTHER},
            {"a": LONG, "b": LONG + OTHER, "c": LONG + OTHER},
            {"c": [{"$": ["b"]}]},
        ),
        ({"a": LONG}, {"a": LONG, "b": LONG}, {"b": [{"$": ["a"]}]}),
        (
            {"a": f"{LONG}\n{OTHER}"},
            {"a": [LONG, OTHER]},
            {"a": [[{"$": ["a"], "cut": [0, 38]}, {"$": ["a"], "cut": [39, 77]}]]},
        ),
        (
            {"a": f"{LONG}, and: {OTHER}"},
            {"a": [LONG, ", and: ", OTHER]},
            {"a": [[{"$": ["a"], "cut": [0, 38]}, ", and: ", {"$": ["a"], "cut": [45, 83]}]]},
        ),
        (LONG, [LONG], [[{"$": []}]]),
        ({"a": '{"b": 1}'}, {"a": {"b": 1}}, {"a": [{"$": ["a"], "json": True}]}),
        ({"a": "{b: 1}"}, {"a": {"b": 1}}, {"a": [{"b": 1}]}),
        ({"a": LONG}, {"a": f"<{LONG}>"}, {"a": [{"$": ["a"], "around": ["<", ">"]}]}),
        ({}, {"a": {"$": [0]}}, {"a": [{"$": {"$": [0]}}]}),
        # The alphabet of Base64 for URLs
        ({"a": "+/AB" * 4}, {"a": "-_AB" * 4}, {"a": [{"$": ["a"], "urlsafe": True}]}),
        ({"a": "+/AB" * 4}, {"a": "-_AC" * 4}, {"a": ["-_AC" * 4]}),
        # An object under a key of another name, also edited, unless that says more
        ({"a": {"x": OTHER, "y": 1}}, {"b": {"x": OTHER, "y": 1}}, {"b": [{"$": ["a"]}], "a": []}),
        (
            {"a": {"x": [10, 20, 30, 40, 50, 60, 70], "y": 1}},
            {"b": {"x": [10, 20, 30, 40, 50, 60, 70]}},
            {"b": [{"$": ["a"], "edit": {"y": []}}], "a": []},
        ),
        ({"a": {"x": 1}}, {"b": {"z": 2}}, {"b": [{"z": 2}], "a": []}),
        ({"a": {"x": 1}}, {"a": {"x": 1}, "b": {"x": 1}}, {"b": [{"x": 1}]}),
    ],
)
def test_edits_say_no_more_than_they_must(base, wire, edit):
    assert difference(base, wire) == edit
    assert edit is None or same(wire, patched(base, edit))


def test_text_of_the_message_is_not_repeated():
    base = {"content": LONG + OTHER, "calls": [{"arguments": OTHER}]}
    wire = {"content": [{"text": LONG}, {"text": OTHER}], "call": {"arguments": OTHER}}
    data = keep(Unit(base), Unit(wire), "vendor")
    assert data is not None
    assert "text of more" not in data.delta and "Another" not in data.delta


@given(JSON, JSON, JSON, JSON, st.sampled_from([None, "new", "same"]))
def test_a_kept_unit_is_restored_with_its_shell_and_join(base, wire, shell, wire_shell, join):
    canonical, on_wire = Unit(base, shell), Unit(wire, wire_shell, join)
    restored, lost = restore(canonical, keep(canonical, on_wire, "vendor"), "vendor")
    assert lost is None
    assert restored.join == join
    assert same(wire, restored.value) and same(wire_shell, restored.shell)


@pytest.mark.parametrize(
    ("base", "wire"),
    [(["0.10"], [Number("0.10")]), ([True], [1]), (["1"], [1]), ([{"a": 0}], [{"a": False}])],
)
def test_values_that_only_look_alike_differ(base, wire):
    data = keep(Unit(base), Unit(wire), "vendor")
    restored, _ = restore(Unit(base), data, "vendor")
    assert same(wire, restored.value) and not same(base, restored.value)


def test_a_canonical_unit_keeps_nothing():
    assert keep(Unit(["a"], {"role": "user"}), Unit(["a"], {"role": "user"}), "vendor") is None


@pytest.mark.parametrize(
    ("base", "wire", "order", "delta"),
    [
        (["a", "b"], ["a", "b"], [0, 1], None),
        (["a", "b"], ["b", "a"], [1, 0], '{"order":[1,0]}'),
        ([LONG + OTHER, "b"], [LONG, "b", OTHER], [0, 1, 0], None),
        (["a"], ["a", "new"], [0, None], '{"unit":{"1":["new"]}}'),
        (["a"], ["new", "a"], [None, 0], '{"order":[null,0],"unit":{"0":["new"]}}'),
        ([{"x": 1}, {"y": 1}], [{"y": 1}, {"x": 2}], [1, 0], None),
        ([], ["new"], [None], '{"unit":{"0":["new"]}}'),
    ],
)
def test_items_in_another_order_are_restored_and_not_repeated(base, wire, order, delta):
    data = keep(Unit(base), Unit(wire), "vendor", order=order)
    assert restore(Unit(base), data, "vendor") == (Unit(wire), None)
    assert delta is None or (data is not None and data.delta == delta)
    assert data is None or LONG not in data.delta


@pytest.mark.parametrize(
    ("data", "lost"),
    [
        (ProviderData(dialect="vendor", delta='{"unit":{"b":[1]}}', digest="0"), "stale"),
        (ProviderData(dialect="other", delta='{"unit":{"b":[1]}}', digest="0"), "foreign"),
        (ProviderData(dialect="other", delta="{}", digest="0", sealed=True), "sealed"),
    ],
)
def test_what_does_not_fit_is_named_and_not_applied(data, lost):
    assert restore(Unit({"a": 1}), data, "vendor") == (Unit({"a": 1}), lost)


@pytest.mark.parametrize("join", [None, "new"])
@pytest.mark.parametrize(("shell", "unit"), [({"b": 1}, [LONG, 2]), ({"b": 1}, [LONG])])
def test_known_edits_give_what_comparing_gives(shell, unit, join):
    base = Unit([LONG], {})
    edits = {"shell": difference({}, shell), "join": join, "sealed": True}
    data = known(Base([LONG]), difference([LONG], unit), "vendor", **edits)
    assert data == keep(base, Unit(unit, shell, join), "vendor", sealed=True)


@given(st.dictionaries(st.sampled_from(["b", "$", "cut"]), JSON, max_size=3))
def test_members_that_are_added_need_no_comparing(members):
    base = {"a": "user"}
    assert same({**base, **members}, patched(base, parse(text(added(members)))))


def test_the_delta_of_an_edited_message_is_stale():
    data = keep(Unit({"content": "old"}), Unit({"content": ["old"]}), "vendor")
    assert restore(Unit({"content": "new"}), data, "vendor") == (Unit({"content": "new"}), "stale")


def test_a_message_that_json_cannot_hold_has_a_stale_delta():
    data = keep(Unit({"content": "old"}), Unit({"content": ["old"]}), "vendor")
    base = Unit({"content": "\ud83d"})
    assert restore(base, data, "vendor") == (base, "stale")


@pytest.mark.parametrize(
    "delta",
    [
        "",
        "[]",
        "{",
        '{"unit":5}',
        '{"unit":{"a":[1,2]}}',
        '{"unit":{"a":{"b":[1]}}}',
        '{"unit":{"list":{"x":[1]}}}',
        '{"unit":{"a":[{"$":5}]}}',
        '{"unit":{"a":[{"$":["b"]}]}}',
        '{"unit":{"a":[{"$":["list",7]}]}}',
        '{"unit":{"a":[{"$":["list"]}]}}',
        '{"unit":{"a":[{"$":["list"],"urlsafe":true}]}}',
        '{"unit":{"a":[{"$":[],"edit":5}]}}',
        '{"unit":{"a":[{"$":["a"],"cut":[1]}]}}',
        '{"unit":{"a":[{"$":["a"],"cut":["1","2"]}]}}',
        '{"unit":{"a":[{"$":["a"],"json":true}]}}',
        '{"unit":{"a":[{"$":["a"],"around":["",5]}]}}',
        '{"order":[0]}',
        '{"join":"other"}',
        '{"join":5}',
        '{"unit":' + '{"a":' * 5000 + "1" + "}" * 5000 + "}",
    ],
)
def test_a_damaged_delta_is_stale_and_raises_nothing(delta):
    base = Unit({"a": "no json", "list": ["b"]})
    whole = keep(base, Unit({}), "vendor")
    assert whole is not None
    damaged = ProviderData(dialect="vendor", delta=delta, digest=whole.digest)
    assert restore(base, damaged, "vendor") == (base, "stale")


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": -float("inf")}, "\ud83d"])
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(EncodeError):
        text(value)


@pytest.mark.parametrize(
    "spelled", ["0.10", "1E2", "1e400", "-0.0", "123456789012345678901234567890"]
)
def test_numbers_keep_their_spelling(spelled):
    assert text(parse(f"[{spelled}]")) == f"[{spelled}]"


def test_what_is_no_json_is_refused_with_its_offset():
    with pytest.raises(DecodeError) as caught:
        parse(b'{"a":}')
    assert caught.value.offset == 5


@given(
    st.lists(st.text(min_size=12, max_size=30), min_size=2, max_size=6),
    st.sampled_from(["", "\n", " | "]),
)
def test_pieces_of_a_joined_text_are_all_copied(pieces, separator):
    base, wire = {"a": separator.join(pieces)}, {"a": [{"text": piece} for piece in pieces]}
    assert patched(base, difference(base, wire)) == wire
    assert [set(part["text"]) for part in difference(base, wire)["a"][0]] == [
        {"$", "cut"} for _ in pieces
    ]
