"""`python -m molo` is the `molo` command."""

from molo.cli import main

raise SystemExit(main())
