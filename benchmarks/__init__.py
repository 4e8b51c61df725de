"""The benchmarks of molo: `python -m benchmarks` (extra `bench`); benchmarks/README.md says how."""
