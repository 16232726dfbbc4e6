#!/bin/sh
# Downloads the crates that the bot needs into vendor/, once: builds have no network.
set -eu
cd "$(dirname "$0")"

command -v cargo >/dev/null || {
    echo "fetch.sh: Rust is not installed; install it from https://rustup.rs" >&2
    exit 1
}
rm -rf vendor
cargo vendor --quiet --locked vendor

# Cargo wants to see every crate of Cargo.lock, but compiles none for Windows on another system.
for crate in vendor/windows*; do
    find "$crate" -mindepth 1 -maxdepth 1 ! -name Cargo.toml ! -name .cargo-checksum.json \
        -exec rm -r {} +
    mkdir "$crate/src"
    : >"$crate/src/lib.rs"
    sed 's/"files":{[^}]*}/"files":{}/' "$crate/.cargo-checksum.json" >"$crate/checksum"
    mv "$crate/checksum" "$crate/.cargo-checksum.json"
done
