#!/bin/bash
# Mutation testing. Changes single places of the source (by the rules of scripts/mutate.awk), and runs the suites of the
# changed file on each mutant. Lists the mutants that pass all suites: a test is missing, or the change has no effect.
# docs/testing.md has results.
#     scripts/mutate.sh [-n MUTANTS] [-s SEED] [-j JOBS] [-t SECONDS] [-r | -k] [FILE | FOLDER...]
# FILE: sources, by default control flow and timing. FOLDER: its sources, without subfolders. -r: only mutants that
# survived the last run and still apply. -k: the mutants made by hand in scripts/mutants.tsv.
# -t: omits suites with more processor time; mutants that only they detect count as survivors.
# Everything happens in a copy, build/mutate/tree: the working tree stays as it is, and may change meanwhile.
# Results of every mutant are in build/mutate/results.tsv: verdict, file, line, change, seconds, the suite that failed,
# the changed line.
set -u
cd "$(dirname "$0")/.." || exit 2
mutants=200 seed=1 jobs=1 again='' by_hand='' slowest=''
while getopts n:s:j:t:rk option; do
    case $option in
    n) mutants=$OPTARG ;;
    s) seed=$OPTARG ;;
    j) jobs=$OPTARG ;;
    t) slowest=$OPTARG ;;
    r) again=1 ;;
    k) by_hand=1 ;;
    *) sed -n '2,12s/^# *//p' "$0" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- isa/paths/*.c isa/interp/interp*.c timing/*.c timing/sm/*.c timing/sm/*/*.c timing/mem/*.c mechanisms/d*s/*.c timing/report/energy.c
for f in "$@"; do # expands folders to their sources
    shift
    if [ -d "$f" ]; then set -- "$@" "${f%/}"/*.c; else set -- "$@" "$f"; fi
done
tab=$(printf '\t')

# Prints more suites of a file, besides the suites of its folder and the suites that include its header.
more_suites() {
    case $1 in
    timing/sm/*) echo host_early_exit host_profile random_plain_kernels timing_micro timing_gpu timing_slots mechanisms_si_run timing_profile timing_energy mechanisms_reconv mechanisms_stack models ;;
    timing/mem/*) echo timing_micro timing_profile timing_energy timing_gpu timing_launches ;;
    mechanisms/*) echo frontend_barriers mechanisms_si_run mechanisms_reconv mechanisms_figures timing_profile timing_gpu warp_sync models ;;
    timing/report/*) echo timing_micro timing_gpu ;;
    timing/*) echo timing_livelock timing_slots mechanisms_reconv models ;;
    isa/jit/*) echo host_jit host_jit_calls host_jit_streams host_jit_vectors random_jit_kernels ;;
    isa/paths/*) echo isa_interp isa_barrier isa_call warp_sync host_paths mechanisms_reconv timing_livelock models ;;
    isa/exec/*) echo isa_arith isa_barrier isa_call isa_control isa_forms isa_memory isa_program frontend_opcodes host_textures host_samplers warp_sync mechanisms_reduce_run mechanisms_chain_run models ;;
    isa/interp/interp_jit*) echo host_jit host_jit_calls host_jit_streams host_jit_vectors random_jit_kernels ;;
    isa/interp/*) echo isa_barrier isa_call warp_sync host_paths host_launch models ;;
    frontend/passes/barriers.c | frontend/passes/region.c | frontend/analysis/joins.c | frontend/passes/leaving.c | frontend/analysis/waits.c)
        echo host_early_exit host_spin_locks random_gotos random_lock_kernels models ;;
    frontend/*) echo host_early_exit models ;;
    esac
}
# Prints the suites of a file. Omits suites that run the executable, since it is not built, and the suites of all opcodes
# and of random kernels, which take longest.
suites_of() {
    {
        ls "test/${1%/*}"/*.c
        grep -rl --include='*.c' "#include \"${1%.c}.h\"" test
        for s in $(more_suites "$1"); do grep -rlE --include='*.c' "^SUITE\($s\)" test; done
    } 2>/dev/null | sort -u | xargs grep -L HEDDLE_BIN | xargs sed -n 's/^SUITE(\([a-z0-9_]*\)).*/\1/p' |
        grep -vxE 'timing_opcodes|random_kernels'
}

