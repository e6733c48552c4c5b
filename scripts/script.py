"""What scripts that people start have in common: how they end, and that the program is there."""

import os
import sys
from pathlib import Path

USAGE, NOTHING = 2, 6  # exit codes: docs/command-line.md
INTERRUPTED, UNREAD = 130, 141  # as shells say it of SIGINT and SIGPIPE


def fail(message, code=USAGE):
    print(f"{Path(sys.argv[0]).name}: {message}", file=sys.stderr)
    sys.exit(code)


def program(path):
    """The path of a program that was built, or the end."""
    if not os.access(path, os.X_OK) or Path(path).is_dir():
        fail(f"{path} is not there: build it first, with scripts/test.sh or cmake")
    return path


def run(main):
    """Ends in the exit code that `main` returns. Ctrl-C and a reader that closes early (`| head`) show no traceback."""
    try:
        try:
            code = main()
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left has nowhere to go
        code = UNREAD
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)
