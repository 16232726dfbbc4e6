#!/usr/bin/env bash
# Bundles the bare client of grpc-js with the starter's libraries, and prints its command line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
starter=$(realpath ../../../../bots/typescript-random)
if [[ ! -d $starter/node_modules ]]; then
    "$starter/fetch.sh" >&2
fi
NODE_PATH=$starter/node_modules "$starter/node_modules/.bin/esbuild" echo.js --bundle \
    --platform=node --target=node20 --external:@grpc/proto-loader --outfile=build/echo.js \
    --log-level=warning
printf 'node %q\n' "$PWD/build/echo.js"
