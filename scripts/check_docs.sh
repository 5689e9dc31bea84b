#!/bin/sh
# Checks that documents are true: generated pages equal the program's output, and files, functions, options and
# statistics named in documents exist. usage: check_docs.sh HEDDLE [--update]
set -u
heddle=$1
update=${2:-}
failed=0
page() { # FILE, heddle arguments
    file=$1
    shift
    if [ "$update" = --update ]; then
        "$heddle" "$@" >"$file"
    elif ! "$heddle" "$@" | cmp -s - "$file"; then
        echo "lint: $file is out of date; run: make docs" >&2
        failed=1
    fi
}
# The page of CUDA functions; with the library, also checks that it exports exactly these. Sanitizer builds have none.
functions() {
    library=$(dirname "$heddle")/cuda/libheddle-cuda.so
    [ -e "$library" ] || library=
    scripts/list_cuda.sh $library
}
if [ "$update" = --update ]; then
    functions >docs/cuda-functions.md
elif ! functions | cmp -s - docs/cuda-functions.md; then
    echo 'lint: docs/cuda-functions.md is out of date; run: make docs' >&2
    failed=1
fi
page docs/instructions.md list instructions --markdown
page docs/options.md list options --markdown
page docs/statistics-table.md list statistics --markdown
[ "$update" = --update ] && exit 0

# Valid names: files, keys of options and statistics, words of the source.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
git ls-files --cached --others --exclude-standard >"$tmp/files"
{ "$heddle" list options --csv; "$heddle" list statistics --csv; } | cut -d, -f1 | tr -d '"' >"$tmp/keys"
sed -n '/\.\([chly]\|def\|ptx\|cu\|cfg\|tsv\)$/p' "$tmp/files" | xargs cat |
    tr -cs 'A-Za-z0-9_' '\n' | sort -u >"$tmp/words"

# Each input line has a document and a word in backticks from it. Rules:
# - a slash and a known suffix: a file (except in build/); a suffix without a slash: the name of any file
# - unit.name, where some key begins with this unit: a key
# - a_b or a_b(): a word of the source
# Exempt are placeholders (capitals, <name>, *), and gpgpu_...: options of the reference simulator.
check_names() {
    awk -v tmp="$tmp" '
        BEGIN {
            while ((getline line < (tmp "/files")) > 0) { file[line]; sub(/.*\//, "", line); base[line] }
            while ((getline line < (tmp "/keys")) > 0) { key[line]; sub(/\..*/, "", line); unit[line] }
            while ((getline line < (tmp "/words")) > 0) word[line]
            delete unit["tex"] # also a prefix of instructions: tex.level
        }
        function missing(what) { printf "lint: %s names %s, which does not exist\n", $1, what }
        {
            name = $2
            stem = name
            sub(/\(\)$/, "", stem)
            source = name ~ /\.([chly]|def|md|ptx|cu|cfg|sh|awk|svg|txt|tsv)$/
            if (name ~ /[^A-Za-z0-9_.\/()-]/ || name ~ /^build\// || name ~ /^[A-Z]+$/ || name ~ /(^|\/)\./) next
            if (name ~ /^gpgpu_/) next
            if (name ~ /\// && source) { if (!(name in file)) missing(name) }
            else if (source) { if (!(name in base)) missing(name) }
            else if (name ~ /^[a-z0-9_]+(\.[a-z0-9_]+)+$/) {
                split(name, part, ".")
                if ((part[1] in unit) && !(name in key)) missing("the option or statistic " name)
            } else if (stem ~ /^[a-z][a-z0-9]*_[a-z0-9_]+$/ && !(stem in word)) missing("the word " name)
        }'
}
names=$(for document in $(grep '^\(README\|CONTRIBUTING\|docs/[^/]*\|scripts/.*\|test/.*\)\.md$' "$tmp/files"); do
    # Without code blocks; lines are joined, since a span may continue on the next line.
    sed '/^    /d; /^```/,/^```/d' "$document" | tr '\n' ' ' >"$tmp/prose"
    grep -o '`[^`]*`' "$tmp/prose" | tr -d '`' | tr ' ' '\n' | sort -u | sed "s|^|$document |" | check_names
    grep -oE '`[^` ]+\.[ch]`,? \(?[0-9]+ lines' "$tmp/prose" | tr -d '`,(' | while read -r file lines _; do
        [ ! -e "$file" ] || [ "$(wc -l <"$file")" = "$lines" ] ||
            echo "lint: $document says that $file has $lines lines; it has $(wc -l <"$file")"
    done
    folder=$(dirname "$document")
    grep -o '](\([^):]*\))' "$tmp/prose" | sed 's/^](//; s/)$//; s/#.*//' | while read -r link; do
        [ -z "$link" ] || [ -e "$folder/$link" ] || echo "lint: $document links to $link, which does not exist"
    done
done)
[ -z "$names" ] || { printf '%s\n' "$names" >&2; failed=1; }
# The head of compiled PTX must equal the head of its source.
for ptx in $(grep -l '^// Compiled by scripts/compile_kernels.sh' kernels/*.ptx); do
    source=${ptx%.ptx}.cu
    sed -n '/^\/\//!q; p' "$source" >"$tmp/head"
    if ! head -n "$(wc -l <"$tmp/head")" "$ptx" | cmp -s - "$tmp/head"; then
        echo "lint: $ptx is older than the head of $source; run: scripts/compile_kernels.sh" >&2
        failed=1
    fi
done
[ $failed = 0 ] && echo 'lint: documents are up to date, and name what exists'
exit $failed
