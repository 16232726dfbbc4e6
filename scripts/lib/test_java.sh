#!/usr/bin/env bash
# Checks and tests the Java client and builds the Java bot. Without Maven or a JDK it prints a notice
# and succeeds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for program in mvn javac; do
    if ! command -v "$program" >/dev/null; then
        echo "$program is not installed: clients/java and bots/java-random are not tested."
        exit 0
    fi
done

version=$(javac -version 2>&1 | sed 's/[^0-9]*\([0-9]*\).*/\1/')
if ((version < 17)); then
    echo "javac is of version $version, older than 17: clients/java and bots/java-random are not tested."
    exit 0
fi

(cd clients/java && mvn -q -B -ntp spotless:check verify)

(
    cd bots/java-random
    ./fetch.sh
    sh -c "$(sed -n 's/^build = "\(.*\)"$/\1/p' bot.toml)"
)
