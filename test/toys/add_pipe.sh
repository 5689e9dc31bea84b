#!/bin/sh
# Builds a heddle with the pipe that docs/extending.md adds, by the two lines that it shows, as ./heddle-toy:
#     LIBS=... add_pipe.sh ROOT LIBRARY COMPILER FLAG...
# Compiles the files that include the rows of pipes (the lists of dependencies (.d) beside LIBRARY name them), and the
# commands, which LIBRARY does not contain.
set -eu
root=$1 library=$2
mkdir src
(cd "$root" && tar cf - timing mechanisms host) | tar xf - -C src
page=$root/docs/extending.md
row=$(sed -n 's|^ *\(PIPE(TOY, .*)\) *timing/config/pipes.def$|\1|p' "$page")
class=$(sed -n 's|^ *\(\[LAT_SHFL\] = .*\), *timing/sm/timed.c$|\1|p' "$page")
[ -n "$row" ] && [ -n "$class" ] || { echo "$page does not show the two lines" >&2; exit 1; }
echo "$row" >>src/timing/config/pipes.def
sed -i "s/\[LAT_SHFL\] = {PIPE_INT, CLASS_SHFL}/$class/" src/timing/sm/timed.c
grep -q PIPE_TOY src/timing/sm/timed.c || { echo "timing/sm/timed.c has no such line to replace" >&2; exit 1; }
(cd "${library%/*}" && {
    echo host/cli/main.d; ls host/cli/cmd_*.d
    find timing mechanisms host -path host/cuda -prune -o -name '*.d' -print | xargs grep -l 'timing/config/pipes\.def'
} | sed 's|\.d$||' | sort -u) | while read -r file; do # not what a source of another time left
    [ ! -e "src/$file.c" ] || echo "$file"
done | "$root/test/toys/build_toy.sh" "$@"
