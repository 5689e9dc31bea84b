#!/bin/sh
# Measures the effect of PEPSC's parts on its ten programs and prints tables with the paper's values, for docs/pepsc.md:
# speed by chain length (Figure 9b), prefetching (Figure 10), control flow, utilisation (Figures 2 and 11), efficiency by
# width and length (Figure 4), and power (Figure 12). Every run is checked against C code; a wrong result ends the script.
# usage: HEDDLE_BIN=... SIZE=small PARTS='chains pipeline prefetch control utilisation efficiency power' scripts/pepsc_table.sh
set -eu
heddle=${HEDDLE_BIN:-build/heddle}
size=${SIZE:-small}
parts=${PARTS:-chains pipeline prefetch control utilisation efficiency power}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# About an eighth of a GTX 285: 4 of its 30 SMs and one of its 8 channels, which small programs can fill.
eighth='-c gt200 -s gpu.sms=4 -s dram.channels=1 -s l2.slices=1'
core='-c pepsc'
# The reduction tree, if this version has it.
tree=$("$heddle" list models | awk '$1 == "+reduce" { print $1 }')

# measure NAME PROGRAMS OPTION...: adds lines `NAME program statistic value` for the programs' totals. In the JSON, which
# has one key per line, totals follow the kernels, and the program's name follows both.
measure() {
    name=$1
    programs=$2
    shift 2
    # shellcheck disable=SC2086 # a list of names
    "$heddle" bench $programs --size "$size" "$@" --json "$dir/json" >"$dir/out" 2>"$dir/err" || {
        cat "$dir/out" "$dir/err"
        exit 1
    }
    awk -v name="$name" -F '[\t":,]+' '
        $2 ~ /^(gpu|util|energy|mem|dram|issue|pipe|pipeline|sm|l1)\.[a-z0-9_]+$/ { value[$2] = $3 }
        $2 == "benchmark" { for (k in value) print name, $3, k, value[k]; print name, $3, "order", ++n; split("", value) }
    ' "$dir/json" >>"$dir/figures"
}

# table AWK: runs the awk program of a table, with shared functions. Data: v[run, program, statistic]; program[1..n].
table() {
    awk "$1"'
        { v[$1, $2, $3] = $4; if ($3 == "order" && !($2 in seen)) { seen[$2]; program[++n] = $2 } }
        function speed(base, run, p) { return v[base, p, "gpu.cycles"] / v[run, p, "gpu.cycles"] }
        function geometric(base, run,   i, sum) {
            for (i = 1; i <= n; i++) sum += log(speed(base, run, program[i]))
            return exp(sum / n)
        }
        function mean(run, what,   i, sum) {
            for (i = 1; i <= n; i++) sum += v[run, program[i], what]
            return sum / n
        }
        function percent(x) { return sprintf("%+.1f %%", 100 * x) }
    ' "$dir/figures"
    : >"$dir/figures"
}
wants() { case " $parts " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

chains() { # TITLE OPTION...
    title=$1
    shift
    measure none pepsc "$@" -m spe
    for n in 2 3 4 5 6; do
        measure "$n" pepsc "$@" -m spe+chain -s "chain.length=$n" -s chain.dual=off
        measure "${n}d" pepsc "$@" -m spe+chain -s "chain.length=$n"
    done
    printf '\n%s\n\n| program | 2 | 3 | 4 | 5 | 6 | 2 dual | 3 dual | 4 dual | 5 dual | 6 dual |\n' "$title"
    echo '|---|---|---|---|---|---|---|---|---|---|---|'
    table 'END {
            m = split("2 3 4 5 6 2d 3d 4d 5d 6d", run, " ")
            for (i = 1; i <= n; i++) {
                printf "| %s |", program[i]
                for (k = 1; k <= m; k++) printf " %.3f |", speed("none", run[k], program[i])
                print ""
            }
            printf "| geometric mean |"
            for (k = 1; k <= m; k++) printf " %.3f |", geometric("none", run[k])
            print "\n| the paper, mean | | | | 1.12 | | | | | 1.18 | |"
        }'
}

