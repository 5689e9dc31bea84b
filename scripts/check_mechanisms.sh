#!/bin/sh
# Checks that code of a mechanism stays in its folder. scripts/mechanisms_outside.txt lists all names of mechanisms in the
# rest of the product's code, and may only shrink. Identifiers, their parts and keys count; comments, sentences and
# includes do not. "stride" and "fold" are common words, so only keys in strings count. "spe", the baseline, is allowed,
# and so are "turns" and "large", which are common words in keys, too. A mechanism's options in struct sm_cfg have no prefix of its
# name, so their fields are searched.
# Strings of isa/ are words of PTX and mnemonics, not keys. host/cuda includes no header of Heddle but host/heddle.h, so
# its identifiers name no mechanism. si_addr and the like are fields of POSIX's siginfo_t.
# usage: check_mechanisms.sh [--list]     --list prints the present names in the format of the list
set -u
list=scripts/mechanisms_outside.txt
names=$(ls -d mechanisms/*/ | sed 's,^mechanisms/,,; s,/$,,' | grep -vxE 'spe|turns|large')
found=$(git ls-files -co --exclude-standard '*.c' '*.h' '*.def' '*.l' '*.y' | grep -E '^(ptx|isa|frontend|timing|mechanisms|host)/' |
    grep -v '^mechanisms/all\.def$' | while read -r file; do
    [ -e "$file" ] && awk -v names="$names" -v file="$file" '
        function look(where, in_keys,    i, n, word) {
            n = split(where, word, /[^a-z0-9]+/)
            for (i = 1; i <= n; i++)
                if (word[i] in is && word[i] != own && !(word[i] in seen) && (in_keys || word[i] !~ /^(stride|fold)$/)) {
                    seen[word[i]] = 1
                    print file, word[i]
                }
        }
        BEGIN { n = split(names, list, /[ \n]+/); for (i = 1; i <= n; i++) is[list[i]] = 1 }
        /^#include/ { next }
        { text = text $0 "\n" }
        END {
            own = file; if (!sub(/^mechanisms\//, "", own) || !sub(/\/.*/, "", own)) own = ""
            gsub(/\047\\?"\047/, "0", text)
            while (match(text, /\/\*|\/\/|"/)) {
                code = code substr(text, 1, RSTART - 1) " "
                mark = substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH)
                if (mark == "//") { if (!(at = index(text, "\n"))) break; text = substr(text, at) }
                else if (mark == "/*") { if (!(at = index(text, "*/"))) break; text = substr(text, at + 2) }
                else {
                    match(text, /^([^"\\]|\\.)*"/); string = substr(text, 1, RLENGTH - 1); text = substr(text, RLENGTH + 1)
                    if (string !~ / /) { if (file !~ /^isa\//) code = code string; keys = keys " " string }
                }
            }
            code = tolower(code text)
            gsub(/[.>]si_[a-z]+/, "", code)
            if (file !~ /^host\/cuda\//) look(code, 0)
            if (file !~ /^isa\//) look(keys, 1)
        }' "$file"
done | LC_ALL=C sort -u)
fields=$(for def in mechanisms/*/*.def; do
    sed -n "/^#ifdef DECLARED_SM_OPTIONS/,/^#endif/s,^OPT_[A-Z0-9]*(\\([a-z0-9_]*\\)\,.*,$(dirname "$def") \\1,p" "$def"
done | while read -r folder field; do
    git grep --untracked -lE "(\\.|->)$field\\b" -- ptx isa frontend timing mechanisms host ":!$folder" | sed "s,\$, ${folder#mechanisms/},"
done | LC_ALL=C sort -u)
found=$(printf '%s\n' "$found" "$fields" | sed '/^$/d' | LC_ALL=C sort -u)
[ "${1-}" = --list ] && printf '%s\n' "$found" && exit 0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
printf '%s\n' "$found" >"$tmp/found"
sed 's/ *#.*//; /^$/d' "$list" | LC_ALL=C sort -u >"$tmp/listed"
wrong=$({
    LC_ALL=C comm -23 "$tmp/found" "$tmp/listed" | sed "s/\(.*\) \(.*\)/lint: \1 names the mechanism '\2', which belongs in mechanisms\/\2/"
    LC_ALL=C comm -13 "$tmp/found" "$tmp/listed" | sed "s,\(.*\) \(.*\),lint: $list: \1 does not name '\2' any more: take the line out,"
})
[ -z "$wrong" ] && echo "lint: mechanisms are in their folders, with $(grep -c . "$tmp/listed") exceptions" && exit 0
printf '%s\n' "$wrong" >&2
exit 1
