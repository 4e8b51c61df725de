"""From arguments to an exit code: a command runs, and what goes wrong becomes a line and a code."""

from collections.abc import Callable, Mapping, Sequence

from molo.cli.checking import check_log
from molo.cli.convert import convert_log, repair_log
from molo.cli.ending import ending
from molo.cli.options import BAD_USE, FOUND, Command, Options, UsageError, parse
from molo.cli.plain import inline
from molo.cli.screen import say
from molo.cli.show import show_record
from molo.cli.stats import count_log
from molo.errors import MoloError

__all__ = ["run"]

_COMMANDS: Mapping[Command, Callable[[Options], int]] = {
    "check": check_log,
    "convert": convert_log,
    "repair": repair_log,
    "show": show_record,
    "stats": count_log,
}


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: the process's own); return its exit code."""
    options = parse(arguments)
    try:
        with ending():
            return _COMMANDS[options.command](options)
    except MoloError as error:
        return _fail(str(error), FOUND)
    except BrokenPipeError:  # the reader has gone
        return BAD_USE
    except OSError as error:
        return _fail(_told(error), BAD_USE)
    except (ModuleNotFoundError, UsageError) as error:
        return _fail(str(error), BAD_USE)


def _fail(text: str, code: int) -> int:
    say(f"molo: {inline(text)}")
    return code


def _told(error: OSError) -> str:
    """Say what the system refused, and of which file."""
    text = error.strerror or str(error)
    name = error.filename2 or error.filename  # of a renamed file the new one
    return text if name is None else f"{name}: {text}"
