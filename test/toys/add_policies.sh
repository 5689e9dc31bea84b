#!/bin/sh
# Builds a heddle with the policies of test/toys/policies.c, in the way that docs/extending.md shows, as ./heddle-toy:
#     LIBS=... add_policies.sh ROOT LIBRARY COMPILER FLAG...
# Compiles the mechanism, the tables that collect mechanisms, and the commands, which LIBRARY does not contain.
set -eu
root=$1
mkdir src
(cd "$root" && tar cf - timing/config mechanisms host/cli) | tar xf - -C src
mkdir src/mechanisms/policies
(cd "$root/test/toys" && cp policies.h policies.c policies.def highest.c fifo.c odd.c chunks.c \
    "$OLDPWD/src/mechanisms/policies")
page=$root/docs/extending.md
row=$(sed -n 's|^ *\(MECHANISM(policies)\) *mechanisms/all.def$|\1|p' "$page")
include=$(sed -n 's|^ *\(#include "policies/policies.def"\) *mechanisms/declared.def$|\1|p' "$page")
[ -n "$row" ] && [ -n "$include" ] || { echo "$page does not show the two lines" >&2; exit 1; }
sed -i "0,/^MECHANISM(.*/s||&\n$row|" src/mechanisms/all.def
sed -i "0,/^#include/s|^#include|$include\n&|" src/mechanisms/declared.def
(cd "$root" && ls host/cli/main.c host/cli/cmd_*.c timing/config/config_table.c mechanisms/all.c
    cd "$OLDPWD/src" && ls mechanisms/policies/*.c) | sed 's|\.c$||' | "$root/test/toys/build_toy.sh" "$@"
