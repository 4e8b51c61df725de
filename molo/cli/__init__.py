"""The `molo` command: `molo check LOG`, `molo convert LOG OUT`, and what `molo --help` lists.

options    the commands, their arguments and help texts, as tables
command    from arguments to an exit code: every error becomes a line and a code here
ending     what becomes of SIGTERM
sources    logs opened, with what there is to know before they are read
work       a job over a log, in this process or in several
convert, checking, stats, show    the commands
findings   what is told of a log, as text or JSON
plain, fancy    what is shown, without and with the package rich; `fancy` is for terminals
"""

from collections.abc import Sequence

__all__ = ["main"]

_INTERRUPTED = 130  # as a shell has it: 128 and the number of SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: the process's own); return its exit code."""
    try:
        from molo.cli.command import run  # takes a moment, in which one may think better of it

        return run(arguments)
    except KeyboardInterrupt:
        return _INTERRUPTED
