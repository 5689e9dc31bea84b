#!/bin/sh
# Cycle counts on configs/fermi.cfg beside the reference of test/reference/: a table on stdout, build/validate.csv, and a scatter
# plot (build/validate.svg) when gnuplot is there. usage: HEDDLE_BIN=... scripts/validate.sh
set -eu
heddle=${HEDDLE_BIN:-build/heddle}
ref=test/reference
csv=build/validate.csv
json=$(mktemp)
trap 'rm -f "$json"' EXIT
mkdir -p build
number() { sed -n "s/.*\"$1\":[[:space:]]*\([0-9.e+-]*\).*/\1/p" "$json" | tail -n 1; } # the totals come last

echo 'case,cycles,reference_cycles,warp_instructions,reference_warp_instructions,thread_instructions,reference_thread_instructions,seconds,reference_seconds' >"$csv"
tail -n +2 "$ref/reference.tsv" | while IFS="$(printf '\t')" read -r name kernel grid block shared args cycles threads slots warps ipc seconds; do
    # shellcheck disable=SC2086 # args is a list of options
    "$heddle" run "$ref/kernels.ptx" -k "$kernel" -g "$grid" -b "$block" --shared "$shared" $args -c "${PRESET:-fermi-gpgpusim}" --json "$json" >/dev/null
    echo "$name,$(number gpu.cycles),$cycles,$(number gpu.warp_instructions),$warps,$(number gpu.thread_instructions),$threads,$(number host.seconds),$seconds" >>"$csv"
done
awk -F, 'NR == 1 {
    printf "%-14s %12s %12s %8s %12s %12s %s\n", "case", "cycles", "reference", "error", "warp instr.", "reference", ""; next }
{
    e = ($2 - $3) / $3; a = e < 0 ? -e : e
    micro = $1 ~ /^(lat_|tp_|chase|shm|stream|strided|atom)/
    printf "%-14s %12d %12d %+7.1f%% %12d %12d %s%s\n", $1, $2, $3, 100 * e, $4, $5, $4 == $5 ? "equal" : "differs", micro ? "  micro" : ""
    x = log($2); y = log($3); n++; sx += x; sy += y; sxx += x * x; syy += y * y; sxy += x * y; sum += a
    if (micro) { m++; msum += a }
    if ($4 == $5) equal++
    mine += $8; theirs += $9; wi += $4
}
END {
    r = (n * sxy - sx * sy) / sqrt((n * sxx - sx * sx) * (n * syy - sy * sy))
    printf "\n%d cases: correlation of log cycles %.4f, mean absolute error %.1f %% (micro-benchmarks %.1f %%)\n", n, r, 100 * sum / n, 100 * msum / m
    printf "warp instruction counts equal in %d of %d\n", equal, n
    printf "%.2f s in all, %.2f M warp instructions a second; the reference needed %.0f s\n", mine, wi / mine / 1e6, theirs
}' "$csv"
if command -v gnuplot >/dev/null 2>&1; then
    gnuplot <<PLOT
set terminal svg size 640,560 font 'sans,11' background 'white'
set output 'build/validate.svg'
set datafile separator ','
set logscale xy
set xlabel 'GPGPU-Sim 4.2, cycles'
set ylabel 'Heddle, cycles'
set key left top
plot x with lines lc rgb '#bbbbbb' title 'equal', x * 1.2 with lines dt 2 lc rgb '#cccccc' title '20 % off', x / 1.2 with lines dt 2 lc rgb '#cccccc' notitle, \
    '$csv' skip 1 using 3:2 with points pt 7 ps 0.6 lc rgb '#1f5f8b' title 'programs', \
    '' skip 1 using 3:2:1 with labels offset 1,0.3 left font ',7' notitle
PLOT
    echo "plot: build/validate.svg"
fi
