"""``python -m dynmargin`` is the command ``dynmargin``, and so is this function."""

import sys

INTERRUPTED = 130  # as in cli/options.py, which is not loaded yet


def main() -> int:
    """Load the command and run it; Ctrl-C ends it quietly from the start."""
    try:
        from .cli.main import main as run

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
