"""Settings of all tests and doctests."""

from importlib.util import find_spec

from hypothesis import settings

# A deadline per example measures how busy the machine is, and would fail by chance.
settings.register_profile("thorough", deadline=None)
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=40)
settings.load_profile("quick")  # pytest --hypothesis-profile=thorough for the other

# Doctests of modules whose extra is not installed.
collect_ignore = [] if find_spec("pyarrow") else ["molo/arrow"]
