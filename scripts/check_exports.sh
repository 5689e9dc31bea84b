#!/bin/sh
# Checks that every exported symbol is used: another object, possibly of a test, must need each symbol that an object
# of the library defines. Otherwise it should be static or removed. Exempt are the public interfaces of the library and
# of the CUDA runtime, and flex's output.
# usage: check_exports.sh BUILD, a folder with objects (make objects)
set -u
cd "$1" || exit 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
find ptx isa frontend timing mechanisms host benchmarks test -name '*.o' >"$tmp/objects"
xargs nm -u <"$tmp/objects" | awk 'NF == 2 {print $2}' | sort -u >"$tmp/wanted"
grep -v '^test/' "$tmp/objects" | xargs nm -A --defined-only -g | awk '$2 ~ /^[TDRB]$/ {sub(/:.*/, "", $1); print $3, $1}' |
    sort -u >"$tmp/defined"
[ -s "$tmp/defined" ] || { echo "lint: $1 holds no objects" >&2; exit 1; }
idle=$(join -v 1 "$tmp/defined" "$tmp/wanted" | grep -v '^heddle_\|^ptx_scan_\|^main \|^\(__\)\{0,1\}cu\(da\)\{0,1\}[A-Z]' | sed 's/^/lint: nobody but its own file uses /')
[ -z "$idle" ] && echo 'lint: what is exported is used' && exit 0
printf '%s\n' "$idle" >&2
exit 1