# Software pipelining on the core: with unlimited registers alone, with chains, and with all parts; and with 16 registers.
pipeline() {
    free='-s pepsc.registers=0'
    # shellcheck disable=SC2086 # options
    for pair in "none:-m spe $free" "chains:-m spe+chain+fold+reduce $free" "all:-m pepsc $free" \
        'few:-m spe+chain+fold+reduce'; do
        measure "${pair%%:*}" pepsc $core ${pair#*:} -s pepsc.pipeline=off
        measure "${pair%%:*}p" pepsc $core ${pair#*:}
    done
    printf '\n| program | loops | interval | stages | registers more | alone | chains | chains and it | beside chains | beside all |'
    printf ' with 16 registers |\n|---|---|---|---|---|---|---|---|---|---|---|\n'
    table 'function each(p, what) { return v["chainsp", p, what] / v["chainsp", p, "pipeline.loops"] }
        function speeds(p) {
            printf " %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", speed("none", "nonep", p), speed("none", "chains", p),
                speed("none", "chainsp", p), speed("chains", "chainsp", p), speed("all", "allp", p), speed("few", "fewp", p)
        }
        END {
            for (i = 1; i <= n; i++) {
                p = program[i]
                printf "| %s |", p
                if (v["chainsp", p, "pipeline.loops"])
                    printf " %.0f of %.0f | %.1f | %.1f | %.1f |", v["chainsp", p, "pipeline.loops"],
                        v["chainsp", p, "pipeline.candidates"], each(p, "pipeline.cycles"), each(p, "pipeline.stages"),
                        each(p, "pipeline.registers")
                else
                    printf " %.0f of %.0f | | | |", v["chainsp", p, "pipeline.loops"], v["chainsp", p, "pipeline.candidates"]
                speeds(p)
            }
            printf "| geometric mean | | | | | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", geometric("none", "nonep"),
                geometric("none", "chains"), geometric("none", "chainsp"), geometric("chains", "chainsp"),
                geometric("all", "allp"), geometric("few", "fewp")
        }'
}

# Two more rows have srad only.
# shellcheck disable=SC2086 # options
prefetch() {
    for m in spe spe+stride spe+ddp; do
        measure $m pepsc $core -m $m
        measure large-$m srad $core -m $m -s l2.size=262144 -s l2.ways=8
    done
    printf '\n| program | stride | ddp | ddp / stride | latency of a miss: none | stride | ddp | DRAM read: stride | ddp |\n'
    echo '|---|---|---|---|---|---|---|---|---|'
    table 'function row(title, at, p,   s, d) {
            s = speed(at "spe", at "spe+stride", p); d = speed(at "spe", at "spe+ddp", p)
            printf "| %s | %.2f | %.2f | %.2f | %.0f | %s | %s | %s | %s |\n", title, s, d, d / s, v[at "spe", p, "mem.latency"],
                change(at, "spe+stride", p, "mem.latency"), change(at, "spe+ddp", p, "mem.latency"),
                change(at, "spe+stride", p, "dram.read_bytes"), change(at, "spe+ddp", p, "dram.read_bytes")
        }
        function change(at, run, p, what,   base) {
            base = v[at "spe", p, what]
            return base ? percent(v[at run, p, what] / base - 1) : ""
        }
        function all(run, what,   i, sum) {
            for (i = 1; i <= n; i++) sum += v[run, program[i], what] / v["spe", program[i], what]
            return percent(sum / n - 1)
        }
        END {
            for (i = 1; i <= n; i++) row(program[i], "", program[i])
            s = geometric("spe", "spe+stride"); d = geometric("spe", "spe+ddp")
            printf "| mean | %.2f | %.2f | %.2f | | %s | %s | %s | %s |\n", s, d, d / s, all("spe+stride", "mem.latency"),
                all("spe+ddp", "mem.latency"), all("spe+stride", "dram.read_bytes"), all("spe+ddp", "dram.read_bytes")
            print "| the paper, mean | 2.3 | 3.4 | 1.5 | | -62.2 % | -82.3 % | +0.8 % | +1.3 % |"
            row("srad, 8 kB a lane, 8 ways", "large-", "srad")
        }'
}

control() {
    for c in eighth core; do
        [ $c = eighth ] && on=$eighth || on=$core
        # shellcheck disable=SC2086 # options
        measure $c-plain 'lps lu srad mc' $on -m spe+chain
        # shellcheck disable=SC2086
        measure $c-fold 'lps lu srad mc' $on -m "spe+chain+fold$tree"
    done
    # shellcheck disable=SC2016 # no command
    printf '\n| program | lost to control flow, eighth | speed | warp instructions | lost to control flow, `pepsc` | speed | warp instructions | the paper |\n'
    echo '|---|---|---|---|---|---|---|---|'
    table 'function lost(run, p) { return v[run, p, "util.lost_serialization"] - v[run, p, "util.lost_no_warp"] }
        function part(c, p,   a, b) {
            a = lost(c "-plain", p); b = lost(c "-fold", p)
            printf " %s | %.3f | %s |", a ? percent(b / a - 1) : "none", speed(c "-plain", c "-fold", p),
                percent(v[c "-fold", p, "gpu.warp_instructions"] / v[c "-plain", p, "gpu.warp_instructions"] - 1)
        }
        END {
            said["lps"] = 38; said["lu"] = 30; said["srad"] = 50; said["mc"] = 16
            for (i = 1; i <= n; i++) {
                printf "| %s |", program[i]
                part("eighth", program[i]); part("core", program[i])
                printf " -%d %% |\n", said[program[i]]
            }
        }'
}

utilisation() { # TITLE OPTION...
    title=$1
    shift
    measure a pepsc "$@" -m spe
    measure b pepsc "$@" -m spe+chain
    measure c pepsc "$@" -m "spe+chain+fold$tree"
    measure d pepsc "$@" -m "spe+chain+fold$tree+ddp"
    case "$*" in # keeps the size of accesses
    *gt200*) measure twice pepsc "$@" -m spe -s dram.bus_bytes=16 -s dram.atom=32 ;;
    *) measure twice pepsc "$@" -m spe -s dram.bus_bytes=64 ;;
    esac
    printf '\n%s\n\n| program | with | of the peak | datapath | of it no operations | memory | serialisation | of it no warp | pipe taken | speed |\n' "$title"
    echo '|---|---|---|---|---|---|---|---|---|---|'
    table 'function row(title, how, run, p) {
            printf "| %s | %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.3f |\n", title, how,
                100 * value(run, p, "util.utilization"), 100 * value(run, p, "util.datapath"), 100 * value(run, p, "util.no_flops"),
                100 * value(run, p, "util.memory"), 100 * value(run, p, "util.serialization"), 100 * value(run, p, "util.no_warp"),
                100 * value(run, p, "util.pipe_busy"), p == "" ? geometric("a", run) : speed("a", run, p)
        }
        function value(run, p, what) { return p == "" ? mean(run, what) : v[run, p, what] }
        END {
            m = split("nothing|+ chain|+ fold, reduce|+ ddp", how, "|"); split("a b c d", run, " ")
            for (i = 1; i <= n; i++)
                for (k = 1; k <= m; k++) row(k == 1 ? program[i] : "", how[k], run[k], program[i])
            for (k = 1; k <= m; k++) row(k == 1 ? "mean" : "", how[k], run[k], "")
            row("", "nothing, twice the bandwidth", "twice", "")
        }'
}

