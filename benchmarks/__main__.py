"""`python -m benchmarks`: measure, print tables, and write JSON if asked."""

import argparse
from collections.abc import Callable
from pathlib import Path

import msgspec

from benchmarks import (
    arrow,
    codecs,
    dialects,
    floor,
    forms,
    held,
    history,
    ingest,
    ipc,
    jobs,
    peers,
    sizes,
    start,
)
from benchmarks.contenders import CONTENDERS
from benchmarks.measure import pin
from benchmarks.report import Report, Section, environment, lines, verdict

# What a run is made of; each takes the share of the data to use and the number of rounds.
SECTIONS: dict[str, Callable[[float, int], Section]] = {
    "codecs": lambda share, rounds: codecs.run(CONTENDERS, share, rounds),
    "floor": floor.run,
    "forms": forms.run,
    "held": held.run,
    "start": start.run,
    "history": history.cost,
    "peers": peers.run,
    "dialects": dialects.run,
    "growth": lambda share, rounds: history.growth(share, min(rounds, 7)),  # seconds a round
    "ingest": ingest.cost,
    "ipc": ipc.run,
    "sizes": sizes.sizes,
    "arrow": arrow.run,
}
# What takes long, or needs two idle CPUs, and is measured only when it is named.
LONG: dict[str, Callable[[float, int], Section]] = {
    "workers": jobs.workers,
    "sizes-long": sizes.sizes_long,
}


def main() -> None:
    """Run what the command line asks for."""
    asked = _arguments()
    share, rounds = (0.02, 2) if asked.smoke else (1, asked.rounds)
    cpu = pin()
    report = Report(environment(cpu), [])
    print("; ".join(f"{name} {value}" for name, value in report.environment.items()))
    for name in asked.only or SECTIONS:
        section = (SECTIONS | LONG)[name](share, rounds)
        report.sections.append(section)
        judged = [] if asked.smoke else verdict(section)
        print("", *lines(section), *judged, sep="\n", flush=True)
    if asked.json:
        asked.json.write_bytes(msgspec.json.format(msgspec.json.encode(report)))


def _rounds(text: str) -> int:
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError("expected a number of at least 2, for the quartiles")
    return int(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", choices=SECTIONS | LONG, help="sections; default: all short ones"
    )
    parser.add_argument(
        "--rounds", type=_rounds, default=31, help="rounds to measure, at least 2; default: 31"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file")
    parser.add_argument("--smoke", action="store_true", help="a quick pass that judges no time")
    return parser.parse_args()


if __name__ == "__main__":
    main()
