"""Settings of all tests and doctests."""

from importlib.util import find_spec

from hypothesis import settings

# A deadline per example measures how busy the machine is, and would fail by chance.
settings.register_profile("molo", deadline=None)
settings.load_profile("molo")

# Doctests of modules whose extra is not installed.
collect_ignore = [] if find_spec("pyarrow") else ["molo/arrow"]
