"""Histories as Arrow batches and Parquet: nothing changes on the way, and bad data is an error."""

import os
import pickle
import runpy
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import histories, provider_data, texts

import molo
from molo import (
    Assistant,
    Audio,
    DecodeError,
    EncodeError,
    File,
    Image,
    ProviderData,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
    tool_result,
    user,
)
from molo.history import DEEPSEEK
from molo.ingest import FORMATS, Fault, Origin, Record, read

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `arrow`)")
pq = pytest.importorskip("pyarrow.parquet")

from molo import arrow  # noqa: E402
from molo.arrow.schema import BLOCK, MESSAGE  # noqa: E402

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
DIALECTS = {
    "openai_chat": "openai-chat",
    "openai_responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
}
needs_corpus = pytest.mark.skipif(not CORPUS.exists(), reason="the shared corpus is not here")


def free_memory():
    """Bytes of memory that are free; 0 where the system does not say."""
    names = getattr(os, "sysconf_names", {})
    return (
        os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if "SC_AVPHYS_PAGES" in names
        else 0
    )


CALL = ToolCall("call_1", "weather", '{"city":"Beijing"}')
DATA = ProviderData(dialect="anthropic", delta='{"0":[]}', digest="1:2", sealed=True)
ANSWERED = [
    System("Be brief."),
    user("How is the weather?"),
    Assistant("", "I need the tool.", (CALL,)),
    ToolResult("call_1", "Sunny, 23°C"),
    Assistant("Sunny."),
]
DANGLING = [user("Hi"), Assistant("", None, (CALL, ToolCall("call_2", "clock", "{}")))]
MISTAKEN = [user("Hi"), Assistant("", None, (CALL,)), ToolResult("call_1", "no", is_error=True)]


def column(batch, name):
    return batch.column(name).to_pylist()


def batch_of(*histories):
    return arrow.to_batch([Record(history, line) for line, history in enumerate(histories, 1)])


# --- There and back -------------------------------------------------------------------------------

records = st.builds(
    Record,
    histories,
    line=st.integers(0, 2**40),
    offset=st.integers(0, 2**50),
    rest=st.sampled_from(["", "{}", '{"id":"a"}', '{"id":1e5}', '{"model":"m","id":7}', "torn"]),
    single=st.booleans(),
    origin=st.none()
    | st.builds(
        Origin,
        texts,
        envelope=st.none() | provider_data,
        within=st.none() | texts,
        reply=texts,
        single=st.booleans(),
    ),
)
faults = st.builds(
    Fault,
    source=texts,
    line=st.integers(0, 2**40),
    offset=st.integers(0, 2**50),
    length=st.integers(0, 2**30),
    reason=texts,
    raw=st.binary(max_size=20),
    code=st.sampled_from(["json", "record", "torn"]),
)
items = st.lists(records | faults, max_size=8)


@given(items, st.integers(1, 5), st.integers(1, 100))
def test_batches_give_back_what_they_were_made_of(items, rows, size):
    batches = list(arrow.to_batches(items, rows=rows, size=size))
    assert all(batch.schema == arrow.CONVERSATIONS for batch in batches)
    for batch in batches:
        batch.validate(full=True)
    assert list(arrow.from_batches(batches)) == items


@given(items, st.integers(0, 8), st.integers(0, 8))
def test_a_slice_of_a_batch_gives_the_slice_of_the_items(items, start, length):
    batch = arrow.to_batch(items).slice(start, length)
    assert arrow.from_batch(batch) == items[start : start + length]


@given(items)
def test_a_table_of_many_chunks_is_read_as_its_batches_are(items):
    table = pa.Table.from_batches(arrow.to_batches(items, rows=1), arrow.CONVERSATIONS)
    assert arrow.from_batch(table) == items


@given(items)
def test_what_went_through_ipc_is_the_same(items):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, arrow.CONVERSATIONS) as stream:
        stream.write(arrow.to_batch(items))
    with pa.ipc.open_stream(sink.getvalue()) as stream:
        assert list(arrow.from_batches(stream)) == items


@given(histories)
def test_rows_of_messages_give_back_the_history(history):
    rows = arrow.to_messages(batch_of(history))
    assert arrow.from_messages(rows) == history
    assert column(rows, "at") == list(range(len(history)))


