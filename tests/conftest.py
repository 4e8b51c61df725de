"""Settings of all property tests."""

from hypothesis import settings

# A deadline per example measures how busy the machine is, and would fail by chance.
settings.register_profile("molo", deadline=None)
settings.load_profile("molo")
