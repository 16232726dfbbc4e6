#!/usr/bin/env bash
# Checks and tests the C++ client and builds the C++ bot. If a tool or library is missing it says so,
# and succeeds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

missing=()
for tool in c++ cmake protoc grpc_cpp_plugin pkg-config clang-format clang-tidy; do
    command -v "$tool" >/dev/null || missing+=("$tool")
done
for library in grpc++ protobuf openssl gtest; do
    pkg-config --exists "$library" 2>/dev/null || missing+=("$library")
done
if ((${#missing[@]})); then
    echo "${missing[*]} not installed: clients/cpp and bots/cpp-random are not tested."
    exit 0
fi

mapfile -t sources < <(git ls-files 'clients/cpp/*.[ch]pp' 'bots/cpp-random/*.cpp' \
    'scripts/benchmark/echo_clients/cpp/*.cpp')
clang-format --style=file:clients/cpp/.clang-format --dry-run --Werror "${sources[@]}"

build=.venv/cpp # outside the kit, whose folder `asara new` copies
cmake -S clients/cpp -B "$build" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all"
cmake --build "$build" --parallel "$(getconf _NPROCESSORS_ONLN)"
ctest --test-dir "$build" --output-on-failure
# The piece in which the kit is compiled; it includes its files.
clang-tidy --quiet -p "$build" --config-file=clients/cpp/.clang-tidy \
    --checks=-bugprone-suspicious-include "$build"/CMakeFiles/asara.dir/Unity/*.cxx

sh bots/cpp-random/build.sh
