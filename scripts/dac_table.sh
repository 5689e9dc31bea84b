#!/bin/sh
# Compares decoupled affine computation with other designs: runs each program of the set `dac` under spe, spe+dac,
# spe+cae and spe+mta, and under spe with perfect memory. Prints a table with geometric means, and writes build/dac.csv
# and, with gnuplot, a plot of the speed-ups (build/dac.svg). Every run is checked against C code; a wrong result ends
# the script. docs/dac.md explains the table.
# usage: HEDDLE_BIN=... PRESET=fermi SIZE=small PROGRAMS=dac DAC='-s dac.atq=8' scripts/dac_table.sh [HEDDLE OPTION...]
#   PROGRAMS: benchmarks or sets; DAC: options of the run with dac only; options of the command line apply to all runs
set -eu
heddle=${HEDDLE_BIN:-build/heddle}
preset=${PRESET:-fermi}
size=${SIZE:-small}
programs=${PROGRAMS:-dac}
csv=build/dac.csv
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p build

# measure NAME OPTION...: adds a line `NAME program statistic value` for each statistic of a program's totals. In the
# JSON, which has one key per line, totals follow the kernels, and the program's name follows both.
measure() {
    name=$1
    shift
    # shellcheck disable=SC2086 # a list of names
    "$heddle" bench $programs --size "$size" -c "$preset" "$@" --json "$dir/json" >"$dir/out" || {
        cat "$dir/out"
        exit 1
    }
    awk -v name="$name" -F '[\t":,]+' '
        $2 ~ /^(gpu|dac|energy|issue)\.[a-z_]+$/ { value[$2] = $3 }
        $2 == "benchmark" { for (k in value) print name, $3, k, value[k]; order[++n] = $3; split("", value) }
        END { for (i = 1; i <= n; i++) print name, order[i], "order", i }' "$dir/json" >>"$dir/figures"
}
measure spe -m spe "$@"
# shellcheck disable=SC2086 # a list of options
measure dac -m spe+dac "$@" ${DAC:-}
measure cae -m spe+cae "$@"
measure mta -m spe+mta "$@"
measure perfect -m spe "$@" -s memory.perfect=true
measure perfect_l1 -m spe "$@" -s memory.perfect_l1=true