@pytest.mark.parametrize(
    "history",
    [
        pytest.param([], id="no message"),
        pytest.param([Assistant("")], id="no reasoning"),
        pytest.param([Assistant("", "")], id="empty reasoning"),
        pytest.param([Assistant("", " ")], id="blank reasoning"),
        pytest.param([User(())], id="no block"),
        pytest.param([user("")], id="an empty block"),
        pytest.param([User((Text("a"), Text("b")))], id="two texts"),
        pytest.param([user("x" * 70_000), Assistant("é" * 70_000)], id="70 kB"),
        pytest.param([user("👩‍👩‍👧‍👦\U0001f600"), System("\x00\ufeff\u2028")], id="emoji"),
        pytest.param([User((Wire("gemini", '{"x":1}'), Image(url="https://x.org/a")))], id="wire"),
        pytest.param([User((File(data=b"", mime_type="", name=""),))], id="no bytes in a file"),
        pytest.param(
            [Assistant("", attachments=(Audio(data=b"\xff\x00", mime_type="a/b"),))], id="bytes"
        ),
        pytest.param(
            [ToolResult("", "", is_error=True, attachments=(Text("t"),), provider_data=DATA)],
            id="all of a result",
        ),
        pytest.param([System("", provider_data=DATA), user("a"), System("b")], id="vendor's data"),
    ],
)
def test_what_is_easily_lost_is_kept(history, tmp_path):
    path = tmp_path / "log.parquet"
    arrow.write_parquet([Record(history)], path)
    assert list(arrow.read_parquet(path)) == [Record(history)]


def corpus_items(name):
    with (CORPUS / f"{name}.jsonl").open("rb") as file:
        return list(read(file, DIALECTS[name], source=name))


@needs_corpus
@pytest.mark.parametrize("name", DIALECTS)
def test_recorded_logs_come_back_from_parquet_as_they_were(name, tmp_path):
    items = corpus_items(name)
    assert sum(type(item) is Record for item in items) > 600
    assert arrow.write_parquet(items, tmp_path / "log.parquet") == len(items)
    assert list(arrow.read_parquet(tmp_path / "log.parquet")) == items


# --- What is refused ------------------------------------------------------------------------------

LONE = "\ud83d"


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (System(LONE), ".content"),
        (user(LONE), ".content[0].text"),
        (User((Text("a"), Wire("x", LONE))), ".content[1].data"),
        (Assistant("", LONE), ".reasoning"),
        (Assistant("", tool_calls=(ToolCall("a", "b", LONE),)), ".tool_calls[0].arguments"),
        (ToolResult(LONE, ""), ".id"),
        (
            System("", provider_data=ProviderData(dialect="", delta=LONE, digest="")),
            ".provider_data.delta",
        ),
        (System(5), ".content"),
        (User((b"text",)), ".content[0]"),
        (User("text"), ".content"),
        (User(5), ".content"),
        (Assistant("", tool_calls=(Text(""),)), ".tool_calls[0]"),
        (Assistant("", tool_calls=(ToolCall("a", "b", {}),)), ".tool_calls[0].arguments"),
        (ToolResult("", "", is_error=2.5), ".is_error"),
        ({"role": "system", "content": "dict"}, ""),
    ],
)
def test_what_arrow_cannot_hold_is_an_error_with_its_place(message, path):
    with pytest.raises(EncodeError) as caught:
        batch_of([], [user("fine"), message])
    assert caught.value.path == f"$[1].messages[1]{path}"
    assert caught.value.__context__ is None
    assert LONE not in str(caught.value)


def test_bytes_in_place_of_text_are_an_error_at_the_latest_when_they_are_no_text():
    with pytest.raises(EncodeError, match="Expected messages"):
        batch_of([System(b"\xff")])


@pytest.mark.parametrize(
    "item",
    [
        Record([], rest=LONE),
        Record([], line="1"),
        Record([], origin=Origin(LONE)),
        Fault("log", 1, 0, 1, LONE, b"", "json"),
    ],
)
def test_a_record_that_arrow_cannot_hold_is_an_error_with_its_place(item):
    with pytest.raises(EncodeError) as caught:
        arrow.to_batch([Record([]), item])
    assert caught.value.path == "$[1]"


