"""`import molo` is light, and gives the names that it says."""

import inspect
import subprocess
import sys
import types

import pytest

import molo
from molo import errors, json, message, msgpack


def modules_after(statement: str) -> set[str]:
    script = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def test_import_molo_loads_the_data_model_the_codecs_and_history_only():
    loaded = {name.split(".")[1] for name in modules_after("import molo") if name[:5] == "molo."}
    assert loaded == {"errors", "message", "json", "msgpack", "history"}


@pytest.mark.parametrize("name", ["asyncio", "argparse", "socket", "json", "subprocess", "logging"])
def test_import_molo_does_not_load(name):
    assert name not in modules_after("import molo")


@pytest.mark.parametrize(
    "name",
    ["molo.dialects.gemini", "molo.dialects.rust_molo", "multiprocessing", "importlib.metadata"],
)
def test_the_command_does_not_load_before_it_is_needed(name):
    assert name not in modules_after("import molo.cli.command")


def test_all_holds_every_public_name_and_each_once():
    public = {name for name in vars(molo) if not name.startswith("_")}
    submodules = {
        name
        for name in public - set(molo.__all__)
        if isinstance(getattr(molo, name), types.ModuleType)
    }
    assert set(molo.__all__) == public - submodules
    assert len(molo.__all__) == len(set(molo.__all__))


def test_star_import_gives_all():
    names: dict[str, object] = {}
    exec("from molo import *", names)
    assert set(molo.__all__) <= set(names)


@pytest.mark.parametrize("module", [message, errors])
def test_molo_re_exports_what_the_model_and_the_errors_offer(module):
    assert set(module.__all__) <= set(molo.__all__)
    assert all(getattr(molo, name) is getattr(module, name) for name in module.__all__)


def test_the_twins_have_the_same_names_and_signatures():
    shared = msgpack.__all__
    assert set(json.__all__) == {*shared, "from_builtins", "to_builtins", "schema"}
    for name in shared:
        ours, theirs = (inspect.signature(getattr(module, name)) for module in (json, msgpack))
        assert list(ours.parameters) == list(theirs.parameters)


@pytest.mark.parametrize("module", [molo, message, errors, json, msgpack])
def test_every_public_name_exists_and_is_documented(module):
    assert module.__doc__
    for name in module.__all__:
        public = getattr(module, name)
        assert not inspect.isfunction(public) or public.__doc__


def test_the_tour_is_a_doctest():
    assert molo.__doc__.count(">>>") > 5
