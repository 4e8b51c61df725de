"""The wheel: what is in it, and that it works and is typed where nothing else is installed."""

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ["molo", "pyproject.toml", "README.md", "LICENSE"]

pytestmark = pytest.mark.heavy

ROUND_TRIP = """
import molo
history = [
    molo.system("Be brief."),
    molo.user_blocks([molo.Text("What is this?"), molo.Image(data=b"PNG", mime_type="image/png")]),
    molo.Assistant("", "Hm.", (molo.ToolCall("call_1", "look", "{}"),)),
    molo.tool_result("call_1", "A cat."),
]
assert molo.json.decode(molo.json.encode(history)) == history
assert molo.msgpack.decode(molo.msgpack.encode(history)) == history
try:
    molo.json.decode("[5]")
except molo.DecodeError as error:
    print(error)
"""

PROGRAM = """
from typing import assert_never, assert_type
import molo

def text_of(message: molo.Message) -> str:
    match message:
        case molo.System(content) | molo.Assistant(content) | molo.ToolResult(_, content):
            return content
        case molo.User(blocks):
            return "".join(block.text for block in blocks if isinstance(block, molo.Text))
    assert_never(message)

assert_type(molo.json.decode(b"[]"), list[molo.Message])
assert_type(molo.parse_arguments(molo.ToolCall("", "", ""), list[int]), list[int])
molo.System(5)
"""


def run(*command: str | Path, cwd: Path) -> str:
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=plain, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    work = tmp_path_factory.mktemp("wheel")
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, work / part)
    run(sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--quiet", "-w", "dist", cwd=work)
    (built,) = (work / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def bare_python(wheel, tmp_path_factory):
    """A new environment with the wheel and what it depends on, and no extra."""
    home = tmp_path_factory.mktemp("bare")
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=home)
    return python


def test_the_wheel_holds_the_package_and_its_type_marker_and_no_tests(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"molo/py.typed", "molo/__init__.py", "molo/json.py", "molo/msgpack.py"} <= set(names)
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"molo"}
    assert not [name for name in names if "test" in name or name.endswith(".pyc")]


def test_the_wheel_needs_msgspec_only(wheel, bare_python):
    listed = run(bare_python, "-m", "pip", "list", "--format=freeze", cwd=wheel.parent)
    names = {line.partition("==")[0] for line in listed.splitlines()}
    assert names - {"pip", "setuptools"} == {"molo", "msgspec"}


def test_a_history_goes_there_and_back(bare_python, tmp_path):
    shown = run(bare_python, "-c", ROUND_TRIP, cwd=tmp_path)
    assert shown == "Expected `object`, got `int` - at `$[0]`\n"


@pytest.mark.skipif(
    importlib.util.find_spec("mypy") is None, reason="mypy is not installed (extra `dev`)"
)
def test_mypy_knows_the_types_of_the_installed_package(bare_python, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", "--strict", "--python-executable",
         bare_python, "program.py"],
        capture_output=True, text=True, cwd=tmp_path, timeout=300,
    )  # fmt: skip
    line = len(PROGRAM.splitlines())
    assert done.stdout.splitlines() == [
        f'program.py:{line}: error: Argument 1 to "System" has incompatible type "int"; '
        'expected "str"  [arg-type]',
        "Found 1 error in 1 file (checked 1 source file)",
    ]
