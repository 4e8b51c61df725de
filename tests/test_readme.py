"""The README's Python blocks run as printed, and the paths that it names exist."""

import re
from pathlib import Path

import msgspec
import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PATHS = re.findall(r"\b(?:examples|tests|benchmarks)/[\w./]*", README.read_text(encoding="utf-8"))


def test_every_python_block_runs_in_order() -> None:
    document = Sybil(parsers=[PythonCodeBlockParser()], path=str(ROOT)).parse(README)
    for example in document.examples():
        example.evaluate()
    names = document.namespace
    assert names["frame"] == names["molo"].msgpack.encode(names["history"])
    assert "rust_molo" in names  # of the last block: all of them ran
    [stored] = re.findall(r"```json\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    written = msgspec.json.format(stored.encode(), indent=-1)
    assert written == names["molo"].json.encode(names["history"])


@pytest.mark.parametrize("path", sorted(set(PATHS)))
def test_every_path_that_the_readme_names_exists(path: str) -> None:
    assert (ROOT / path).exists()
