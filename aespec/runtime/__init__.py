"""What ships into every bundle: standard library only, Python 3.9 and newer, verbatim and as a whole."""
