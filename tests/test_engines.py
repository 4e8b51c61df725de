"""Ray Data and DuckDB for real: batch functions do on workers what they do in one process."""

import json
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks.generate import SMALL, conversations
from molo import Assistant, ToolCall, ToolResult, user
from molo.history import check, pair
from molo.ingest import FORMATS, Fault, Origin, Record, read

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `arrow`)")
pq = pytest.importorskip("pyarrow.parquet")

pytest.importorskip("duckdb", reason="duckdb is not installed (extra `engines`)")

from examples import tool_errors  # noqa: E402
from molo import arrow  # noqa: E402

EXAMPLES = Path(__file__).parents[1] / "examples"
CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
MODELS = ("quick", "deep", "careful")
FILES, EACH = 8, 25  # logs, and conversations in each

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed (extra `engines`)"),
]

# Each log waits until two processes work on logs, so that a quick one cannot do all of them.
WORKERS = """
import os, pathlib, sys, time
import ray
examples, logs, format, meeting = sys.argv[1:]
sys.path.insert(0, examples)
import ray_check

def marked(table):
    pathlib.Path(meeting, str(os.getpid())).touch()
    end = time.monotonic() + 60
    while len(os.listdir(meeting)) < 2 and time.monotonic() < end:
        time.sleep(0.1)
    return table.append_column("worker", [[os.getpid()] * table.num_rows])

ray.init(num_cpus=4, include_dashboard=False)  # as Ray counts them: slots for workers
rows = ray_check.mapped(ray_check.checked(logs, format), marked, rows=1)
workers = rows.unique("worker")
print(len(workers), os.getpid() in workers)
"""


