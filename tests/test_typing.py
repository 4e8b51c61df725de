"""What type checkers tell a user of molo: mypy and pyright, each in its strictest mode.

`typing/right.py` is accepted as it is. In `typing/wrong.py` every mistake is marked with what is
reported of it; nothing else is.
"""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROGRAMS = Path(__file__).parent / "typing"
RIGHT, WRONG = PROGRAMS / "right.py", PROGRAMS / "wrong.py"
MARK = re.compile(r"# E: (.*) \| (.*)$")

Reports = dict[int, set[str]]
"""Line number, from 1 -> the codes or rules that are reported there."""

needs_mypy = pytest.mark.skipif(
    importlib.util.find_spec("mypy") is None, reason="mypy is not installed (extra `dev`)"
)
needs_pyright = pytest.mark.skipif(
    importlib.util.find_spec("pyright") is None, reason="pyright is not installed (extra `dev`)"
)
pytestmark = pytest.mark.heavy


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, cwd=cwd, timeout=300
    )
    assert done.returncode in {0, 1}, done.stderr  # 1: something is reported
    return done.stdout


def mypy(program: Path, work: Path) -> Reports:
    settings = ["--config-file=", "--strict", "--enable-error-code=exhaustive-match"]
    output = run("mypy", *settings, "--output=json", str(program), cwd=work)
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return collected((row["line"], row["code"]) for row in rows if row["severity"] == "error")


def pyright(program: Path, work: Path) -> Reports:
    shutil.copy(program, work)
    (work / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    output = run("pyright", "--outputjson", "--pythonpath", sys.executable, "-p", ".", cwd=work)
    found = (
        (row["range"]["start"]["line"] + 1, row["rule"])
        for row in json.loads(output)["generalDiagnostics"]
    )
    # That a type is unknown only follows from another mistake of the same line.
    return collected((line, rule) for line, rule in found if not rule.startswith("reportUnknown"))


def collected(found) -> Reports:
    reports: Reports = {}
    for line, code in found:
        reports.setdefault(line, set()).add(code)
    return reports


def marked(side: int) -> Reports:
    lines = enumerate(WRONG.read_text("utf-8").splitlines(), 1)
    return {
        number: set(mark[side].split(", ")) for number, line in lines if (mark := MARK.search(line))
    }


CHECKERS = [
    pytest.param(mypy, 1, marks=needs_mypy, id="mypy"),
    pytest.param(pyright, 2, marks=needs_pyright, id="pyright"),
]


@pytest.mark.parametrize(("check", "side"), CHECKERS)
def test_the_right_program_is_accepted(check, side, tmp_path):
    assert check(RIGHT, tmp_path) == {}


@pytest.mark.parametrize(("check", "side"), CHECKERS)
def test_the_blocks_of_the_readme_are_accepted(check, side, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    program = tmp_path / "readme.py"
    program.write_text("\n".join(block for block in blocks if ">>>" not in block), "utf-8")
    work = tmp_path / "work"
    work.mkdir()
    assert check(program, work) == {}


@pytest.mark.parametrize(("check", "side"), CHECKERS)
def test_exactly_the_marked_mistakes_are_reported(check, side, tmp_path):
    expected = marked(side)
    assert expected
    assert check(WRONG, tmp_path) == expected
