#!/usr/bin/env bash
# Checks and tests the Go client and builds the Go bots. Without Go it prints a notice and succeeds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v go >/dev/null; then
    echo "Go is not installed: clients/go and the Go bots are not tested."
    exit 0
fi

unformatted=$(gofmt -l clients/go bots/go-*/*.go)
if [[ $unformatted ]]; then
    printf 'Not formatted; run gofmt -w on:\n%s\n' "$unformatted" >&2
    exit 1
fi

(cd clients/go && go vet ./... && go test -vet=off -timeout 2m ./...)

# As the build of bot.toml, which has no network.
for bot in go-random go-search; do
    (cd "bots/$bot" && ./fetch.sh && go vet ./... && GOPROXY=off go build -mod=vendor -o "$bot" .)
done