def run(*arguments, timeout=300):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def broken(number, history):
    """Every third conversation loses its results, and results of every fifth are failures."""
    if number % 3 == 0:
        return [message for message in history if type(message) is not ToolResult]
    if number % 5 == 0:
        return [
            replace(message, is_error=True) if type(message) is ToolResult else message
            for message in history
        ]
    return history


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Logs, each with a bad line in the middle and a torn one at its end."""
    folder = tmp_path_factory.mktemp("logs")
    histories = conversations(FILES * EACH, SMALL)
    for file in range(FILES):
        numbers = range(file * EACH, (file + 1) * EACH)
        lines = [line_of(number, broken(number, histories[number])) for number in numbers]
        lines.insert(7, b'{"messages":[{"role":\xff')
        lines.append(b'{"messages":[{"role":"us')
        (folder / f"{file}.jsonl").write_bytes(b"\n".join(lines))
    return folder


def line_of(number, history):
    rest = json.dumps({"model": MODELS[number % 3], "note": "a\u2028b"}, ensure_ascii=False)
    return FORMATS["molo"].write(Record(history, rest=rest), None).data


def items_of(folder):
    """What one process reads, by the name of the log."""
    return {
        path.name: list(read([path.read_bytes()], "molo", source=str(path)))
        for path in sorted(folder.iterdir())
    }


@pytest.fixture(scope="module")
def tables(logs, tmp_path_factory):
    """The tables that the example wrote, by name, and their folder."""
    out = tmp_path_factory.mktemp("tables")
    run(EXAMPLES / "ray_check.py", logs, out, "molo")
    return out


ORDER = {
    "conversations": ("path", "line"),
    "messages": ("path", "line", "at"),
    "calls": ("path", "line", "at", "part"),
}


def read_table(tables, name):
    """Read a table in the order of the logs; Ray writes it in the order of the work."""
    return pq.read_table(tables / name).sort_by([(key, "ascending") for key in ORDER[name]])


def test_at_least_two_workers_share_the_logs(logs, tmp_path):
    workers, driver = run("-c", WORKERS, EXAMPLES, logs, "molo", tmp_path).split()[-2:]
    assert int(workers) >= 2
    assert driver == "False"


def test_ray_gives_the_rows_of_one_process_bad_lines_among_them(logs, tables):
    expected = [item for items in items_of(logs).values() for item in items]
    conversations = read_table(tables, "conversations")
    assert arrow.from_batch(conversations) == expected
    assert sum(type(item) is Fault for item in expected) == 2 * FILES
    assert sum(type(item) is Record for item in expected) == EACH * FILES


def test_ray_finds_the_problems_of_one_process(logs, tables):
    found = read_table(tables, "conversations").column("problems").to_pylist()
    expected = [
        [problem.code for problem in check(item.messages)]
        for items in items_of(logs).values()
        for item in items
        if type(item) is Record
    ]
    assert [[one["code"] for one in row] for row in found if row is not None] == expected
    assert any(expected)


def test_ray_makes_the_messages_and_calls_of_one_process(logs, tables):
    batches = [arrow.to_batch(items) for items in items_of(logs).values()]
    for name, job in (("messages", arrow.to_messages), ("calls", arrow.to_calls)):
        rows = [row for batch in batches for row in job(batch, ["line"]).to_pylist()]
        assert read_table(tables, name).drop_columns(["path", "id"]).to_pylist() == rows


def answers(tables, title):
    return tool_errors.opened(str(tables)).sql(tool_errors.QUERIES[title]).fetchall()


def test_duckdb_tells_the_share_of_failed_calls_by_tool(logs, tables):
    calls, failed, answered = Counter(), Counter(), Counter()
    for asked in (asked for item in records_of(logs) for asked in pair(item.messages).pairs):
        calls[asked.call.name] += 1
        answered[asked.call.name] += asked.result is not None
        failed[asked.call.name] += asked.result is not None and asked.result.is_error
    found = answers(tables, "Tools by the share of their calls that failed")
    assert sum(failed.values()) > 0
    assert sorted(found) == [
        (name, calls[name], failed[name], round(failed[name] / answered[name], 3))
        for name in sorted(calls)
    ]


def test_duckdb_counts_dangling_calls_by_model(logs, tables):
    dangling = Counter(
        json.loads(item.rest)["model"]
        for item in records_of(logs)
        for asked in pair(item.messages).pairs
        if asked.result is None
    )
    found = answers(tables, "Models by the calls that nothing answered")
    assert sum(dangling.values()) > 0
    assert {model: count for model, _, count in found} == {
        model: dangling[model] for model in MODELS
    }


CALLING = [user("Hi"), Assistant("", tool_calls=(ToolCall("c1", "f", "{}"),))]


@pytest.mark.parametrize(("reply", "dangling"), [("", 1), ("response_message", 0)])
def test_calls_of_an_answer_are_still_open(reply, dangling, tmp_path):
    record = Record(CALLING, 1, rest='{"model":"m"}', origin=Origin("openai-chat", reply=reply))
    conversations = arrow.to_batch([record]).append_column("path", pa.array(["a.jsonl"]))
    for name, table in (
        ("conversations", conversations),
        ("calls", arrow.to_calls(conversations, ("path", "line"))),
    ):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table(table), tmp_path / name / "a.parquet")
    assert answers(tmp_path, "Models by the calls that nothing answered") == [("m", 1, dangling)]


def test_duckdb_counts_problems_and_bad_lines(logs, tables):
    problems = Counter(
        problem.code for item in records_of(logs) for problem in check(item.messages)
    )
    found = answers(tables, "Problems that a vendor would refuse")
    assert {code: count for code, count, _ in found} == problems
    faults = answers(tables, "Lines that could not be read")
    assert {(code, count) for code, _, count in faults} == {("json", FILES), ("torn", FILES)}


def test_the_query_example_prints_every_answer(tables):
    printed = run(EXAMPLES / "tool_errors.py", tables)
    assert [title for title in tool_errors.QUERIES if title not in printed] == []


def records_of(folder):
    items = (item for items in items_of(folder).values() for item in items)
    return [item for item in items if type(item) is Record]


@pytest.mark.skipif(not CORPUS.exists(), reason="the shared corpus is not here")
def test_ray_reads_the_recorded_logs_as_one_process_does(tmp_path):
    names = ["anthropic", "gemini", "openai_chat", "openai_responses"]
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in names:
        (folder / f"{name}.jsonl").symlink_to(CORPUS / f"{name}.jsonl")
    run(EXAMPLES / "ray_check.py", folder, tmp_path / "out")
    found = arrow.from_batch(read_table(tmp_path / "out", "conversations"))
    expected = [
        item
        for path in sorted(folder.iterdir())
        for item in read([path.read_bytes()], source=str(path))
    ]
    assert len(expected) > 3900
    assert found == expected
