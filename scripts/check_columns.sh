#!/bin/sh
# Checks that no line of documents and source is longer than 120 columns (a tab extends to the next multiple of four).
# Tables in documents are exempt, since they cannot be broken.
set -u
max=120
long=$(git ls-files '*.md' '*.c' '*.h' '*.def' '*.l' '*.y' | while read -r file; do
    [ -e "$file" ] || continue
    expand -t4 "$file" | LC_ALL=C awk -v file="$file" -v max=$max '
        { line = $0; gsub(/[\200-\277]/, "", line) } # a character of UTF-8 is one column
        file ~ /\.md$/ && /^\|/ { next }
        length(line) > max { printf "lint: %s:%d: %d columns, at most %d\n", file, FNR, length(line), max }'
done)
[ -z "$long" ] && echo "lint: no line has more than $max columns" && exit 0
printf '%s\n' "$long" >&2
exit 1
