#!/bin/sh
# Measures the effect of PEPSC's parts on its ten programs and prints the tables of docs/pepsc-core.md with the paper's
# values: speed by chain length (Figure 9b), software pipelining, prefetching (Figure 10), control flow, utilisation
# (Figure 2), efficiency by width and length (Figure 4), and power (Figure 12). Every run is checked against C code; a
# wrong result ends the script. docs/pepsc-core.md says which tables are of size paper.
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
        $2 ~ /^(gpu|util|energy|mem|dram|issue|pipe|pipeline|sm|l1|ddp)\.[a-z0-9_]+$/ { value[$2] = $3 }
        $2 == "benchmark" { for (k in value) print name, $3, k, value[k]; print name, $3, "order", ++n; split("", value) }
    ' "$dir/json" >>"$dir/figures"
}

# table AWK: runs the awk program of a table, with shared functions. Data: v[run, program, statistic]; program[1..n].
table() {
    awk "$1"'
        { v[$1, $2, $3] = $4; if ($3 == "order" && !($2 in seen)) { seen[$2]; program[++n] = $2 } }
        function speed(base, run, p) { return v[base, p, "gpu.cycles"] / v[run, p, "gpu.cycles"] }
        function average(base, run,   i, sum) {
            for (i = 1; i <= n; i++) sum += speed(base, run, program[i])
            return sum / n
        }
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

# Without misses, as in the paper; the last row but one is with misses.
# shellcheck disable=SC2086 # options
chains() {
    for at in alone memory; do
        [ $at = alone ] && perfect=true || perfect=false
        measure $at-none pepsc $core -m spe -s memory.perfect_l1=$perfect
        for n in 2 3 4 5; do
            measure $at-$n pepsc $core -m spe+chain -s chain.length=$n -s chain.dual=off -s memory.perfect_l1=$perfect
        done
        for n in 4 5 6; do
            measure $at-${n}d pepsc $core -m spe+chain -s chain.length=$n -s memory.perfect_l1=$perfect
        done
    done
    printf '\n| program | 2 | 3 | 4 | 5 | 4 dual | 5 dual | 6 dual |\n|---|---|---|---|---|---|---|---|\n'
    table 'function row(title, at, p,   k, x) {
            printf "| %s |", title
            for (k = 1; k <= m; k++) {
                x = p == "" ? average(at "none", at run[k]) : speed(at "none", at run[k], p)
                printf " %.3f |", x
            }
            print ""
        }
        END {
            m = split("2 3 4 5 4d 5d 6d", run, " ")
            for (i = 1; i <= n; i++) row(program[i], "alone-", program[i])
            row("mean", "alone-", "")
            row("mean, memory", "memory-", "")
            print "| the paper, mean | | | | 1.12 | | 1.18 | |"
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

# Plain loops; every instruction but a load takes one cycle, as in `heddle reproduce pepsc-10`.
# shellcheck disable=SC2086 # options
prefetch() {
    alone='-s pipe.forward=2 -s pepsc.registers=0 -s pepsc.pipeline=off'
    for key in latency.f32_add latency.f32_mul latency.f32_fma latency.f32_minmax latency.f32_div initiation.f32_div \
        latency.sfu initiation.sfu latency.int_div initiation.int_div; do
        alone="$alone -s $key=1"
    done
    for m in spe spe+stride spe+ddp; do
        measure $m pepsc-loops $core $alone -m $m
    done
    measure most pepsc-loops $core $alone -m spe -s l2.size=268435456 -s l2.host_copies=true
    printf '\n| program | stride | ddp | all in L2 | latency, stride | latency, ddp | mean degree | DRAM read: stride | ddp |\n'
    echo '|---|---|---|---|---|---|---|---|---|'
    table 'function change(run, p, what) {
            return v["spe", p, what] ? v[run, p, what] / v["spe", p, what] - 1 : 0
        }
        function all(run, what,   i, sum) {
            for (i = 1; i <= n; i++) sum += change(run, program[i], what)
            return percent(sum / n)
        }
        END {
            for (i = 1; i <= n; i++) {
                p = program[i]
                printf "| %s | %.2f | %.2f | %.2f | %s | %s | %.1f | %s | %s |\n", p, speed("spe", "spe+stride", p),
                    speed("spe", "spe+ddp", p), speed("spe", "most", p), percent(change("spe+stride", p, "mem.latency")),
                    percent(change("spe+ddp", p, "mem.latency")), v["spe+ddp", p, "ddp.degree"],
                    percent(change("spe+stride", p, "dram.read_bytes")), percent(change("spe+ddp", p, "dram.read_bytes"))
            }
            printf "| mean | %.2f | %.2f | %.2f | %s | %s | | %s | %s |\n", average("spe", "spe+stride"),
                average("spe", "spe+ddp"), average("spe", "most"), all("spe+stride", "mem.latency"),
                all("spe+ddp", "mem.latency"), all("spe+stride", "dram.read_bytes"), all("spe+ddp", "dram.read_bytes")
            print "| the paper, mean | 2.3 | 3.4 | | -62.2 % | -82.3 % | | +0.8 % | +1.3 % |"
        }'
}

# Programs in source form on the core, without misses and spilled registers; CUDA programs on an eighth of `gt200`.
# shellcheck disable=SC2086 # options
control() {
    source='-s memory.perfect_l1=on -s pepsc.registers=0 -s chain.ieee=off'
    fold="-m spe+chain+fold+reduce -s fold.selections=off"
    sides='lps_sides lu_sides srad_sides mc_sides'
    measure chains "$sides" $core -m spe+chain $source
    measure masks "$sides" $core -m spe+chain+fold -s fold.selections=off -s fold.parallel=off $source
    measure folded "$sides" $core $fold $source
    measure cuda-chains 'lps lu srad mc' $eighth -m spe+chain
    measure cuda-folded 'lps lu srad mc' $eighth -m spe+chain+fold+reduce
    printf '\n| program | overhead | FPUs only | against branches | CUDA, eighth | the paper |\n'
    echo '|---|---|---|---|---|---|'
    table 'function lost(run, p) { return v[run, p, "util.lost_serialization"] - v[run, p, "util.lost_no_warp"] }
        function inactive(run, p) { return 32 * v[run, p, "gpu.warp_instructions"] - v[run, p, "gpu.thread_instructions"] }
        function change(before, after) { return before ? sprintf("%+.0f %%", 100 * (after / before - 1)) : "none" }
        END {
            m = split("lps lu srad mc", name, " ")
            split("38 30 50 16", said, " ")
            for (i = 1; i <= m; i++) {
                p = name[i] "_sides"
                printf "| %s | %s | %s | %s | %s | -%d %% |\n", name[i],
                    change(inactive("masks", p), inactive("folded", p)), change(lost("masks", p), lost("folded", p)),
                    change(inactive("chains", p), inactive("folded", p)),
                    change(lost("cuda-chains", name[i]), lost("cuda-folded", name[i])), said[i]
            }
        }'
}

utilisation() {
    measure spe pepsc -c gt200 -m spe
    measure fold pepsc -c gt200 -m spe+chain+fold
    measure twice pepsc -c gt200 -m spe -s dram.bus_bytes=16 -s dram.atom=32
    printf '\n| program | of the peak | datapath | no op | memory | serialisation | no warp | pipe taken | lanes busy |'
    printf ' twice the bandwidth | speed, chain+fold |\n|---|---|---|---|---|---|---|---|---|---|---|\n'
    table 'function value(run, p, what) { return p == "" ? mean(run, "util." what) : v[run, p, "util." what] }
        function row(title, p,   k) {
            printf "| %s |", title
            for (k = 1; k <= m; k++) printf " %.1f %% |", 100 * value("spe", p, what[k])
            printf " %.1f %% | %.3f |\n", 100 * value("twice", p, "lanes_busy"),
                p == "" ? geometric("spe", "fold") : speed("spe", "fold", p)
        }
        END {
            m = split("utilization datapath no_flops memory serialization no_warp pipe_busy lanes_busy", what, " ")
            for (i = 1; i <= n; i++) row(program[i], program[i])
            row("mean", "")
        }'
}

# Each number of lanes has its own preset.
efficiency() {
    for lanes in 8 16 32 64; do
        [ $lanes = 32 ] && preset=pepsc || preset=pepsc-$lanes
        measure $lanes-1 pepsc -c "$preset" -m spe
        for n in 2 3 4 5; do
            measure $lanes-$n pepsc -c "$preset" -m spe+chain -s chain.length=$n
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
! wants chains || chains
! wants pipeline || pipeline
! wants prefetch || prefetch
! wants control || control
! wants utilisation || utilisation
! wants efficiency || efficiency
! wants power || power
