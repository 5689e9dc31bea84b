#!/bin/sh
# Checks that no folder uses a function or variable of a folder above it, by the order of scripts/check_includes.sh.
# This finds declarations copied by hand, and headers in a folder that is too low.
# usage: check_symbols.sh BUILD, a folder with objects (make objects)
set -u
cd "$(dirname "$0")/.." || exit 2
build=${1:?usage: check_symbols.sh BUILD}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# Lines "folder allowed-folder", from the order of includes; an allowed header allows the symbols of its folder.
scripts/check_includes.sh --order | awk -F: '
    { n = split($2, below, " ")
      for (i = 1; i <= n; i++) {
          room = below[i]
          if (room ~ /\.def$/) continue # has no symbols
          if (room ~ /\.h$/) sub(/\/[^\/]*$/, "", room)
          print $1, room
      } }' >"$tmp/order"
for folder in mechanisms/*/; do # for the list of mechanisms
    echo "mechanisms ${folder%/}"
done >>"$tmp/order"
# isa refers to the tables of rows in isa/exec by name (isa/rows.c, isa/levels.c).
echo 'isa isa/exec' >>"$tmp/order"
[ -s "$tmp/order" ] || { echo 'lint: no order of rooms was found in scripts/check_includes.sh' >&2; exit 1; }
(cd "$build" && find ptx isa frontend timing mechanisms host benchmarks reproduce -name '*.o' ! -path 'host/cuda/redirect/*' 2>/dev/null) |
    sort | while read -r object; do # skips objects without a source file
    case $object in
    ptx/parse.tab.o | ptx/scan.yy.o) echo "$object" ;;
    *) [ -e "${object%.o}.c" ] && echo "$object" ;;
    esac
done >"$tmp/objects"
[ -s "$tmp/objects" ] || { echo "lint: $build holds no objects" >&2; exit 1; }
(cd "$build" && xargs nm -A <"$tmp/objects") | awk '
    function room(f) { sub(/\/[^\/]*$/, "", f); return f }
    FILENAME == ARGV[1] { may[$1, $2] = 1; next }
    { f = $1; sub(/:.*/, "", f) }
    $2 == "U" { if (!((f, $3) in wants)) { wants[f, $3] = 1; from[++n] = f; what[n] = $3 } next }
    $3 ~ /^[TDRBVC]$/ { defined[$4] = f }
    $2 ~ /^[TDRBVC]$/ { defined[$3] = f }
    END {
        for (i = 1; i <= n; i++) {
            if (!(what[i] in defined)) continue
            a = room(from[i]); b = room(defined[what[i]])
            if (a == b || (a, b) in may) continue
            print "lint: " from[i] " uses " what[i] " of " defined[what[i]] ": " b " is not below " a
        }
    }' "$tmp/order" - | sed 's/\.o\([: ]\)/.c\1/g' | sort >"$tmp/wrong"
[ ! -s "$tmp/wrong" ] && echo 'lint: no room uses a symbol of a room above it' && exit 0
cat "$tmp/wrong" >&2
exit 1
