"""`python -m aespec`."""

from aespec.cli import main

main()
