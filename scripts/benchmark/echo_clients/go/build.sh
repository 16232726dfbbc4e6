#!/usr/bin/env bash
# Builds the bare client of grpc-go, and prints its command line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
go build -o echo . >&2
printf '%q\n' "$PWD/echo"
