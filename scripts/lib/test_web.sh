#!/usr/bin/env bash
# Checks and tests the page, and compares its build with the one in the package. Without Node.js 20.19
# or newer it prints a notice and succeeds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

node_version='let [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)'
if ! command -v npm >/dev/null || ! node -e "$node_version"; then
    echo "Node.js 20.19 is not installed: clients/web is not tested."
    exit 0
fi
scripts/web --check
cd clients/web
npm run check
npm test
