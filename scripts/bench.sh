#!/bin/sh
# Measures the simulator's own speed: a table on stdout, and CSV in build/bench.csv. Shared machines are noisy: compare
# ratios within one run. usage: HEDDLE_BIN=... FRONTEND_SPEED=... scripts/bench.sh [small|paper]
set -eu
heddle=${HEDDLE_BIN:-build/heddle}
size=${1:-paper}
speed_column="M wi/s"
six="vecadd sgemm reduction hotspot bfs lud"
csv=build/bench.csv
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p build

# Prints column NAME of the CSV of `heddle bench`, one value for each benchmark.
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
run_six() { # file, size, options...: appends a line "name speed" for each of the six benchmarks to the file
    to=$1 s=$2
    shift 2
    "$heddle" bench $six --size "$s" --csv "$tmp/run.csv" "$@" >/dev/null
    column benchmark <"$tmp/run.csv" >"$tmp/names"
    column "$speed_column" <"$tmp/run.csv" | paste -d ' ' "$tmp/names" - >>"$to"
}
# Prints the best of several runs for each of the six benchmarks: other work on the machine only slows runs down.
best_each() { sort -k1,1 -k2,2gr "$1" | awk '!seen[$1]++'; }
speed() { # file of run_six: millions of warp instructions a second, geometric mean over the best runs
    best_each "$1" | cut -d ' ' -f 2 | geomean
}
one() { # benchmark, options...: millions of warp instructions a second of one benchmark
    b=$1
    shift
    "$heddle" bench "$b" --csv "$tmp/one.csv" "$@" >/dev/null
    column "$speed_column" <"$tmp/one.csv" | awk '{ printf "%.4g", $1 }'
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3g", a / b }'; }

# Prints the processor's name, family and model: virtual machines shorten the name.
processor() {
    awk -F ': *' '/^model name/ { n = $2 } /^cpu family/ { f = $2 } /^model[ \t]*:/ { m = $2 }
        END { print n ", family " f ", model " m }' /proc/cpuinfo 2>/dev/null || uname -p
}

echo "# $(uname -m), $(processor), $(nproc) processors, $(date -u +%Y-%m-%d)"
echo 'name,value,unit' >"$csv"

arith1=$(one arith --size paper -m functional)
row functional.arith "$arith1" "M wi/s" "arithmetic loop, full masks, one thread"
for _ in 1 2 3; do # runs of some 50 ms
    run_six "$tmp/f1" "$size" -m functional
    run_six "$tmp/f2" "$size" -m functional -j 2
    run_six "$tmp/f0" "$size" -m functional --jit=off
done
f1=$(speed "$tmp/f1")
row functional.six "$f1" "M wi/s" "geometric mean over six benchmarks, one thread, best of three runs"
f0=$(speed "$tmp/f0")
row functional.jit "$(ratio "$f1" "$f0")" "times" "with blocks as native code over without (--jit=off)"
if [ -n "${SGEMM_SPEED:-}" ]; then
    "$SGEMM_SPEED" 256 20 >"$tmp/sgemm"
    in_c=$(sed -n 's/^c,//p' "$tmp/sgemm")
    row functional.sgemm "$(ratio "$(sed -n 's/^native,//p' "$tmp/sgemm")" "$in_c")" "times" "sgemm over the same loops in C (-O3 -march=native), processor time"
    row functional.sgemm_off "$(ratio "$(sed -n 's/^interpreted,//p' "$tmp/sgemm")" "$in_c")" "times" "likewise, interpreted"
fi
if [ -n "${OPERATIONS_SPEED:-}" ]; then
    "$OPERATIONS_SPEED" 5 >"$tmp/operations"
    while IFS=, read -r name value; do
        row "functional.ops.$name" "$value" "M ops/s" "thread operations ($name in test/speed/operations.c), best of five runs"
    done <"$tmp/operations"
fi
row functional.two_threads "$(ratio "$(speed "$tmp/f2")" "$f1")" "times" "two threads over one"
for _ in 1 2 3 4 5; do
    run_six "$tmp/small" small -m spe
    for model in dpe dws50 its; do
        run_six "$tmp/$model" small -m $model
    done
done
small=$(speed "$tmp/small")
row timing.six_small "$small" "M wi/s" "spe on fermi, small sizes, one thread, best of five runs"
for _ in 1 2 3; do
    run_six "$tmp/t1" "$size" -m spe
    run_six "$tmp/t2" "$size" -m spe -j 2
done
t1=$(speed "$tmp/t1")
row timing.six "$t1" "M wi/s" "spe on fermi, one thread, best of three runs"
launches=10000 rounds=5
if [ -n "${LAUNCHES_SPEED:-}" ]; then
    "$LAUNCHES_SPEED" $launches $rounds >"$tmp/launches"
    while IFS=, read -r name value; do
        row "timing.launch.$name" "$value" "us" "processor time of an empty launch, spe, best of $rounds rounds of $launches"
    done <"$tmp/launches"
fi
lud_seconds=$("$heddle" bench lud --size paper --csv "$tmp/lud.csv" >/dev/null && column 'host s' <"$tmp/lud.csv" | awk '{ printf "%.3f", $1 }')
row timing.lud_paper "$lud_seconds" "s" "LUD at paper size"
row timing.size_growth "$(ratio "$small" "$t1")" "times" "time an instruction, paper sizes over small"
row timing.two_threads "$(ratio "$(speed "$tmp/t2")" "$t1")" "times" "two threads over one"
best_each "$tmp/t1" >"$tmp/one"
best_each "$tmp/t2" | join "$tmp/one" - | while read -r name one two; do
    row "timing.two_threads.$name" "$(ratio "$two" "$one")" "times" "likewise"
done
for model in dpe dws50 its; do
    row "timing.$model" "$(speed "$tmp/$model")" "M wi/s" "small sizes"
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
