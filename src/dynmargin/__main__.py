"""``python -m dynmargin`` is the command ``dynmargin``."""

import sys

from .cli.main import main

if __name__ == "__main__":
    sys.exit(main())
