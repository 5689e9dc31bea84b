#!/bin/sh
# Builds ./heddle-toy from changed sources in ./src, which the caller has made:
#     LIBS=... build_toy.sh ROOT LIBRARY COMPILER FLAG... <FILES
# FILES has the names of the sources to compile, without .c, one a line. All other objects come from LIBRARY.
set -eu
root=$1 library=$2
shift 2
set -- "$@" -I"$root" -I"$(dirname "$library")"
mkdir toy
xargs -P 2 -I FILE sh -c 'f=$1; shift; exec "$@" -w -O0 -g0 -c -o "toy/$(echo "$f" | tr / _).o" "src/$f.c"' \
    sh FILE "$@" -iquote src
# shellcheck disable=SC2086 # a list of libraries
exec "$@" -o heddle-toy toy/*.o "$library" $LIBS
