#!/bin/sh
# Refuses the worst patterns of unclear English in comments, documents and help texts. scripts/english.tsv has the patterns
# and what to write instead; a false alarm is silenced by rewriting the sentence.
#   scripts/check_english.sh [FOLDER...]     of these folders (all)
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
scripts/draw_text.sh 1 1000000000 "$@" >"$tmp/text"
tab=$(printf '\t') found=0
grep -v '^#' scripts/english.tsv >"$tmp/patterns"
while IFS="$tab" read -r pattern advice; do
	cut -f3 "$tmp/text" | grep -nE -- "$pattern" >"$tmp/found" || continue
	cut -d: -f1 "$tmp/found" >"$tmp/lines"
	found=1
	awk -F'\t' -v advice="$advice" 'NR == FNR { hit[$1]; next } FNR in hit { print $1 ": " $3 "\n    write instead: " advice }' "$tmp/lines" "$tmp/text"
done <"$tmp/patterns"
[ "$found" -eq 0 ] && echo 'lint: English has none of the unclear patterns'
