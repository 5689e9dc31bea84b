#!/bin/sh
# Checks that the files of a folder form no circle: if a.c uses a symbol of b.c, then b.c uses no symbol of a.c, neither
# directly nor through other files.
# usage: check_circles.sh BUILD [--uses]    BUILD: a folder with objects (make objects); --uses also names the symbols
set -u
cd "$(dirname "$0")/.." || exit 2
build=${1:?usage: check_circles.sh BUILD [--uses]}
uses=${2:-}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
(cd "$build" && find ptx isa frontend timing mechanisms host benchmarks reproduce -name '*.o' ! -path 'host/cuda/redirect/*' 2>/dev/null) |
    sort | while read -r object; do # an old build leaves objects without a source
    case $object in
    ptx/parse.tab.o | ptx/scan.yy.o) echo "$object" ;;
    *) [ -e "${object%.o}.c" ] && echo "$object" ;;
    esac
done >"$tmp/objects"
[ -s "$tmp/objects" ] || { echo "lint: $build holds no objects" >&2; exit 1; }
# Lines "user definer symbol", where both files are in the same folder.
(cd "$build" && xargs nm -A <"$tmp/objects") | awk '
    function room(f) { sub(/\/[^\/]*$/, "", f); return f }
    { f = $1; sub(/\.o:.*/, ".c", f) }
    $2 == "U" { from[++n] = f; what[n] = $3; next }
    $3 ~ /^[TDRBVC]$/ { defined[$4] = f }
    $2 ~ /^[TDRBVC]$/ { defined[$3] = f }
    END {
        for (i = 1; i <= n; i++) {
            if (!(what[i] in defined)) continue
            to = defined[what[i]]
            if (to != from[i] && room(to) == room(from[i])) print from[i], to, what[i]
        }
    }' | sort -u >"$tmp/uses"
# Two files are in one circle if each reaches the other. A line for each circle: its files in order.
awk '
    !($1 in seen) { seen[$1] = 1; file[++n] = $1 }
    { if (!(($1, $2) in edge)) { edge[$1, $2] = 1; next_of[$1] = next_of[$1] " " $2 } }
    function visit(start,    queue, head, tail, k, m, to) {
        head = 1; tail = 1; queue[1] = start
        for (; head <= tail; head++) {
            m = split(next_of[queue[head]], to, " ")
            for (k = 1; k <= m; k++)
                if (!((start, to[k]) in reach)) { reach[start, to[k]] = 1; queue[++tail] = to[k] }
        }
    }
    END {
        for (i = 1; i <= n; i++) visit(file[i])
        for (i = 1; i <= n; i++) {
            if (file[i] in done) continue
            line = ""
            for (k = i; k <= n; k++)
                if (((file[i], file[k]) in reach) && ((file[k], file[i]) in reach)) { done[file[k]] = 1; line = line " " file[k] }
            if (line != "") print substr(line, 2)
        }
    }' "$tmp/uses" | LC_ALL=C sort >"$tmp/found"
if [ "$uses" = --uses ]; then
    while read -r circle; do
        echo "circle: $circle"
        awk -v circle="$circle" 'BEGIN { n = split(circle, f, " "); for (i = 1; i <= n; i++) is[f[i]] = 1 }
            ($1 in is) && ($2 in is) { print "    " $1 " uses " $3 " of " $2 }' "$tmp/uses"
    done <"$tmp/found"
fi
[ -s "$tmp/found" ] || { echo "lint: no files of a room use each other in a circle" && exit 0; }
sed "s,^,lint: these files use each other in a circle (scripts/check_circles.sh $build --uses): ," "$tmp/found" >&2
exit 1
