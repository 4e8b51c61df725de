"""Those who read a log into a table: one module each, with the same few names.

- `PACKAGES`: the distributions whose versions belong to its figures.
- `FORMAT`: the form of the log that it reads; its lines are objects with an id and `messages`.
- `read(path)`: what is timed. `histories(table)`: the conversations in it, to show that they came
  whole.

A module imports what it measures at its top, so that one that is not installed is noticed there.
"""

TABLES = ("polars", "pandas")