def test_a_file_name_of_any_bytes_is_shown_as_text():
    fault = Fault("log\udcff", 1, 0, 1, "Expected JSON", b"x", "json")
    assert [item.source for item in arrow.from_batch(arrow.to_batch([fault]))] == ["log\\udcff"]


def row_of(**fields):
    row = {
        "role": "system",
        "content": "c",
        "blocks": [],
        "reasoning": None,
        "tool_calls": [],
        "call_id": None,
        "is_error": None,
        "provider_data": None,
    }
    return row | fields


def block_of(**fields):
    return dict.fromkeys(BLOCK.names) | fields


RESULT = {"role": "tool", "call_id": "1", "is_error": False}
PLAIN_CALL = {"id": "a", "name": "b", "arguments": "{}"}


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (row_of(role=None), "role"),
        (row_of(role="developer"), "role"),
        (row_of(content=None), "content"),
        (row_of(reasoning=""), "reasoning"),
        (row_of(tool_calls=[PLAIN_CALL]), "tool_calls"),
        (row_of(call_id="1"), "call_id"),
        (row_of(is_error=False), "is_error"),
        (row_of(blocks=[block_of(type="text", text="t")]), "blocks"),
        (row_of(role="user", blocks=[block_of(type="text", text="t")]), "blocks"),
        (row_of(role="user", reasoning=""), "reasoning"),
        (row_of(role="user", tool_calls=[PLAIN_CALL]), "tool_calls"),
        (row_of(role="user", call_id=""), "call_id"),
        (row_of(role="user", is_error=True), "is_error"),
        (row_of(role="assistant", content=None), "content"),
        (row_of(role="assistant", call_id=""), "call_id"),
        (row_of(role="assistant", is_error=False), "is_error"),
        (row_of(**RESULT | {"call_id": None}), "call_id"),
        (row_of(**RESULT | {"is_error": None}), "is_error"),
        (row_of(**RESULT | {"content": None}), "content"),
        (row_of(**RESULT | {"reasoning": "r"}), "reasoning"),
        (row_of(**RESULT | {"tool_calls": [PLAIN_CALL]}), "tool_calls"),
        (row_of(role="assistant", tool_calls=[PLAIN_CALL | {"name": None}]), "tool_calls[0].name"),
        (row_of(role="assistant", tool_calls=[PLAIN_CALL, None]), "tool_calls[1].id"),
        (row_of(provider_data={"dialect": "x", "delta": ""}), "provider_data.digest"),
        (row_of(role="assistant", blocks=[block_of(type="video")]), "blocks[0].type"),
        (row_of(role="assistant", blocks=[block_of(type="text")]), "blocks[0].type"),
        (row_of(role="assistant", blocks=[block_of(type="wire", json="")]), "blocks[0].type"),
        (
            row_of(role="assistant", blocks=[block_of(type="image", mime_type="")]),
            "blocks[0].type",
        ),
        (
            row_of(
                role="assistant", blocks=[block_of(type="audio", mime_type="", url="", data=b"")]
            ),
            "blocks[0].type",
        ),
        (
            row_of(role="assistant", blocks=[block_of(type="file", mime_type="", url="")]),
            "blocks[0].type",
        ),
        (row_of(role="assistant", blocks=[None]), "blocks[0].type"),
    ],
)
def test_a_row_that_is_no_message_is_an_error_with_its_place(row, field):
    histories = [[], None, [row_of(), row]]
    batch = pa.record_batch(
        {"messages": pa.array(histories, pa.large_list(MESSAGE)), "fault": FAULTS}
    )
    with pytest.raises(DecodeError) as caught:
        arrow.from_batch(batch)
    assert caught.value.path == f"$[2].messages[1].{field}"


def any_value(type):
    """A strategy for values of an Arrow type, null among them."""
    match type:
        case pa.LargeListType():
            values = st.lists(any_value(type.value_type), max_size=2)
        case pa.StructType():
            values = st.fixed_dictionaries({field.name: any_value(field.type) for field in type})
        case _:
            values = VALUES[type]
    return st.none() | values


VALUES = {
    pa.large_string(): st.sampled_from(
        ["system", "user", "assistant", "tool", "text", "image", "file", "wire", "", "x"]
    ),
    pa.large_binary(): st.binary(max_size=2),
    pa.bool_(): st.booleans(),
}


