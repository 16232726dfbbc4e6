#!/usr/bin/env bash
# Builds the echo client; the last line of its output is the command.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$(cd ../../../.. && pwd)/.venv/rust-target}
cargo build --quiet --release --locked
printf '%q\n' "$CARGO_TARGET_DIR/release/echo-client"
