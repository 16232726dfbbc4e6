#!/bin/sh
# Builds build/bot. Another run compiles only what has changed.
set -e
cd "$(dirname "$0")"

command -v cmake >/dev/null || {
    echo "build.sh: CMake is not installed; asara/README.md names what the bot is built with" >&2
    exit 1
}
# CMake does not go on with a folder that was built at another path.
if ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$(pwd -P)" build/CMakeCache.txt 2>/dev/null; then
    rm -rf build
fi
cmake -S . -B build >build.log 2>&1 || {
    cat build.log
    exit 1
}
rm build.log
cmake --build build --parallel 2
