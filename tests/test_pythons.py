"""The core on every other CPython of this machine, and with the oldest msgspec allowed."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HERE = sys.version_info.minor
MINORS = [
    pytest.param(
        minor,
        id=f"3.{minor}",
        marks=pytest.mark.skipif(minor == HERE, reason=f"CPython 3.{minor} runs these tests now"),
    )
    for minor in range(11, 16)
]
PARTS = ["molo", "tests", "pyproject.toml", "README.md", "LICENSE"]
CORE = [
    "test_message.py",
    "test_codecs.py",
    "test_errors.py",
    "test_json.py",
    "test_rust_molo.py",
    "test_imports.py",
]

pytestmark = pytest.mark.heavy


def command(minor: int) -> str:
    """Find an interpreter: on PATH, or among those that pyenv keeps; skip where there is none."""
    name = f"python3.{minor}"
    kept = sorted((Path.home() / ".pyenv" / "versions").glob(f"3.{minor}.*/bin/{name}"))
    for candidate in [name, *map(str, kept)]:
        if shutil.which(candidate) and runs(candidate, minor):
            return candidate
    pytest.skip(f"CPython 3.{minor} is not installed here")


def runs(candidate: str, minor: int) -> bool:
    script = "import sys; print(sys.implementation.name, *sys.version_info[:2])"
    done = subprocess.run([candidate, "-c", script], capture_output=True, text=True, timeout=60)
    return done.returncode == 0 and done.stdout.split() == ["cpython", "3", str(minor)]


def run(*arguments: str | Path, cwd: Path) -> str:
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=cwd, timeout=900)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def core_holds(work: Path, interpreter: str, *requirements: str) -> None:
    """Install the package into a new environment, with these requirements, and test it there."""
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, work / part)
    run(interpreter, "-m", "venv", ".venv", cwd=work)
    python = work / ".venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", ".[test]", *requirements, cwd=work)
    shutil.rmtree(work / "molo")  # so that the installed one is tested
    tests = [f"tests/{name}" for name in CORE]
    shown = run(python, "-m", "pytest", "-q", *tests, cwd=work)
    assert " passed" in shown


@pytest.mark.parametrize("minor", MINORS)
def test_the_core_holds_on_every_cpython(minor, tmp_path):
    core_holds(tmp_path, command(minor))


def test_the_core_holds_with_the_oldest_msgspec_that_may_be_installed(tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    [requirement] = project["dependencies"]
    name, oldest = requirement.split(">=")
    assert name == "msgspec"
    core_holds(tmp_path, sys.executable, f"msgspec=={oldest}")