top=$PWD work=$PWD/build/mutate
tree=$work/tree
mkdir -p "$tree/build" # where tests put files
git ls-files -co --exclude-standard | while read -r f; do [ -f "$f" ] && echo "$f"; done >"$work/files"
(cd "$tree" && find . -type f ! -path './obj/*' | sed 's|^\./||' | sort | comm -23 - <(sort "$work/files") | xargs -r rm -f)
while read -r f; do # copies changed files only, so that the build stays incremental
    cmp -s "$f" "$tree/$f" || { mkdir -p "$tree/$(dirname "$f")" && cp "$f" "$tree/$f"; }
done <"$work/files"
cd "$tree" || exit 2
make_it() { nice make "$@" BUILD=obj OPT='-O1 -g0' WARN=-w; }
make_it -s -j"$jobs" obj/check >"$work/build.log" 2>&1 </dev/null ||
    { tail "$work/build.log" >&2; echo "mutate: the tree does not build" >&2; exit 1; }
linker=''
for l in gold lld; do command -v "ld.$l" >/dev/null && linker=-fuse-ld=$l; done
link=$(make_it -n -W obj/libheddle-internal.a V=1 obj/check | grep -- '-o obj/check ')
# The source comes through a pipe, so that messages and assertions name the original file. So the objects of original and
# mutant differ only in code.
compile=$(make_it -n -W isa/decode.c V=1 obj/isa/decode.o | grep -- '-c -o')
compile=${compile%-c -o*}
compile=${compile//-MMD -MP/}
object() { # SOURCE NAME OBJECT
    { printf '# 1 "%s"\n' "$2"; cat "$1"; } | nice $compile -iquote "${2%/*}" -x c -c -o "$3" - 2>/dev/null
}
# Runs a suite with limits on time and memory, which stop a runaway mutant. Returns 0 if the suite passes. CK_RUN_SUITE
# selects exactly this suite, without other suites whose names begin with its name.
run() { # BINARY SECONDS SUITE
    (ulimit -v 16000000; ulimit -f 2000000; ulimit -c 0; ulimit -t "$2"
        CK_RUN_SUITE=$3 exec nice timeout -k 2 $((20 * $2)) "$1" -x "$3") >/dev/null 2>&1 </dev/null
}

for f in "$@"; do
    [ -f "$f" ] && awk -f "$top/scripts/mutate.awk" "$f" | sed "s|^|$f$tab|"
done >"$work/all.tsv"
if [ "$by_hand" ]; then
    grep -v '^#' "$top/scripts/mutants.tsv" | while IFS=$tab read -r file what old new; do
        awk -v file="$file" -v what="$what" -v old="${old//\\/\\\\}" -v new="${new//\\/\\\\}" '
            at = index($0, old) { found++; line = FNR; text = substr($0, 1, at - 1) new substr($0, at + length(old)) }
            END {
                if (found != 1) {
                    printf "mutate: %s: %d times, not once: %s\n", file, found, old >"/dev/stderr"
                    exit 1
                }
                printf "%s\t%d\t%s\t%s\n", file, line, what, text
            }' "$file" || echo "mutate: $file: nothing to change" >&2
    done
elif [ "$again" ]; then
    awk -F '\t' 'NR == FNR { if ($1 == "survived") old[$2 FS $3 FS $4 FS $7]; next } $0 in old' "$work/results.tsv" "$work/all.tsv"
else
    awk -v seed="$seed" 'BEGIN { srand(seed) } { printf "%.9f\t%s\n", rand(), $0 }' "$work/all.tsv" | sort | head -n "$mutants" | cut -f 2-
fi | sort -t "$tab" -k 1,1 -k 2,2n >"$work/chosen.tsv"
echo "mutate: $(wc -l <"$work/chosen.tsv") of $(wc -l <"$work/all.tsv") mutants"

# Measures the processor time of each suite without a mutant, in milliseconds. It determines the order, fast suites
# first, and the time limit. With -t, a suite that was too slow in the last run is not measured again.
touch "$work/times"
mv "$work/times" "$work/times-before"
slow_before() { [ "$slowest" ] && awk -v s="$1" -v limit="$slowest" '$2 == s && $1 > 1000 * limit { yes = 1 } END { exit !yes }' "$work/times-before"; }
: >"$work/times"
cut -f 1 "$work/chosen.tsv" | uniq | while read -r f; do suites_of "$f"; done | sort -u | while read -r s; do
    TIMEFORMAT='%3U %3S'
    slow_before "$s" && { grep " $s\$" "$work/times-before" >>"$work/times"; continue; }
    { time run obj/check 600 "$s" || { echo "mutate: without a mutant the suite fails: $s" >&3; exit 1; }; } 3>&2 2>"$work/time"
    awk -v s="$s" '{ print int(1000 * ($1 + $2)), s }' "$work/time" >>"$work/times"
done || exit 1
sort -n -o "$work/times" "$work/times"

verdict_of() { # WORKER: sets `verdict` and `noticed` for $work/WORKER.c; the original object is $work/WORKER-whole.o
    noticed=-
    object "$work/$1.c" "$file" "$work/$1.o" || { verdict=broken; return; }
    cmp -s "$work/$1.o" "$work/$1-whole.o" && { verdict=same; return; }
    (eval "nice ${link/-o obj\/check/$linker -o $work/$1-check $work/$1.o}") >/dev/null 2>&1 || { verdict=broken; return; }
    while read -r ms suite; do
        run "$work/$1-check" $((ms / 300 + 3)) "$suite" || { verdict=killed noticed=$suite; return; }
    done <"$work/$1-suites"
    verdict=survived
}
worker() { # WORKER
    local last=''
    while IFS=$tab read -r file line what text; do
        if [ "$file" != "$last" ]; then
            last=$file
            suites_of "$file" | sort -u | awk -v limit="${slowest:-600}" 'NR == FNR { of[$1]; next } $2 in of && $1 <= 1000 * limit' - "$work/times" >"$work/$1-suites"
            object "$file" "$file" "$work/$1-whole.o"
        fi
        begin=$(date +%s)
        awk -v at="$line" -v text="${text//\\/\\\\}" 'FNR == at { print text; next } { print }' "$file" >"$work/$1.c"
        verdict_of "$1"
        [ $verdict != survived ] || printf '%s:%s: %s\n-%s\n+%s\n' "$file" "$line" "$what" "$(sed -n "${line}p" "$file")" "$text"
        printf '%s\t%s\t%s\t%s\t%d\t%s\t%s\n' $verdict "$file" "$line" "$what" $(($(date +%s) - begin)) $noticed "$text" >>"$work/results.tsv"
    done
    rm -f "$work/$1"[-.]*
}
: >"$work/results.tsv"
for ((k = 0; k < jobs; k++)); do
    awk -v k=$k -v n="$jobs" 'NR % n == k' "$work/chosen.tsv" | worker "worker$k" &
done
wait
awk -F '\t' '{ n[$1]++; s += $5 } END {
    t = n["killed"] + n["survived"]
    printf "mutate: %d of %d killed (%d %%), %d gave the same code, %d did not build, %.1f s each\n", n["killed"], t, t ? 100 * n["killed"] / t : 0, n["same"], n["broken"], NR ? s / NR : 0 }' "$work/results.tsv"
# The share of killed mutants, by folder and by file.
awk -F '\t' '
    function count(of) { n[of]++; k[of] += $1 == "killed" }
    $1 == "killed" || $1 == "survived" { count($2); sub(/[^\/]*$/, "", $2); count($2) }
    END { for (of in n) printf "  %-36s %d of %d (%d %%)\n", of, k[of], n[of], 100 * k[of] / n[of] }' "$work/results.tsv" | sort
