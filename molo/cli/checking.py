"""`molo check`: all problems of all histories of a log, and its bad lines."""

import sys
from collections.abc import Iterator
from functools import partial

from molo.cli.findings import Tell, as_json, as_text, of_fault, of_problem
from molo.cli.options import FINE, FOUND, RULES, Options
from molo.cli.screen import look, open_output, working
from molo.cli.sources import Item, Source, open_source
from molo.cli.tally import Tally, new_tally, number, read_as, sentence, summary, total
from molo.cli.work import Sinks, nowhere, work
from molo.history import Rules
from molo.ingest import STANDARD, Fault, check_record

__all__ = ["check_log"]


def check_log(options: Options) -> int:
    """Run `molo check`; give its exit code."""
    with open_source(options.log, options.source_format) as opened, working(opened.size) as bar:
        source = opened.joined()
        tell: Tell = as_json
        if not options.json:
            tell = partial(as_text, source=source.path, paint=look(sys.stdout).paint)
        job = partial(_check, rules=RULES[options.rules], tell=tell)
        with open_output(STANDARD, bar) as write:
            sinks = Sinks(nowhere, nowhere, write)
            found = total(work(source, job, sinks, options.workers, bar))
            write(summary(source, found) if options.json else _summary(source, found).encode())
    return FOUND if found.problems or found.faults else FINE


def _check(items: Iterator[Item], sinks: Sinks, *, rules: Rules, tell: Tell) -> Tally:
    tally = new_tally("histories", "messages", "with_problems")
    for item in items:
        if isinstance(item, Fault):
            tally.faults[item.code] += 1
            sinks.report(tell(of_fault(item)))
            continue
        problems = check_record(item, rules)
        tally.read["histories"] += 1
        tally.read["messages"] += len(item.messages)
        tally.read["with_problems"] += bool(problems)
        for problem in problems:
            tally.problems[problem.code] += 1
            sinks.report(tell(of_problem(item, problem)))
    return tally


def _summary(source: Source, found: Tally) -> str:
    histories = number(found.read["histories"], "history")
    problems = f"No problems in {histories}"
    if found.problems:
        faulty = f"{found.read['with_problems']:,} of {histories}"
        problems = f"{sentence(found.problems, 'problem')} in {faulty}"
    told = [problems, sentence(found.faults, "bad line"), read_as(source)]
    return "\n" + "".join(f"{fact}.\n" for fact in told if fact)