# Each number of lanes has its own preset.
efficiency() {
    for lanes in 8 16 32 64; do
        [ $lanes = 32 ] && preset=pepsc || preset=pepsc-$lanes
        measure $lanes-1 pepsc -c $preset -m spe
        for n in 2 3 4 5; do
            measure $lanes-$n pepsc -c $preset -m spe+chain -s chain.length=$n
        done
    done
    printf '\n| lanes | | 1 | 2 | 3 | 4 | 5 |\n|---|---|---|---|---|---|---|\n'
    table 'function joules(run, p) { return v[run, p, "energy.total_joules"] }
        function core(run, p) { return joules(run, p) - v[run, p, "energy.dram_joules"] - v[run, p, "energy.icnt_joules"] }
        function datapath(run, p) {
            return core(run, p) - v[run, p, "energy.shared_joules"] - v[run, p, "energy.l1_joules"] - v[run, p, "energy.l2_joules"]
        }
        # Equal work: the ratio of operations per joule to 8 lanes without chains.
        function gain(run, part,   i, p, sum) {
            for (i = 1; i <= n; i++) {
                p = program[i]
                sum += log(part ? datapath("8-1", p) / datapath(run, p) : core("8-1", p) / core(run, p))
            }
            return exp(sum / n)
        }
        END {
            for (w = 8; w <= 64; w *= 2)
                for (row = 1; row <= 3; row++) {
                    printf "| %s | %s |", row == 1 ? w : "", row == 1 ? "datapath" : row == 2 ? "with caches" : "speed"
                    for (k = 1; k <= 5; k++)
                        printf " %.2f |", row == 3 ? geometric("8-1", w "-" k) : gain(w "-" k, row == 1)
                    print ""
                }
            print "| the paper, 32 | | | | | | 3.4 |"
        }'
}

