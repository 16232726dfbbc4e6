#!/bin/sh
# Downloads the packages of go.mod into vendor/, for builds without network.
set -eu
cd "$(dirname "$0")"
exec go mod vendor