awk -v csv="$csv" '
{ v[$1, $2, $3] = $4; if ($3 == "order" && $1 == "spe") { name[$4] = $2; n = $4 } }
function ratio(a, b) { return b ? a / b : 0 }
function speed(p, how) { return v["spe", p, "gpu.cycles"] / v[how, p, "gpu.cycles"] }
function mean(what, how,   i, sum, k) {
    for (i = 1; i <= n; i++)
        if (what == "all" || what == class[i]) { sum += log(how == "energy" || how == "warps" ? part[i, how] : speed(name[i], how)); k++ }
    return k ? exp(sum / k) : 0
}
function percent(x) { return sprintf("%+.1f %%", 100 * (x - 1)) }
function means(what, title,   i, k) {
    for (i = 1; i <= n; i++)
        k += what == "all" || what == class[i]
    if (k)
        printf "%-22s %3d %9s %9s %9s %9s %9s\n", title, k, percent(mean(what, "dac")), percent(mean(what, "cae")),
            percent(mean(what, "mta")), percent(mean(what, "warps")), percent(mean(what, "energy"))
}
END {
    bound = 1.5 # speed-up without L1 misses from which a program is memory-bound
    printf "%-11s %7s %7s %9s %7s %6s %6s %6s %7s %7s %6s %s\n", "program", "warp", "loads", "predi-", "affine", "dac", "cae",
        "mta", "energy", "perfect", "L1", "bound by"
    printf "%-11s %7s %7s %9s %7s %6s %6s %6s %7s %7s %6s\n", "", "instr.", "", "cates", "warp", "", "", "", "", "L2", ""
    print "program,warp_instructions,load_coverage,predicates,affine_share,dac,cae,mta,energy,dynamic_energy,perfect,perfect_l1,bound" >csv
    for (i = 1; i <= n; i++) {
        p = name[i]
        class[i] = speed(p, "perfect_l1") >= bound ? "memory" : "compute"
        part[i, "warps"] = v["dac", p, "gpu.warp_instructions"] / v["spe", p, "gpu.warp_instructions"]
        part[i, "energy"] = v["dac", p, "energy.total_joules"] / v["spe", p, "energy.total_joules"]
        dynamic = v["dac", p, "energy.dynamic_joules"] / v["spe", p, "energy.dynamic_joules"]
        preds = v["dac", p, "dac.decoupled_predicates"]
        printf "%-11s %6.1f%% %6.1f%% %9d %6.1f%% %6.3f %6.3f %6.3f %+6.1f%% %7.3f %6.3f %s\n", p, 100 * (part[i, "warps"] - 1),
            100 * v["dac", p, "dac.load_coverage"], preds, 100 * v["dac", p, "dac.affine_share"], speed(p, "dac"),
            speed(p, "cae"), speed(p, "mta"), 100 * (part[i, "energy"] - 1), speed(p, "perfect"), speed(p, "perfect_l1"), class[i]
        printf "%s,%.6g,%.6g,%d,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%s\n", p, part[i, "warps"], v["dac", p, "dac.load_coverage"],
            preds, v["dac", p, "dac.affine_share"], speed(p, "dac"), speed(p, "cae"), speed(p, "mta"), part[i, "energy"], dynamic,
            speed(p, "perfect"), speed(p, "perfect_l1"), class[i] >csv
        loads += v["dac", p, "dac.load_coverage"]
        share += v["dac", p, "dac.affine_share"]
        static += v["dac", p, "dac.static_share"]
        cta += v["dac", p, "dac.predicates_cta"]; ends += v["dac", p, "dac.predicates_ends"]; lanes += v["dac", p, "dac.predicates_lanes"]
        one += ratio(v["dac", p, "dac.predicates_cta"], preds = v["dac", p, "dac.masks"])
        two += ratio(v["dac", p, "dac.predicates_cta"] + v["dac", p, "dac.predicates_ends"], preds)
        all += ratio(v["dac", p, "dac.predicates_lanes"], preds)
        with += preds > 0
        less += log(dynamic)
    }
    printf "\n%-22s %3s %9s %9s %9s %9s %9s\n", "geometric means", "", "dac", "cae", "mta", "warp", "energy"
    means("all", "all")
    printf "%-22s %3d %9s %9s %9s %9s %9s\n", "  the paper", 29, "+40.7 %", "", "", "-26.0 %", "-20.2 %"
    means("compute", "compute-bound")
    printf "%-22s %3d %9s %9s\n", "  the paper", 11, "+34.0 %", "+11.0 %"
    means("memory", "memory-bound")
    printf "%-22s %3d %9s %9s %9s\n", "  the paper", 18, "+44.7 %", "", "+16.7 %"
    printf "\n%-46s %8s %10s\n", "arithmetic means", "here", "the paper"
    printf "%-46s %7.1f%% %10s\n", "loads decoupled", 100 * loads / n, "79.8%"
    printf "%-46s %7.1f%% %10s\n", "affine warp, share of warp instructions", 100 * share / n, "4%"
    printf "%-46s %7.1f%% %10s\n", "static instructions that could be affine", 100 * static / n, "half"
    printf "%-46s %7.1f%% %10s\n", "predicates: one comparison a CTA", 100 * ratio(one, with), "64%"
    printf "%-46s %7.1f%% %10s\n", "predicates: at most two", 100 * ratio(two, with), "93%"
    printf "%-46s %7.1f%% %10s\n", "predicates: by all lanes", 100 * ratio(all, with), "7%"
    printf "%-46s %+7.1f%% %10s\n", "dynamic energy (geometric)", 100 * (exp(less / n) - 1), "-18.4%"
}' "$dir/figures"
if command -v gnuplot >/dev/null 2>&1; then
    tail -n +2 "$csv" | awk -F, '{ print $1, $6, $7, $8 }' | sort -k 2n >"$dir/json"
    gnuplot <<PLOT
set terminal svg size 760,420 font 'sans,11' background 'white' noenhanced
set output 'build/dac.svg'
set ylabel 'speed-up over spe'
set grid y lc rgb '#dddddd'
set style data histograms
set style histogram clustered gap 1
set style fill solid noborder
set xtics rotate by -45 font ',9'
set yrange [0:*]
set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb '#888888'
set key top left
plot '$dir/json' using 2:xticlabels(1) title 'dac' lc rgb '#1f5f8b', '' using 3 title 'cae' lc rgb '#9bbad0', \
    '' using 4 title 'mta' lc rgb '#d08b5b'
PLOT
    echo "plot: build/dac.svg"
fi
