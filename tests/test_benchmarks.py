"""The data to measure with is what it promises, and the benchmarks run. No time is judged here."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.generate import MEDIUM, REALISTIC, SMALL, Sizes, conversations, history
from benchmarks.measure import Ratio
from benchmarks.report import Row, Section, lines, verdict
from molo import Assistant, Message, System, Text, ToolResult, User

ROOT = Path(__file__).parent.parent
LOGS = conversations(300, REALISTIC, seed=1)
CHATTER = conversations(300, SMALL, seed=1)
TALK = conversations(300, MEDIUM, seed=1)
REPLIES = [message for log in LOGS for message in log if isinstance(message, Assistant)]


@pytest.mark.parametrize("sizes", [REALISTIC, MEDIUM, SMALL])
def test_the_same_seed_gives_the_same_conversations_and_another_seed_others(sizes: Sizes) -> None:
    first = conversations(5, sizes, seed=7)
    assert conversations(5, sizes, seed=7) == first
    assert conversations(5, sizes, seed=8) != first


def lengths(logs: list[list[Message]]) -> Iterator[tuple[str, int]]:
    for message in (message for log in logs for message in log):
        match message:
            case System(content=text):
                yield "system", len(text)
            case User(content=blocks):
                yield from (("user", len(block.text)) for block in blocks if type(block) is Text)
            case Assistant(content=text, reasoning=str(reasoning)):
                yield "assistant", len(text)
                yield "reasoning", len(reasoning)
            case Assistant(content=text):
                yield "assistant", len(text)
            case ToolResult(content=text):
                yield "result", len(text)


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [
        ("system", 500, 700),
        ("user", 50, 2000),
        ("assistant", 100, 4000),
        ("reasoning", 500, 6000),
        ("result", 100, 5000),
    ],
)
def test_realistic_texts_fill_their_range(kind: str, least: int, most: int) -> None:
    found = [length for name, length in lengths(LOGS) if name == kind]
    margin = (most - least) * 0.1
    assert least <= min(found) <= least + margin
    assert most - margin <= max(found) <= most


@pytest.mark.parametrize(("logs", "least", "most"), [(CHATTER, 5, 60), (TALK, 100, 500)])
def test_other_texts_are_of_one_range(logs: list[list[Message]], least: int, most: int) -> None:
    found = {length for _, length in lengths(logs)}
    assert (min(found), max(found)) == (least, most)


def test_conversations_have_4_to_30_messages() -> None:
    found = {len(log) for log in LOGS}
    assert (min(found), max(found)) == (4, 30)


@pytest.mark.parametrize("length", [2, 3, 4, 5, 100, 1001])
def test_a_history_has_the_length_asked_for(length: int) -> None:
    assert len(history(length)) == length


@pytest.mark.parametrize(
    ("share", "trait"),
    [
        (0.4, [reply.reasoning is not None for reply in REPLIES]),
        (0.5, [bool(reply.tool_calls) for reply in REPLIES]),
    ],
    ids=["reasoning", "calls"],
)
def test_shares_of_replies(share: float, trait: list[bool]) -> None:
    assert sum(trait) / len(trait) == pytest.approx(share, abs=0.03)


def test_replies_have_up_to_three_calls() -> None:
    assert {len(reply.tool_calls) for reply in REPLIES} == {0, 1, 2, 3}


@pytest.mark.parametrize("needle", ["\n", '"', "\\", "\t", "```", "## ", "的", "🎉"], ids=ascii)
def test_replies_hold_markdown_cjk_emoji_and_escapes(needle: str) -> None:
    assert any(needle in reply.content for reply in REPLIES)


@pytest.mark.parametrize("log", [*LOGS[:50], *CHATTER[:50], history(1000)])
def test_every_call_is_answered_right_behind_its_reply(log: list[Message]) -> None:
    asked, answered = [], []
    for place, message in enumerate(log):
        match message:
            case Assistant(tool_calls=calls):
                asked += [(place + 1 + number, call.id) for number, call in enumerate(calls)]
            case ToolResult(id=id):
                answered.append((place, id))
            case System() | User():
                pass
    assert asked == answered
    assert len({id for _, id in asked}) == len(asked)


def test_arguments_are_json_objects_with_escapes() -> None:
    arguments = [call.arguments for reply in REPLIES for call in reply.tool_calls]
    assert all(isinstance(json.loads(text), dict) for text in arguments)
    assert any('\\"' in text for text in arguments)


def section(median: float, limit: float | None = None, least: float | None = None) -> Section:
    """Make a section of one row that has these bounds, and of one that has none."""
    free = Row("small", "free", "molo", Ratio(9, 9, 9))
    bound = Row("small", "bound", "molo", Ratio(median, 1, 9), limit=limit, least=least)
    return Section("Any", "one", [free, bound])


@pytest.mark.parametrize(
    ("median", "limit", "least", "asked", "said"),
    [
        (1.05, 1.05, None, "≤ 1.05", ["Limits met: 1 of 1"]),
        (20, None, 20, "≥ 20", ["Limits met: 1 of 1"]),
        (
            1,
            0,
            None,
            "≤ 0",
            ["Limits met: 0 of 1", "Limit missed: small bound, molo: 1.000, limit ≤ 0"],
        ),
        (
            1.0512,
            1.05,
            None,
            "≤ 1.05",
            ["Limits met: 0 of 1", "Limit missed: small bound, molo: 1.051, limit ≤ 1.05"],
        ),
        (
            19.99,
            None,
            20,
            "≥ 20",
            ["Limits met: 0 of 1", "Limit missed: small bound, molo: 19.990, limit ≥ 20"],
        ),
        (3, 4, 2, "≥ 2, ≤ 4", ["Limits met: 1 of 1"]),
        (3, None, None, "", []),
    ],
)
def test_a_limit_is_the_most_or_the_least_that_a_median_may_be(
    median: float, limit: float | None, least: float | None, asked: str, said: list[str]
) -> None:
    measured = section(median, limit, least)
    assert [line.strip() for line in verdict(measured)] == said
    assert any(line.endswith(f" | {asked} |") and "bound" in line for line in lines(measured))


def run(*arguments: str, path: Path = ROOT) -> str:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def test_a_smoke_run_measures_every_section_and_judges_nothing(tmp_path: Path) -> None:
    printed = run("--smoke", "--json", str(tmp_path / "figures.json"))
    report = json.loads((tmp_path / "figures.json").read_bytes())
    assert [section["title"] for section in report["sections"]] == [
        line.removeprefix("## ") for line in printed.splitlines() if line.startswith("## ")
    ]
    assert all(section["rows"] for section in report["sections"])
    assert report["environment"]["python"].endswith(".".join(map(str, sys.version_info[:3])))
    assert "Limit" not in printed


def test_a_contender_that_is_not_installed_is_skipped_with_a_line(tmp_path: Path) -> None:
    absent = "raise ModuleNotFoundError(\"No module named 'orjson'\", name='orjson')"
    (tmp_path / "orjson.py").write_text(absent)
    printed = run("--smoke", "--only", "codecs", path=tmp_path)
    assert "orjson: skipped, orjson is not installed" in printed
    assert "| orjson |" not in printed
    assert "| json |" in printed
