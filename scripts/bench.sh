#!/bin/sh
# The simulator's own speed, as a table on stdout and as CSV in build/bench.csv. Shared machines are noisy: compare ratios within
# one run. usage: HEDDLE_BIN=... FRONTEND_SPEED=... scripts/bench.sh [small|paper]
set -eu
heddle=${HEDDLE_BIN:-build/heddle}
size=${1:-paper}
speed_column="M wi/s"
six="vecadd sgemm reduction hotspot bfs lud"
csv=build/bench.csv
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p build

# column NAME of the CSV that `heddle bench` writes, one value a benchmark
column() {
    awk -F, -v name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; if (!c) { print "no column " name >"/dev/stderr"; exit 1 } next }
        $2 != "" { print $c }'
}
geomean() { awk '{ s += log($1); n++ } END { if (n) printf "%.4g", exp(s / n) }'; }
row() { # name, value, unit, what
    printf '%-28s %12s  %-8s %s\n' "$1" "$2" "$3" "$4"
    printf '%s,%s,%s\n' "$1" "$2" "$3" >>"$csv"
}
speed() { # size, options...: millions of warp instructions a second, geometric mean over the six
    s=$1
    shift
    "$heddle" bench $six --size "$s" --csv "$tmp/run.csv" "$@" >/dev/null
    column "$speed_column" <"$tmp/run.csv" | geomean
}
one() { # benchmark, options...: the same for one
    b=$1
    shift
    "$heddle" bench "$b" --csv "$tmp/one.csv" "$@" >/dev/null
    column "$speed_column" <"$tmp/one.csv" | awk '{ printf "%.4g", $1 }'
}
best() { # the highest of lines of numbers: what other work on the machine took away is not the simulator's
    sort -g | tail -n 1
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3g", a / b }'; }

echo "# $(uname -m), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1), $(nproc) processors, $(date -u +%Y-%m-%d)"
echo 'name,value,unit' >"$csv"

arith1=$(one arith --size paper -m functional)
row functional.arith "$arith1" "M wi/s" "arithmetic loop, full masks, one thread"
for _ in 1 2 3; do # runs of some 50 ms
    speed "$size" -m functional >>"$tmp/f1"
    speed "$size" -m functional -j 2 >>"$tmp/f2"
    speed "$size" -m functional --jit=off >>"$tmp/f0"
    echo >>"$tmp/f0"
    echo >>"$tmp/f1"
    echo >>"$tmp/f2"
done
f1=$(best <"$tmp/f1")
row functional.six "$f1" "M wi/s" "geometric mean over six benchmarks, one thread, best of three runs"
f0=$(best <"$tmp/f0")
row functional.jit "$(ratio "$f1" "$f0")" "times" "with blocks as native code over without (--jit=off)"
if [ -n "${SGEMM_SPEED:-}" ]; then
    "$SGEMM_SPEED" 256 20 >"$tmp/sgemm"
    in_c=$(sed -n 's/^c,//p' "$tmp/sgemm")
    row functional.sgemm "$(ratio "$(sed -n 's/^native,//p' "$tmp/sgemm")" "$in_c")" "times" "sgemm over the same loops in C (-O3 -march=native), processor time"
    row functional.sgemm_off "$(ratio "$(sed -n 's/^interpreted,//p' "$tmp/sgemm")" "$in_c")" "times" "likewise, interpreted"
fi
f2=$(best <"$tmp/f2")
row functional.two_threads "$(ratio "$f2" "$f1")" "times" "two threads over one"
small=$(speed small -m spe)
row timing.six_small "$small" "M wi/s" "spe on fermi, small sizes, one thread"
t1=$(speed "$size" -m spe)
row timing.six "$t1" "M wi/s" "spe on fermi, one thread"
lud_seconds=$("$heddle" bench lud --size paper --csv "$tmp/lud.csv" >/dev/null && column 'host s' <"$tmp/lud.csv" | awk '{ printf "%.3f", $1 }')
row timing.lud_paper "$lud_seconds" "s" "LUD at paper size"
row timing.size_growth "$(ratio "$small" "$t1")" "times" "time an instruction, paper sizes over small"
t2=$(speed "$size" -m spe -j 2)
row timing.two_threads "$(ratio "$t2" "$t1")" "times" "two threads over one"
for model in dpe dws50 its; do
    row "timing.$model" "$(speed small -m $model)" "M wi/s" "small sizes"
done
"$heddle" bench lud --size paper --json "$tmp/lud.json" >/dev/null
row memory.peak "$(sed -n 's/.*"host.peak_rss_bytes":[[:space:]]*\([0-9.e+]*\).*/\1/p' "$tmp/lud.json" | tail -n 1 | awk '{ printf "%.1f", $1 / 1e6 }')" "MB" "resident, LUD at paper size, timing model"
for set in c:classic a:suites b:all; do
    row "coverage.${set#*:}" "$("$heddle" list instructions --of "test/data/opcodes_${set%:*}.txt" | awk '/can be executed$/ { print $1 "/" $3 }')" "opcodes" "of set ${set%:*} in test/data that can be executed"
done
if [ -n "${FRONTEND_SPEED:-}" ]; then
    "$FRONTEND_SPEED" test/compiled/path.ptx test/compiled/hist.ptx test/compiled/collatz.ptx test/kernels/divergence.ptx >"$tmp/front"
    row frontend.parse "$(sed -n 's/^parse,//p' "$tmp/front")" "MB/s" "PTX text to tree"
    row frontend.parse_and_lower "$(sed -n 's/^parse_and_lower,//p' "$tmp/front")" "MB/s" "PTX text to programs"
fi
echo "# CSV: $csv"