# Power of the core by component, in milliwatts, and its performance.
power() {
    # shellcheck disable=SC2086
    measure core pepsc $core -m pepsc
    printf '\n| program | FPUs | registers | caches, shared memory | the rest | in all | GFLOP/s | Mops/mW | turns, of the time |\n'
    echo '|---|---|---|---|---|---|---|---|---|'
    table 'function mw(p, what) { return 1000 * v["core", p, "energy." what "_joules"] / (v["core", p, "gpu.cycles"] / 750e6) }
        function row(title, f, r, c, o, g, t) {
            printf "| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.2f | %.1f | %s |\n", title, f, r, c, o, f + r + c + o, g,
                g / (f + r + c + o) * 1000, t
        }
        END {
            for (i = 1; i <= n; i++) {
                p = program[i]
                f = mw(p, "float") + mw(p, "sfu"); r = mw(p, "regfile"); c = mw(p, "l1") + mw(p, "l2") + mw(p, "shared")
                o = mw(p, "frontend") + mw(p, "int") + mw(p, "static")
                g = v["core", p, "util.flops"] / (v["core", p, "gpu.cycles"] / 750e6) / 1e9
                row(p, f, r, c, o, g, sprintf("%.0f %%", 100 * v["core", p, "sm.swap_cycles"] / v["core", p, "gpu.cycles"]))
            }
            row("peak", 1180, 297, 580, 59, 120, "")
            print "| the paper, peak | 1180 | 297 | 580 | 59 | 2100 | 120 | 56.9 | |"
        }'
}

: >"$dir/figures"
# shellcheck disable=SC2016,SC2086 # no commands; lists of options
if wants chains; then
    chains 'An eighth of `gt200`: speed against none.' $eighth
    chains 'The core `pepsc`: speed against none.' $core
fi
! wants pipeline || pipeline
! wants prefetch || prefetch
! wants control || control
# shellcheck disable=SC2016,SC2086
if wants utilisation; then
    utilisation 'An eighth of `gt200`.' $eighth
    utilisation 'The core `pepsc`.' $core
fi
! wants efficiency || efficiency
! wants power || power