@given(st.lists(any_value(MESSAGE), max_size=3))
def test_any_rows_are_messages_or_an_error(rows):
    batch = pa.record_batch({"messages": pa.array([rows], pa.large_list(MESSAGE))})
    try:
        [record] = arrow.from_batch(batch)
    except DecodeError as error:
        assert error.path.startswith("$[0].messages[")
    else:
        assert arrow.from_batch(arrow.to_batch([record])) == [record]


FAULTS = pa.array([None, None, None], arrow.CONVERSATIONS.field("fault").type)


@pytest.mark.parametrize(
    ("columns", "path"),
    [
        ({}, ""),
        ({"messages": pa.array([1])}, "$.messages"),
        ({"messages": pa.array([None], pa.large_list(MESSAGE))}, "$[0]"),
        ({"messages": pa.array([[]], pa.large_list(MESSAGE)), "line": ["x"]}, "$.line"),
        ({"messages": pa.array([[]], pa.large_list(MESSAGE)), "origin": ["x"]}, "$[0].origin"),
        (
            {
                "messages": pa.array([None], pa.large_list(MESSAGE)),
                "fault": pa.array([{"code": "no such"}]),
            },
            "$[0].fault",
        ),
    ],
)
def test_a_batch_that_holds_no_conversations_is_an_error(columns, path):
    with pytest.raises(DecodeError) as caught:
        arrow.from_batch(pa.table(columns) if columns else batch_of([]).select(["id"]))
    assert caught.value.path == path


def test_a_field_of_a_newer_molo_is_not_dropped_without_a_word():
    newer = pa.struct([*MESSAGE, ("mood", pa.string())])
    batch = pa.table({"messages": pa.array([[row_of(mood="good")]], pa.list_(newer))})
    with pytest.raises(DecodeError, match="Unknown field `mood`; written by a newer molo"):
        arrow.from_batch(batch)


def test_text_that_is_no_utf8_is_an_error():
    broken = pa.array([b"\xff"], pa.large_binary()).view(pa.large_string())
    batch = batch_of([])
    place = batch.schema.get_field_index("rest")
    with pytest.raises(DecodeError, match="Expected text in UTF-8"):
        arrow.from_batch(batch.set_column(place, "rest", broken))


@pytest.mark.parametrize(
    ("bounds", "rows"),
    [
        ({}, [6]),
        ({"rows": 4}, [4, 2]),
        ({"size": 250}, [2, 2, 2]),
        ({"size": 1}, [1, 1, 1, 1, 1, 1]),
    ],
)
def test_batches_are_cut_by_rows_and_by_size(bounds, rows):
    items = [Record([user("x" * 80)])] * 5 + [Fault("-", 6, 0, 80, "r", b"x" * 80, "json")]
    assert [batch.num_rows for batch in arrow.to_batches(items, **bounds)] == rows


@pytest.mark.parametrize("bounds", [{"rows": 0}, {"size": 0}])
def test_bounds_of_a_batch_are_positive(bounds):
    with pytest.raises(ValueError, match="positive"):
        arrow.to_batches([], **bounds)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" * 20, b'{"messages":[]}\n' * 5])
def test_a_file_that_is_no_parquet_is_an_error(data, tmp_path):
    (tmp_path / "log.parquet").write_bytes(data)
    with pytest.raises(DecodeError, match="Expected a Parquet file"):
        list(arrow.read_parquet(tmp_path / "log.parquet"))


PARQUET_ITEMS = [Record(ANSWERED, 1, rest='{"id":"a"}'), Record([user("Hi")], 2)]


def parquet_bytes():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        arrow.write_parquet(PARQUET_ITEMS, path)
        return path.read_bytes()


