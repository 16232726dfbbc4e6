#!/usr/bin/env bash
# Builds the bare client of grpc++, and prints its command line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
mkdir -p build
if [[ ! build/echo -nt main.cpp ]]; then
    read -ra libraries < <(pkg-config --cflags --libs grpc++)
    "${CXX:-c++}" -std=c++20 -O2 -s main.cpp -o build/echo "${libraries[@]}"
fi
printf '%q\n' "$PWD/build/echo"
