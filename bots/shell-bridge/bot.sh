#!/bin/sh
# Plays random legal actions; jq reads the JSON.
jq --unbuffered -r 'select(.type == "decision") | .random_index' |
while read -r index; do
    printf '%s\n' "$index"
done
