"""The commands of `molo` and their arguments: tables, from which the parser and its help are made.

The help texts are the reference; the README quotes them, and a test compares.
"""

import re
from argparse import (
    SUPPRESS,
    Action,
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    RawDescriptionHelpFormatter,
)
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from molo import history
from molo.history import Rules
from molo.history.reasoning import Keep
from molo.ingest import AUTO, FORMATS, STANDARD

__all__ = [
    "BAD_USE",
    "FINE",
    "FOUND",
    "KEPT",
    "PARQUET",
    "RULES",
    "Command",
    "Options",
    "UsageError",
    "parse",
]

Command: TypeAlias = Literal["check", "convert", "repair", "show", "stats"]

FINE, FOUND, BAD_USE = 0, 1, 2
"""The exit codes; `molo --help` says what they mean."""

PARQUET = "parquet"  # as a format: what molo.arrow reads and writes

RULES: Mapping[str, Rules] = {
    name.lower().replace("_", "-"): rules
    for name, rules in vars(history).items()
    if isinstance(rules, Rules)
}
"""The vendors' rules by the names that the command has for them."""

KEPT: Mapping[str, Keep] = {
    "all": "none",
    "all-but-current-turn": "current_turn",
    "all-but-tool-turns": "tool_turns",
}
"""What `strip_reasoning` keeps, by what is stripped."""


class UsageError(Exception):
    """What the parser cannot see: a format that nothing tells, a line that is not there."""


class Options(Struct, frozen=True, kw_only=True):
    """The arguments of a call, parsed. Those that its command does not have keep their default."""

    command: Command
    log: str
    out: str = STANDARD
    line: int | None = None
    id: str | None = None
    source_format: str = AUTO
    target_format: str | None = None
    rules: str = "common"
    repair: str | None = None
    strip_reasoning: str | None = None
    redact: Sequence[re.Pattern[str]] = ()
    rejects: str | None = None
    workers: int = 1
    json: bool = False


def parse(arguments: Sequence[str] | None = None) -> Options:
    """Parse the arguments of a call; None takes those of the process.

    Raises:
        SystemExit: they are wrong (2), or ask for help or the version (0), which has been given.
    """
    return Options(**vars(_parser().parse_args(arguments)))


# --- The tables -----------------------------------------------------------------------------------


class _Argument(NamedTuple):
    name: str  # as it is written
    settings: Mapping[str, Any]  # argparse's


class _Subcommand(NamedTuple):
    summary: str
    description: str
    arguments: tuple[_Argument, ...]


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ArgumentTypeError("a number from 1 on is expected")
    return int(text)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(text)
    except re.error as failure:
        reason = f"no regular expression: {failure}"
    else:
        if not pattern.search(""):
            return pattern
        reason = "the expression matches the empty text, which is everywhere"
    raise ArgumentTypeError(reason)


_LOG = _Argument(
    "log", {"metavar": "LOG", "help": "the file to read; - is standard input; .gz and .zst will do"}
)
_OUT = _Argument(
    "out",
    {
        "metavar": "OUT",
        "help": "the file to write, which is whole or stays as it was; - is standard output; "
        ".json holds one history, .jsonl one a line; .gz and .zst are compressed",
    },
)
_FROM = _Argument(
    "--from",
    {
        "dest": "source_format",
        "metavar": "FORMAT",
        "choices": (AUTO, *FORMATS, PARQUET),
        "help": "format of LOG; by default told from its suffix and first records",
    },
)
_TO = _Argument(
    "--to",
    {
        "dest": "target_format",
        "metavar": "FORMAT",
        "choices": (*FORMATS, PARQUET),
        "help": "format of OUT; by default molo for .json, .jsonl and -, molo-msgpack for "
        ".msgpack, parquet for .parquet",
    },
)
_RULES = _Argument(
    "--rules",
    {
        "metavar": "RULES",
        "choices": RULES,
        "help": "whose rules hold, a name that molo --help lists; by default common, what every "
        "vendor asks for",
    },
)
_REPAIR = _Argument(
    "--repair",
    {
        "metavar": "RULES",
        "choices": RULES,
        "help": "repair the histories for a vendor, and spell them as it does",
    },
)
_STRIP = _Argument(
    "--strip-reasoning",
    {
        "metavar": "POLICY",
        "choices": KEPT,
        "help": f"leave out the reasoning: {', '.join(KEPT)}",
    },
)
_REDACT = _Argument(
    "--redact",
    {
        "metavar": "PATTERN",
        "type": _pattern,
        "action": "append",
        "help": "write [redacted] for what this regular expression of Python matches, in all text "
        "of the messages and in all that stands beside them (ids of calls, names of tools, URLs "
        "and media that are no text stay); may be given several times",
    },
)
_REJECTS = _Argument(
    "--rejects",
    {
        "metavar": "FILE",
        "help": "write the bad lines there, byte for byte (not redacted), and those that OUT "
        "cannot hold (rows of a Parquet file as molo's JSON); without it the former are left out, "
        "and the latter stop the work",
    },
)
_WORKERS = _Argument(
    "--workers",
    {
        "metavar": "N",
        "type": _positive,
        "help": "so many processes share the lines of a file that is not compressed; by default 1",
    },
)
_JSON = _Argument(
    "--json",
    {"action": "store_true", "help": "report in full, as lines of JSON on standard output"},
)
_LINE = _Argument(
    "line",
    {
        "metavar": "LINE",
        "nargs": "?",
        "default": None,  # argparse would parse any other
        "type": _positive,
        "help": "the number of its line (of frames: its own); by default the first",
    },
)
_ID = _Argument(
    "--id",
    {"metavar": "ID", "help": "the id that stands beside the conversation, or that of its answer"},
)
_SHOW_JSON = _Argument(
    "--json", {"action": "store_true", "help": "the history as a line of molo's own JSON"}
)

