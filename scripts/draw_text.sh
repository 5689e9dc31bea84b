#!/bin/sh
# Draws comments and sentences at random, to be marked as clear or unclear by someone who did not write them.
#   scripts/draw_text.sh SEED [COUNT [FOLDER...]]     COUNT comments and COUNT sentences (100) of the folders (all)
# Prints lines "place<tab>kind<tab>text". The same seed and tree give the same lines. Marks are kept in scripts/marks.tsv.
set -eu
[ $# -ge 1 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
seed=$1 count=${2:-100}
shift; [ $# -eq 0 ] || shift
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Comments of C sources with at least five words, one a line: "file:line<tab>comment<tab>text".
comments() {
	git ls-files -- "$@" | grep -E '\.(c|h|def|l|y)$' | grep -v -e '^test/cuda/' -e '^test/compiled/' | tr '\n' '\0' |
		xargs -0 awk '
		FNR == 1 { inside = 0 }
		{
			line = $0
			while (line != "") {
				if (!inside) {
					# "/*" in a string begins no comment
					while ((at = index(line, "/*")) && (quote = index(line, "\"")) && quote < at &&
					       match(substr(line, quote), /^"([^"\\]|\\.)*"/))
						line = substr(line, quote + RLENGTH)
					if (!at) break
					line = substr(line, at + 2); inside = 1; text = ""; from = FNR
				}
				end = index(line, "*/")
				part = end ? substr(line, 1, end - 1) : line
				sub(/^[ \t]*\*?[ \t]*/, "", part)
				text = text (text == "" ? "" : " ") part
				if (!end) break
				line = substr(line, end + 2); inside = 0
				gsub(/[ \t\\]+/, " ", text)
				if (split(text, words, " ") >= 5) print FILENAME ":" from "\tcomment\t" text
			}
		}'
}

# Sentences of documents and help texts with at least five words, outside of code, tables and headings.
sentences() {
	git ls-files -- "$@" | grep -E '(\.md|host/cli/help/.*\.txt)$' | tr '\n' '\0' | xargs -0 awk '
		function flush(   n, parts, i, text) {
			gsub(/[ \t]+/, " ", paragraph)
			n = split(paragraph, parts, /\. +/)
			for (i = 1; i <= n; i++) {
				text = parts[i]
				if (split(text, words, " ") >= 5) print place "\tsentence\t" text (i < n ? "." : "")
			}
			paragraph = ""
		}
		FNR == 1 { if (paragraph != "") flush(); code = 0 }
		/^```/ { code = !code; next }
		code || /^    / || /^\t/ || /^[ ]*$/ || /^#/ || /^\|/ { if (paragraph != "") flush(); next }
		/^ *[-*] / || /^[0-9]+\. / { if (paragraph != "") flush() }
		{ if (paragraph == "") place = FILENAME ":" FNR; sub(/^[ ]*([-*]|[0-9]+\.) /, ""); paragraph = paragraph " " $0 }
		END { if (paragraph != "") flush() }'
}

# `count` lines of the file in an order that the seed gives: Fisher and Yates, with the generator of Park and Miller.
draw() {
	awk -v seed="$seed" -v count="$count" '
		{ line[NR] = $0 }
		END {
			x = seed % 2147483646 + 1
			for (i = 0; i < 10; i++) x = x * 16807 % 2147483647
			for (i = 1; i <= count && i <= NR; i++) {
				x = x * 16807 % 2147483647
				j = i + x % (NR - i + 1)
				t = line[i]; line[i] = line[j]; line[j] = t
				print line[i]
			}
		}' "$1"
}

comments "$@" > "$tmp/comments"
sentences "$@" > "$tmp/sentences"
draw "$tmp/comments"
draw "$tmp/sentences"
