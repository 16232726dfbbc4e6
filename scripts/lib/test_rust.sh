#!/usr/bin/env bash
# Checks and tests the Rust kit, and fetches and builds the Rust bot. Without Rust it prints a notice
# and succeeds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v cargo >/dev/null; then
    echo "Rust is not installed: clients/rust and bots/rust-random are not tested."
    exit 0
fi
for component in rustfmt clippy-driver; do
    command -v "$component" >/dev/null || {
        echo "There is no $component; with rustup: rustup component add ${component%-driver}" >&2
        exit 1
    }
done

# One folder for all builds, so that each crate is compiled once.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/.venv/rust-target}
manifests=(clients/rust bots/rust-random scripts/lib/generate_rust scripts/benchmark/echo_clients/rust)
for folder in "${manifests[@]}"; do
    cargo fmt --check --manifest-path "$folder/Cargo.toml"
done
# With Clippy as the compiler of the kit: `cargo clippy` would compile all crates once more.
CLIPPY_ARGS=-Dwarnings RUSTC_WORKSPACE_WRAPPER=clippy-driver \
    cargo test --quiet --locked --manifest-path clients/rust/Cargo.toml

# The starter, with the crates that are compiled already. tests/languages/test_new.py builds it as
# its authors do, with those of vendor/, which have other paths.
bots/rust-random/fetch.sh
cargo build --quiet --locked --manifest-path bots/rust-random/Cargo.toml
cp "$CARGO_TARGET_DIR/debug/rust-random" bots/rust-random
