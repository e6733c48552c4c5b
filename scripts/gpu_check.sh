#!/bin/sh
# On a machine with GPUs: proves every kernel there, measures, and judges what is claimed of them, in 8 minutes at most.
# On any other with --dry-run: builds, and packs what a machine with a GPU needs. gpu_check.py says how; --help prints it.
exec /usr/bin/env python3 -B "$(dirname "$0")/gpu_check.py" "$@"
