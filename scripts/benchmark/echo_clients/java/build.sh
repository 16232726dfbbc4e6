#!/usr/bin/env bash
# Builds the bare client of grpc-java, and prints its command line, which has the starter's options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
kit=$(realpath ../../../../clients/java)
if [[ ! -d build/lib ]]; then
    mvn -q -B -ntp -f "$kit/pom.xml" dependency:copy-dependencies \
        -DincludeScope=runtime -DoutputDirectory="$PWD/build/lib" >&2
fi
if [[ ! build/classes/asara/Echo.class -nt asara/Echo.java ]]; then
    javac --release 17 -proc:none -d build/classes -cp 'build/lib/*' \
        -sourcepath ".:$kit/src/main/java" asara/Echo.java
fi
printf 'java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx256m -cp %q asara.Echo\n' \
    "$PWD/build/classes:$PWD/build/lib/*"
