#!/bin/sh
# Puts the libraries of pom.xml into lib/, because builds have no network. Needs Maven.
set -e
cd "$(dirname "$0")"
mvn -q -B -ntp -f ../../clients/java/pom.xml -DskipTests install clean
rm -rf lib
mvn -q -B -ntp dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=lib
