#!/usr/bin/env bash
# Checks and tests the TypeScript client and builds the TypeScript bot. Without Node.js 20 or newer it
# prints a notice and succeeds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v npm >/dev/null || ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
    echo "Node.js 20 is not installed: clients/typescript and bots/typescript-random are not tested."
    exit 0
fi
export NPM_CONFIG_AUDIT=false NPM_CONFIG_FUND=false NPM_CONFIG_UPDATE_NOTIFIER=false

(cd clients/typescript && npm ci && npm run check && npm test)
(cd bots/typescript-random && ./fetch.sh && npm run check && npm run build)