def read_bytes(data):
    """The items of a file, or None if it is told to be damaged."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        path.write_bytes(data)
        try:
            return list(arrow.read_parquet(path))
        except DecodeError:
            return None


PARQUET = parquet_bytes()
FOOTER = len(PARQUET) - 8 - int.from_bytes(PARQUET[-8:-4], "little")  # Parquet: length, then PAR1


@given(st.integers(4, FOOTER - 1), st.integers(1, 255))
def test_damaged_pages_are_told_and_never_give_other_values(at, change):
    damaged = bytearray(PARQUET)
    damaged[at] ^= change
    assert read_bytes(damaged) in (PARQUET_ITEMS, None)


@given(st.integers(FOOTER, len(PARQUET) - 1), st.integers(1, 255))
def test_a_damaged_footer_which_has_no_checksum_gives_no_other_error(at, change):
    damaged = bytearray(PARQUET)
    damaged[at] ^= change
    read_bytes(damaged)


@given(st.integers(0, len(PARQUET) - 1))
def test_a_file_that_is_cut_short_is_an_error(length):
    assert read_bytes(PARQUET[:length]) is None


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(arrow.read_parquet(tmp_path / "log.parquet"))


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="nothing here fails to be read")
def test_a_file_that_cannot_be_read_is_an_os_error_and_not_called_damaged():
    with pytest.raises(OSError):
        list(arrow.read_parquet("/proc/self/mem"))


def test_a_parquet_file_of_other_things_is_an_error(tmp_path):
    pq.write_table(pa.table({"x": [1]}), tmp_path / "log.parquet")
    with pytest.raises(DecodeError, match="Expected a column `messages`"):
        list(arrow.read_parquet(tmp_path / "log.parquet"))


# --- Other types that say the same ----------------------------------------------------------------


def smaller(type):
    """The type as an engine with 32-bit offsets has it, struct fields in another order."""
    match type:
        case pa.LargeListType():
            return pa.list_(smaller(type.value_type))
        case pa.StructType():
            return pa.struct([(field.name, smaller(field.type)) for field in reversed(list(type))])
        case _:
            return SMALLER.get(type, type)


SMALLER = {
    pa.large_string(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.int64(): pa.int32(),
}


def test_batches_with_32_bit_offsets_and_another_order_of_fields_are_read():
    items = [
        Record(ANSWERED, 1),
        Record([], 2, single=True),
        Fault("l", 3, 9, 1, "r", b"x", "json"),
    ]
    table = pa.Table.from_batches([arrow.to_batch(items)])
    schema = pa.schema([(field.name, smaller(field.type)) for field in table.schema])
    assert schema != table.schema
    assert arrow.from_batch(table.cast(schema)) == items


def test_columns_beside_the_messages_may_be_missing():
    assert arrow.from_batch(batch_of(ANSWERED).select(["messages"])) == [Record(ANSWERED)]


# --- Rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "id"),
    [
        (Record([], 3, rest='{"id":"a7"}'), "a7"),
        (Record([], 3, rest='{"id":12}'), "12"),
        (Record([], 3, rest='{"id":null}'), "3"),
        (Record([], 3, rest='{"id":["a"]}'), "3"),
        (Record([], 3, rest='{"model":"m"}'), "3"),
        (Record([], 3, rest="torn"), "3"),
        (Record([], 3), "3"),
        (Record([]), None),
        (Fault("-", 4, 0, 1, "", b"", "json"), "4"),
    ],
)
def test_a_conversation_is_known_by_its_own_id_or_by_its_line(record, id):
    assert column(arrow.to_batch([record]), "id") == [id]


def test_messages_are_rows_that_say_what_stands_where():
    rows = arrow.to_messages(batch_of(ANSWERED, [], [User((Text("a"), Text("b")))]))
    assert rows.select(["id", "line", "at", "role", "content", "call_id"]).to_pylist() == [
        dict(zip(("id", "line", "at", "role", "content", "call_id"), row, strict=True))
        for row in [
            ("1", 1, 0, "system", "Be brief.", None),
            ("1", 1, 1, "user", "How is the weather?", None),
            ("1", 1, 2, "assistant", "", None),
            ("1", 1, 3, "tool", "Sunny, 23°C", "call_1"),
            ("1", 1, 4, "assistant", "Sunny.", None),
            ("3", 3, 0, "user", None, None),
        ]
    ]
    assert column(rows, "is_error") == [None, None, None, False, None, None]
    assert [len(calls) for calls in column(rows, "tool_calls")] == [0, 0, 1, 0, 0, 0]
    assert [[block["text"] for block in blocks] for blocks in column(rows, "blocks")] == [
        *[[]] * 5,
        ["a", "b"],
    ]


def test_calls_are_paired_within_their_step_although_ids_restart():
    twice = [*ANSWERED, *ANSWERED[1:3], ToolResult("call_1", "no", is_error=True)]
    calls = arrow.to_calls(batch_of(twice, [], DANGLING), ["line"])
    assert calls.select(["line", "at", "part", "call_id", "name"]).to_pylist() == [
        {"line": 1, "at": 2, "part": 0, "call_id": "call_1", "name": "weather"},
        {"line": 1, "at": 6, "part": 0, "call_id": "call_1", "name": "weather"},
        {"line": 3, "at": 1, "part": 0, "call_id": "call_1", "name": "weather"},
        {"line": 3, "at": 1, "part": 1, "call_id": "call_2", "name": "clock"},
    ]
    assert column(calls, "result_at") == [3, 7, None, None]
    assert column(calls, "is_error") == [False, True, None, None]


def test_columns_to_keep_stand_beside_every_message_and_call():
    batch = batch_of(ANSWERED).append_column("model", pa.array(["m"]))
    assert column(arrow.to_messages(batch, ["model"]), "model") == ["m"] * 5
    assert column(arrow.to_calls(batch, ["model"]), "model") == ["m"]


def test_a_column_to_keep_must_be_there():
    with pytest.raises(DecodeError, match="Expected a column `model`"):
        arrow.to_messages(batch_of(ANSWERED), ["model"])


# --- Batch functions ------------------------------------------------------------------------------

LINES = [
    b'{"id":"a","messages":[{"role":"user","content":"Hi"}]}',
    b'{"id":',
    b"",
    None,
    b'{"messages":5}\r\n',
    b"\xff\xfe",
    b'[{"role":"user","content":"\\ud83d"}]',
    b'{"id":"b","messages":[]}',
    b"{}{}",
    b"\x00\x00",
]


def test_bad_lines_become_rows_with_a_fault_and_nothing_is_raised():
    log = pa.record_batch({"text": pa.array(LINES, pa.binary()), "n": list(range(len(LINES)))})
    rows = arrow.decode_lines(log, "text", "openai-chat")
    kinds = [(type(item), getattr(item, "code", "")) for item in arrow.from_batch(rows)]
    assert list(zip(column(rows, "n"), kinds, strict=True)) == [
        (0, (Record, "")),
        (1, (Fault, "json")),
        (4, (Fault, "record")),
        (5, (Fault, "json")),
        (6, (Fault, "json")),
        (7, (Record, "")),
        (8, (Fault, "extra")),
        (9, (Fault, "nul")),
    ]
    assert "text" not in rows.schema.names


@needs_corpus
@pytest.mark.parametrize("name", DIALECTS)
def test_lines_decode_in_batches_of_any_cut_as_in_one_process(name):
    log = (CORPUS / f"{name}.jsonl").read_bytes()
    spoilt = log.replace(b'"role"', b'"rule"', 3).replace(b"\n{", b"\n\n{torn\n{", 2)
    expected = list(read([spoilt], DIALECTS[name]))
    table = pa.table({"value": pa.array(spoilt.split(b"\n"), pa.large_binary())})
    batches = [arrow.decode_lines(part, "value", DIALECTS[name]) for part in table.to_batches(100)]
    assert [unplaced(item) for item in arrow.from_batches(batches)] == [
        unplaced(item) for item in expected
    ]


@needs_corpus
@pytest.mark.parametrize("name", DIALECTS)
def test_logs_decode_to_what_reading_the_file_gives(name):
    log = (CORPUS / f"{name}.jsonl").read_bytes()
    spoilt = log.replace(b'"role"', b'"rule"', 3).replace(b"\n{", b"\n\n{torn\n{", 2)[:-100]
    table = pa.table({"bytes": [spoilt, b"", log], "path": ["a", "b", "c"]})
    rows = arrow.decode_logs(table, "bytes")
    expected = [*read([spoilt], source="a"), *read([log], source="c")]
    assert arrow.from_batch(rows) == expected
    assert {item.code for item in expected if type(item) is Fault} >= {"torn", "json"}
    assert set(column(rows, "path")) == {"a", "c"}


def unplaced(item):
    return type(item), {
        name: getattr(item, name)
        for name in type(item).__struct_fields__
        if name not in ("line", "offset")
    }


def test_columns_of_the_batch_stand_in_place_of_new_ones_of_the_same_name():
    log = pa.table({"text": ['{"id":"a","messages":[]}'], "id": ["mine"], "line": [7]})
    rows = arrow.decode_lines(log, "text", "openai-chat")
    assert (column(rows, "id"), column(rows, "line")) == (["mine"], [7])


@pytest.mark.parametrize("format", ["auto", "molo-msgpack", "rust-molo-msgpack", "klingon"])
def test_lines_of_an_unknown_format_are_a_mistake_of_the_program(format):
    with pytest.raises(ValueError, match="Expected a format of lines"):
        arrow.decode_lines(pa.table({"text": ["{}"]}), "text", format)


@pytest.mark.parametrize(
    "name", [name for name, format in FORMATS.items() if format.layout == "lines"]
)
def test_every_format_of_lines_decodes(name):
    line = FORMATS[name].write(Record([user("Hi")]), None).data
    rows = arrow.decode_lines(pa.table({"text": [line]}), "text", name)
    assert [item.messages for item in arrow.from_batch(rows)] == [[user("Hi")]]


MIXED = arrow.to_batch(
    [Record(ANSWERED, 1), Fault("-", 2, 0, 1, "r", b"", "json"), Record(DANGLING, 3)]
)


def test_check_adds_problems():
    problems = column(arrow.check(MIXED), "problems")
    assert [found and [one["code"] for one in found] for found in problems] == [
        [],
        None,
        ["dangling_call", "dangling_call"],
    ]
    assert [(one["at"], one["part"]) for one in problems[2]] == [(1, 0), (1, 1)]
    assert [one["text"] for one in problems[2]] == [
        problem.text for problem in molo.history.check(DANGLING)
    ]


def test_an_answer_at_the_end_of_a_row_is_still_open():
    answer = Record(DANGLING, 1, origin=Origin("openai-chat", reply="response_message"))
    request = Record(DANGLING, 2, origin=Origin("openai-chat"))
    batch = arrow.to_batch([answer, request])
    codes = [[one["code"] for one in found] for found in column(arrow.check(batch), "problems")]
    assert codes == [[], ["dangling_call", "dangling_call"]]
    assert [len(history) for history in arrow.histories_of(arrow.repair(batch))] == [2, 4]
    without = pa.table({"messages": batch.column("messages")})
    assert [len(found) for found in column(arrow.check(without), "problems")] == [2, 2]


def test_repair_gives_what_repair_gives_and_its_changes():
    repaired = arrow.repair(MIXED)
    assert arrow.histories_of(repaired) == [
        ANSWERED,
        None,
        molo.history.repair(DANGLING).history,
    ]
    changes = column(repaired, "changes")
    assert changes[:2] == [[], None]
    assert [(one["code"], one["at"], one["to"]) for one in changes[2]] == [
        (one.code, one.at, one.to) for one in molo.history.repair(DANGLING).changes
    ]


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (arrow.strip_reasoning, molo.history.strip_reasoning(ANSWERED)),
        (partial(arrow.strip_reasoning, keep="tool_turns"), ANSWERED),
        (partial(arrow.map_histories, function=list), ANSWERED),
    ],
)
def test_histories_are_mapped(job, expected):
    assert arrow.histories_of(job(MIXED))[:2] == [expected, None]


def test_redaction_reaches_messages_and_leaves_the_rest():
    batch = arrow.to_batch(
        [Record([user("call 555-1234"), tool_result("1", "ok")], rest='{"a":1}')]
    )
    redacted = arrow.from_batch(arrow.redact(batch, r"\d{3}-\d{4}", "#"))
    assert redacted == [Record([user("call #"), tool_result("1", "ok")], rest='{"a":1}')]


def test_tokens_are_estimated_for_each_conversation():
    tokens = sum(map(molo.history.estimate_tokens, ANSWERED))
    assert column(arrow.estimate_tokens(MIXED), "tokens")[:2] == [tokens, None]


JOBS = {
    "decode_lines": partial(arrow.decode_lines, column="text", format="openai-chat"),
    "decode_logs": partial(arrow.decode_logs, column="text"),
    "check": arrow.check,
    "check for a vendor": partial(arrow.check, rules=DEEPSEEK),
    "repair": partial(arrow.repair, rules=DEEPSEEK),
    "strip_reasoning": arrow.strip_reasoning,
    "redact": partial(arrow.redact, pattern="b"),
    "estimate_tokens": arrow.estimate_tokens,
    "to_messages": arrow.to_messages,
    "to_calls": arrow.to_calls,
}


@pytest.mark.parametrize("name", JOBS)
def test_batch_functions_do_not_depend_on_the_kind_or_the_cut_of_batches(name):
    job = pickle.loads(pickle.dumps(JOBS[name]))
    batch = MIXED.append_column("text", pa.array(["{", None, '{"messages":[]}']))
    whole = job(batch)
    table = pa.Table.from_batches([batch.slice(0, 1), batch.slice(1)])
    assert isinstance(whole, pa.RecordBatch)
    assert job(table).to_pylist() == whole.to_pylist()
    pieces = [job(batch.slice(row, 1)) for row in range(3)]
    assert pa.Table.from_batches(pieces).to_pylist() == whole.to_pylist()


@pytest.mark.parametrize("name", JOBS)
def test_an_empty_batch_gives_an_empty_batch_of_the_same_schema(name):
    batch = MIXED.append_column("text", pa.array(["{", None, '{"messages":[]}']))
    job = JOBS[name]
    empty = job(batch.slice(0, 0))
    assert empty.num_rows == 0
    assert empty.schema == job(batch).schema


# --- Parquet --------------------------------------------------------------------------------------


def test_row_groups_are_cut_by_size_and_read_one_by_one(tmp_path):
    text = "x" * 2**20
    items = [Record([user(text)], line) for line in range(100)]
    assert arrow.write_parquet(iter(items), tmp_path / "log.parquet") == 100
    metadata = pq.ParquetFile(tmp_path / "log.parquet").metadata
    assert metadata.num_row_groups == 2
    assert list(arrow.read_parquet(tmp_path / "log.parquet")) == items


def test_a_file_stays_as_it_was_when_writing_fails(tmp_path):
    path = tmp_path / "log.parquet"
    arrow.write_parquet([Record(ANSWERED)], path)
    with pytest.raises(EncodeError):
        arrow.write_parquet([Record(ANSWERED), Record([System(LONE)])], path)
    assert list(arrow.read_parquet(path)) == [Record(ANSWERED)]
    assert os.listdir(tmp_path) == ["log.parquet"]


def test_a_log_without_records_is_a_file_without_rows(tmp_path):
    assert arrow.write_parquet([], tmp_path / "log.parquet") == 0
    assert list(arrow.read_parquet(tmp_path / "log.parquet")) == []
    assert pq.read_schema(tmp_path / "log.parquet").equals(arrow.CONVERSATIONS)


heavy_text = pytest.mark.skipif(free_memory() < 16 * 2**30, reason="less than 16 GiB are free")


@pytest.mark.heavy
@heavy_text
def test_a_column_holds_more_than_2_gib_of_text():
    record = Record([Assistant("é" + "x" * (2**20 - 2))] * 2100)
    batch = arrow.to_batch([record])
    assert batch.column("messages").flatten().field("content").nbytes > 2**31
    assert arrow.from_batch(batch) == [record]
    assert arrow.to_messages(batch).num_rows == 2100


@pytest.mark.heavy
@heavy_text
def test_a_conversation_that_parquet_cannot_hold_is_an_error_and_many_large_ones_are_none(tmp_path):
    history = [Assistant(f"{number}{'x' * 2**20}") for number in range(2100)]
    with pytest.raises(EncodeError, match="less than 2 GiB"):
        arrow.write_parquet([Record(history)], tmp_path / "log.parquet")
    assert os.listdir(tmp_path) == []
    items = [Record([message]) for message in history]
    assert arrow.write_parquet(items, tmp_path / "log.parquet") == 2100
    assert pq.ParquetFile(tmp_path / "log.parquet").metadata.num_row_groups > 20
    assert list(arrow.read_parquet(tmp_path / "log.parquet")) == items


# --- Imports --------------------------------------------------------------------------------------


def test_without_pyarrow_the_error_is_a_sentence_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as if it were not installed
    with pytest.raises(ModuleNotFoundError) as caught:
        runpy.run_path(arrow.__file__)
    assert str(caught.value) == "molo.arrow needs pyarrow: pip install pyarrow"
    assert caught.value.name == "pyarrow"


def test_the_core_and_the_command_do_not_import_pyarrow():
    script = (
        "import sys, molo, molo.ingest, molo.framing, molo.cli; print('pyarrow' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "False\n"
