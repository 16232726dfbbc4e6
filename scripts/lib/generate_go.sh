#!/usr/bin/env bash
# Generates the Go messages and services of clients/go/asarav1 from proto/.
#
#   source scripts/lib/generate_go.sh; generate_go DIRECTORY    from another script
#   scripts/lib/generate_go.sh [DIRECTORY]                      as a command
#
# The Go files of DIRECTORY (default: clients/go/asarav1) are replaced. The two plugins are built
# once, in exactly these versions, in .venv/go-bin.

PROTOC_GEN_GO_VERSION=1.36.6
PROTOC_GEN_GO_GRPC_VERSION=1.5.1

# Builds a plugin unless this version is installed.
_go_plugin() {
    local bin=$1 module=$2 version=$3 name found
    name=$(basename "$module")
    found=$("$bin/$name" --version 2>/dev/null) || found=
    if [[ ${found##*[ v]} == "$version" ]]; then
        return 0
    fi
    GOBIN=$bin go install "$module@v$version" || {
        echo "generate_go: cannot build $name $version; is the Go module proxy reachable?" >&2
        return 1
    }
}

generate_go() {
    local root python bin out
    root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd) || return 1
    python=$root/.venv/bin/python
    bin=$root/.venv/go-bin
    out=${1:-$root/clients/go/asarav1}

    command -v go >/dev/null || {
        echo "generate_go: Go is not installed; install it from https://go.dev/dl" >&2
        return 1
    }
    "$python" -c 'import grpc_tools' 2>/dev/null || {
        echo "generate_go: $python lacks grpc_tools; run: $python -m pip install -e '.[dev]'" >&2
        return 1
    }
    mkdir -p "$bin" "$out" || return 1
    out=$(cd "$out" && pwd) || return 1
    _go_plugin "$bin" google.golang.org/protobuf/cmd/protoc-gen-go \
        "$PROTOC_GEN_GO_VERSION" || return 1
    _go_plugin "$bin" google.golang.org/grpc/cmd/protoc-gen-go-grpc \
        "$PROTOC_GEN_GO_GRPC_VERSION" || return 1

    rm -f "$out"/*.pb.go
    (
        cd "$root/proto" &&
            "$python" -m grpc_tools.protoc -I . \
                --plugin="protoc-gen-go=$bin/protoc-gen-go" \
                --plugin="protoc-gen-go-grpc=$bin/protoc-gen-go-grpc" \
                --go_out="$out" --go_opt=module=asara/asarav1 \
                --go-grpc_out="$out" --go-grpc_opt=module=asara/asarav1 \
                asara/v1/*.proto
    )
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    set -euo pipefail
    generate_go "$@"
fi
