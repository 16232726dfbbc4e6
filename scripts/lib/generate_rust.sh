#!/usr/bin/env bash
# Generates the Rust messages of clients/rust/src/v1.rs from proto/.
#
#   source scripts/lib/generate_rust.sh; generate_rust FILE    from another script
#   scripts/lib/generate_rust.sh [FILE]                        as a command
#
# The generator in scripts/lib/generate_rust is built once, in .venv/rust-target; its Cargo.lock pins
# its version.

generate_rust() {
    local root out
    root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd) || return 1
    out=${1:-$root/clients/rust/src/v1.rs}

    command -v cargo >/dev/null || {
        echo "generate_rust: Rust is not installed; install it from https://rustup.rs" >&2
        return 1
    }
    CARGO_TARGET_DIR=$root/.venv/rust-target cargo run --quiet --locked \
        --manifest-path "$root/scripts/lib/generate_rust/Cargo.toml" -- "$root/proto" >"$out.new" || {
        rm -f "$out.new"
        echo "generate_rust: the generator failed; is the registry of cargo reachable?" >&2
        return 1
    }
    mv "$out.new" "$out"
    rustfmt --edition 2021 "$out"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    set -euo pipefail
    generate_rust "$@"
fi
