"""Ships as `tests/lib/main.py`: finds the library beside itself, since isolated Python looks nowhere."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from aespec.runtime.main import main

    sys.exit(main(sys.argv[1:]))
