#!/bin/sh
# Lists the CUDA functions that Heddle provides, from the sources of host/cuda, as a page of Markdown. usage: list_cuda.sh
# [LIBRARY]. With the built library, also checks that it exports exactly these. Run it in the root folder.
set -u
library=${1:-}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# Prints lines "name file".
for f in host/cuda/core/*.c host/cuda/runtime/*.c host/cuda/driver/*.c; do
    {
        grep -ohE 'CUDA_API [^(]*\(' "$f" | sed 's/($//; s/.*[ *]//'
        grep -ohE '^SAME(_FREE)?\([A-Za-z0-9_]+' "$f" | sed 's/.*(//'
    } | grep -E '^(__)?cu' | grep -v '^name$' | sort -u | while read -r name; do
        case $name in
        *'##bits'*) ;;
        *) echo "$name $f" ;;
        esac
    done
done >"$tmp/all"
tr -s '\n ' ' ' <host/cuda/functions.def | grep -oE 'BOTH\([A-Z_]+, \w+, [A-Z_]+, \w+' |
    sed 's,.*(\w*\, \(\w*\)\, \w*\, \(\w*\),\1 host/cuda/functions.def\n\2 host/cuda/functions.def,' >>"$tmp/all"
for bits in 8 16 32; do # FILL() of driver_memory.c
    for name in cuMemsetD${bits}_v2 cuMemsetD${bits}Async cuMemsetD2D${bits}_v2 cuMemsetD2D${bits}Async; do
        echo "$name host/cuda/driver/driver_memory.c"
    done
done >>"$tmp/all"
grep -v '^cuMemsetD[ 2]' "$tmp/all" >"$tmp/rest"
grep '^cuMemsetD[0-9A-Z]*[_A]' "$tmp/all" | sort -u >>"$tmp/rest"
sort -u "$tmp/rest" >"$tmp/functions"

table() { # prefix of names, heading
    echo
    echo "## $2"
    echo
    echo '| file | functions |'
    echo '|---|---|'
    cut -d' ' -f2 "$tmp/functions" | sort -u | while read -r f; do
        names=$(awk -v f="$f" '$2 == f {print $1}' "$tmp/functions" | grep -E "$1" | sed 's/.*/`&`/' | paste -sd, - | sed 's/,/, /g')
        [ -z "$names" ] || echo "| \`$f\` | $names |"
    done
}
refused() { sed -n 's/^MISSING(\(.*\))$/\1/p' "$1" | wc -l; }
cat <<END
# Functions of CUDA

What programs find in \`libcudart.so\` and \`libcuda.so.1\` (written by \`scripts/list_cuda.sh\`; [cuda.md](cuda.md) says
what they do). A function that both interfaces have in the same form is a row of \`host/cuda/functions.def\`.
\`host/cuda/runtime/runtime_also.def\` and \`host/cuda/driver/driver_also.def\` list other names of functions: for programs
with a default stream for each thread, and for other versions of CUDA. Heddle refuses
$(refused host/cuda/runtime/runtime_missing.def) more functions of the runtime and $(refused host/cuda/driver/driver_missing.def) of the driver, with a message
(\`host/cuda/runtime/runtime_missing.def\`, \`host/cuda/driver/driver_missing.def\`).
END
table '^(__)?cuda' 'The runtime'
table '^cu[A-Z]' 'The driver'

[ -n "$library" ] || exit 0
{
    cut -d' ' -f1 "$tmp/functions"
    sed -n 's/^MISSING(\(.*\))$/\1/p' host/cuda/runtime/runtime_missing.def host/cuda/driver/driver_missing.def
    sed -n 's/^ALSO(\([^,]*\),.*/\1/p; s/^PER_THREAD(\(.*\), .)$/\1_ptsz/p; s/^OWN_STREAM(\(.*\))$/\1_ptsz/p; s/^[A-Z_]*_BLOCKING(\(.*\))$/\1_ptds/p' \
        host/cuda/runtime/runtime_also.def host/cuda/driver/driver_also.def
} | sort -u >"$tmp/said"
nm -D --defined-only "$library" | awk '{sub(/@.*/, "", $3); print $3}' | grep -E '^(__)?cu' | sort -u >"$tmp/there"
diff "$tmp/said" "$tmp/there" | sed -n 's/^< \(.*\)/list_cuda: \1 is in the sources and not in the library/p; s/^> \(.*\)/list_cuda: \1 is in the library and not found in the sources/p' >&2
cmp -s "$tmp/said" "$tmp/there"
