#!/usr/bin/env bash
# Generates the TypeScript messages of clients/typescript/src/gen from proto/.
#
#   source scripts/lib/generate_typescript.sh; generate_typescript DIRECTORY
#   scripts/lib/generate_typescript.sh [DIRECTORY]                      as a command
#
# The generated files of DIRECTORY (default: clients/typescript/src/gen) are replaced. The plugin is
# installed once, in exactly this version, in .venv/node.

PROTOC_GEN_ES_VERSION=2.17.0 # as @bufbuild/protobuf in clients/typescript/package.json

# Installs the plugin unless this version is installed.
_es_plugin() {
    local folder=$1 found
    found=$("$folder/node_modules/.bin/protoc-gen-es" --version 2>/dev/null) || found=
    if [[ ${found##*[ v]} == "$PROTOC_GEN_ES_VERSION" ]]; then
        return 0
    fi
    mkdir -p "$folder" || return 1
    npm install --prefix "$folder" --no-save --no-audit --no-fund --silent \
        "@bufbuild/protoc-gen-es@$PROTOC_GEN_ES_VERSION" || {
        echo "generate_typescript: cannot install protoc-gen-es $PROTOC_GEN_ES_VERSION;" \
            "is the npm registry reachable?" >&2
        return 1
    }
}

generate_typescript() {
    local root python folder out scratch
    root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd) || return 1
    python=$root/.venv/bin/python
    folder=$root/.venv/node
    out=${1:-$root/clients/typescript/src/gen}

    command -v npm >/dev/null || {
        echo "generate_typescript: npm is not installed; install Node.js 20.12 or newer" >&2
        return 1
    }
    "$python" -c 'import grpc_tools' 2>/dev/null || {
        echo "generate_typescript: $python lacks grpc_tools;" \
            "run: $python -m pip install -e '.[dev]'" >&2
        return 1
    }
    _es_plugin "$folder" || return 1
    mkdir -p "$out" || return 1
    scratch=$(mktemp -d) || return 1
    (
        trap 'rm -rf "$scratch"' EXIT
        cd "$root/proto" &&
            "$python" -m grpc_tools.protoc -I . \
                --plugin="protoc-gen-es=$folder/node_modules/.bin/protoc-gen-es" \
                --es_out="$scratch" --es_opt=target=ts,import_extension=js \
                asara/v1/*.proto &&
            rm -f "$out"/*_pb.ts &&
            cp "$scratch"/asara/v1/*_pb.ts "$out"
    )
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    set -euo pipefail
    generate_typescript "$@"
fi
