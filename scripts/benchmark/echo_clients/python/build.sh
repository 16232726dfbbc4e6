#!/usr/bin/env bash
# Prints the command line of the bare client of grpcio, which needs no build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
printf 'python %q\n' "$PWD/main.py"
