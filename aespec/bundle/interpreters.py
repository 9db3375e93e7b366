"""Where an image's Python is looked for by the scripts that start a checker, an oracle or an example."""

PYTHONS = (
    "/usr/bin/python3",
    "/usr/local/bin/python3",
    "/bin/python3",
    "/opt/python/bin/python3",
)
"""In this order, and by absolute path only: what PATH leads to may be a solver's own. The first is Debian's,
the second that of Docker's official Python images."""
