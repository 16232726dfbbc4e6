#!/bin/sh
# Builds the bot from the crates in vendor/, without a network, and leaves its program here.
set -eu
cd "$(dirname "$0")"

command -v cargo >/dev/null || {
    echo "build.sh: Rust is not installed; install it from https://rustup.rs" >&2
    exit 1
}
[ -d vendor ] || {
    echo "build.sh: there is no folder vendor: run ./fetch.sh first, which needs a network" >&2
    exit 1
}
# The compiler's files, some 100 MB, lie where no bot gets a copy of them.
caches="${TMPDIR:-$PWD/.asara-build}/asara-cargo-$(id -u)"
export CARGO_HOME="$caches/home" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$caches/target}"
cargo build --quiet --release --locked --offline \
    --config 'source.crates-io.replace-with = "vendored"' \
    --config 'source.vendored.directory = "vendor"'
cp "$CARGO_TARGET_DIR/release/rust-random" rust-random.new
mv rust-random.new rust-random
