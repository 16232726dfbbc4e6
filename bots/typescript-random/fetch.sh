#!/bin/sh
# Downloads the libraries into node_modules, once; builds need no network.
set -eu
cd "$(dirname "$0")"
npm ci
