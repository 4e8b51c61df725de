"""The help texts are the reference, and the README quotes them."""

import re

import pytest
from command import ROOT, run

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```text\n\$ molo (.*?)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("arguments", "printed"), BLOCKS, ids=[block[0] for block in BLOCKS])
def test_the_readme_quotes_what_the_command_prints(arguments: str, printed: str) -> None:
    done = run(*arguments.split(), cwd=ROOT)
    assert unwrapped(done.stdout.decode()) == unwrapped(printed)


def unwrapped(text: str) -> str:
    """Take out all white space: where argparse wraps lines differs from release to release."""
    return "".join(text.split())


def test_the_readme_has_the_help_of_every_command() -> None:
    commands = re.findall(r"^    (\w+)  ", run("--help").stdout.decode(), re.MULTILINE)
    assert len(commands) == 5
    quoted = [arguments for arguments, _ in BLOCKS]
    assert {"--help", *(f"{command} --help" for command in commands)} <= set(quoted)
