#!/bin/sh
# Compares cycle counts with the reference in test/reference/: prints a table, and writes build/validate.csv and, with
# gnuplot, a plot of the errors (build/validate.svg). Threads have the register counts of the reference runs. For
# turing-gpgpusim and volta-gpgpusim, the reference cycles are those of peers.tsv, which has no other counts.
# usage: HEDDLE_BIN=... PRESET=fermi-gpgpusim scripts/validate.sh [HEDDLE OPTION...]
set -eu
heddle=${HEDDLE_BIN:-build/heddle}
preset=${PRESET:-fermi-gpgpusim}
ref=test/reference
csv=build/validate.csv
json=$(mktemp)
zeros=$(mktemp -d)
trap 'rm -rf "$json" "$zeros"' EXIT
mkdir -p build
case $preset in
turing-gpgpusim) column=2 ;;
volta-gpgpusim) column=3 ;;
*) column=0 ;;
esac
number() { sed -n "s/.*\"$1\":[[:space:]]*\([0-9.e+-]*\).*/\1/p" "$json" | tail -n 1; } # the totals come last

echo 'case,cycles,reference_cycles,warp_instructions,reference_warp_instructions,thread_instructions,reference_thread_instructions,seconds,reference_seconds' >"$csv"
for table in reference=kernels kinds=kinds more=more; do
    tail -n +2 "$ref/${table%=*}.tsv" | sed "s/^/${table#*=}.ptx\t/"
done | while IFS="$(printf '\t')" read -r ptx name kernel grid block shared args cycles threads _ warps _ seconds; do
    [ $column = 0 ] || cycles=$(awk -F '\t' -v c="$name" -v n=$column '$1 == c { print $n }' "$ref/peers.tsv")
    case $cycles in '' | -) continue ;; esac
    for n in $(echo "$args" | grep -o 'zero:[0-9]*' | cut -d : -f 2); do # files, as the host of the reference copies
        [ -f "$zeros/$n" ] || head -c "$n" /dev/zero >"$zeros/$n"
    done
    args=$(echo "$args" | sed "s#zero:#in:$zeros/#g")
    registers=$(awk -v k="$kernel" '$1 == k { print $2 }' "$ref/registers.tsv")
    # shellcheck disable=SC2086 # args is a list of options
    "$heddle" run "$ref/$ptx" -k "$kernel" -g "$grid" -b "$block" --shared "$shared" $args -c "$preset" \
        -s sm.thread_registers="$registers" -s gpu.launch_latency=0 "$@" --json "$json" >/dev/null
    echo "$name,$(number gpu.cycles),$cycles,$(number gpu.warp_instructions),$warps,$(number gpu.thread_instructions),$threads,$(number host.seconds),$seconds" >>"$csv"
done
awk -F, -v peer=$column 'NR == 1 {
    printf "%-14s %12s %12s %8s %12s %12s %s\n", "case", "cycles", "reference", "error", "warp instr.", "reference", ""; next }
{
    e = ($2 - $3) / $3; a = e < 0 ? -e : e
    micro = $1 ~ /^(lat_|tp_|chase|shm|stream|strided|atom|fill|scatter|gather)/
    printf "%-14s %12d %12d %+7.1f%% %12d %12d %s%s\n", $1, $2, $3, 100 * e, $4, $5, $4 == $5 ? "equal" : "differs", micro ? "  micro" : ""
    x = log($2); y = log($3); n++; sx += x; sy += y; sxx += x * x; syy += y * y; sxy += x * y; sum += a
    if (micro) { m++; msum += a }
    if ($4 == $5) equal++
    mine += $8; theirs += $9; wi += $4
}
END {
    r = (n * sxy - sx * sy) / sqrt((n * sxx - sx * sx) * (n * syy - sy * sy))
    printf "\n%d cases: correlation of log cycles %.4f, mean absolute error %.1f %% (micro-benchmarks %.1f %%)\n", n, r, 100 * sum / n, 100 * msum / m
    if (peer) exit
    printf "warp instruction counts equal in %d of %d\n", equal, n
    printf "%.2f s in all, %.2f M warp instructions a second; the reference needed %.0f s\n", mine, wi / mine / 1e6, theirs
}' "$csv"
range=-20:20
[ $column = 0 ] || range="*:*"
if command -v gnuplot >/dev/null 2>&1; then
    tail -n +2 "$csv" | awk -F, '{ printf "%s %d %.3f\n", $1, $3, 100 * ($2 - $3) / $3 }' | sort -k 2n >"$json"
    gnuplot <<PLOT
set terminal svg size 720,1100 font 'sans,11' background 'white' noenhanced
set output 'build/validate.svg'
set xlabel 'cycles of Heddle against those of GPGPU-Sim 4.2, %'
set ylabel 'cases, the shortest at the bottom'
set grid x lc rgb '#dddddd'
set xrange [$range]
set yrange [-1:*]
set ytics font ',9'
set arrow from 0, graph 0 to 0, graph 1 nohead lc rgb '#888888'
set key off
plot '$json' using 3:0:yticlabels(1) with points pt 7 ps 0.7 lc rgb '#1f5f8b' title 'cases', \
    '' using 3:0:(-\$3):(0) with vectors nohead lc rgb '#1f5f8b'
PLOT
    echo "plot: build/validate.svg"
fi