_SUBCOMMANDS: Mapping[Command, _Subcommand] = {
    "check": _Subcommand(
        "list what is wrong with the histories of a log",
        "List what vendors do not accept in the histories of a log, and its bad lines.",
        (_LOG, _RULES, _FROM, _WORKERS, _JSON),
    ),
    "repair": _Subcommand(
        "mend the histories, and say what was done",
        "Mend the histories of a log so that a vendor accepts them; OUT has the format of LOG.",
        (_LOG, _OUT, _RULES, _FROM, _REJECTS, _WORKERS, _JSON),
    ),
    "convert": _Subcommand(
        "turn a log from one format into another",
        "Turn a log from one format into another, and say what the other cannot hold.",
        (_LOG, _OUT, _FROM, _TO, _STRIP, _REPAIR, _REDACT, _REJECTS, _WORKERS, _JSON),
    ),
    "stats": _Subcommand(
        "count histories, messages, calls and texts",
        "Count what is in a log: histories, messages, calls by tool, reasoning, text, bad lines.",
        (_LOG, _FROM, _WORKERS, _JSON),
    ),
    "show": _Subcommand(
        "show one conversation",
        "Show one conversation of a log, and its problems where they are.",
        (_LOG, _LINE, _ID, _FROM, _SHOW_JSON),
    ),
}

_EPILOG = """\
formats:
  molo, molo-msgpack                  molo's own: JSON, and MessagePack in frames
  openai-chat, openai-responses,      what is sent to a vendor, and logs of that with
    anthropic, gemini                 the answers beside it
  rust-molo, rust-molo-msgpack        those of the Rust crate molo 0.2.2
  parquet                             tables (needs the extra `arrow`)

rules:
  {rules}

exit codes:
  0  all is fine
  1  there are bad lines or problems, or data that the format cannot hold
  2  wrong usage, or a file that cannot be read or written
  129, 130, 143  hung up on, interrupted or terminated; no half file is left"""
_RULES_A_LINE = 6


def _epilog() -> str:
    names = sorted(RULES)
    rows = [names[at : at + _RULES_A_LINE] for at in range(0, len(names), _RULES_A_LINE)]
    return _EPILOG.format(rules=",\n  ".join(", ".join(row) for row in rows))


# --- The parser -----------------------------------------------------------------------------------


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="molo",
        description="Check, repair, convert and look at logs of conversations with LLMs.",
        epilog=_epilog(),
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        default=SUPPRESS,
        help="show program's version number and exit",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for name, row in _SUBCOMMANDS.items():
        command = commands.add_parser(
            name, help=row.summary, description=row.description, allow_abbrev=False
        )
        for argument in row.arguments:
            command.add_argument(argument.name, **_settings(argument))
    return parser


class _Version(Action):
    """argparse's own would have the version looked up at every start."""

    def __call__(self, parser: ArgumentParser, *_: Namespace | Sequence[str] | str | None) -> None:
        from importlib.metadata import version

        print(f"molo {version('molo')}")  # noqa: T201 - it is what was asked for
        parser.exit()


def _settings(argument: _Argument) -> dict[str, Any]:
    """Give argparse's settings; what is not given is left to the defaults of `Options`."""
    return {"default": SUPPRESS, **argument.settings}
