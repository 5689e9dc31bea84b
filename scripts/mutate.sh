#!/bin/bash
# Would the tests notice? Changes single places of the source (scripts/mutate.awk says how), builds each, and runs the
# suites that name the file. What no suite notices is listed: a test that is missing, or a change without a meaning.
#     scripts/mutate.sh [-n MUTANTS] [-s SEED] [-j JOBS] [FILE...]
# FILE: sources, by default those of control and timing. All is done in a copy, build/mutate/tree: the working tree is
# not touched, and an interrupted run leaves nothing behind. Results are also in build/mutate/results.tsv.
set -u
cd "$(dirname "$0")/.." || exit 2
mutants=200 seed=1 jobs=1
while getopts n:s:j: option; do
    case $option in
    n) mutants=$OPTARG ;;
    s) seed=$OPTARG ;;
    j) jobs=$OPTARG ;;
    *) sed -n '2,6s/^# *//p' "$0" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- isa/paths/*.c isa/interp/interp*.c timing/*.c timing/sm/*.c timing/mem/*.c timing/models/*.c timing/report/energy.c

# Suites of files that no test names by their header: the stages of an SM share one, models have none.
more_suites() {
    case $1 in
    timing/sm/sm*.c) echo timing_sm timing_micro timing_gpu timing_si models timing_energy timing_fetch ;;
    timing/gpu.c | timing/deadlock.c) echo timing_gpu timing_livelock models ;;
    timing/models/*.c) echo timing_reconv timing_reconv_figures timing_si models ;;
    timing/mem/lsu*.c) echo timing_lsu timing_micro ;;
    timing/mem/*.c) echo timing_memsys timing_micro ;;
    isa/paths/*.c) echo isa_reconv_spe isa_interp_models models ;;
    isa/interp/*.c) echo isa_interp isa_interp_models isa_barrier warp_sync models ;;
    frontend/edit*.c) echo frontend_edit ;;
    frontend/*.c) echo frontend_lower frontend_run frontend_passes frontend_edit ;;
    esac
}
# Suites beside the file (test/<room>/<file>.c) and those that include its header, as far as they exist.
suites_of() {
    local stem=${1%.c} tests
    tests=$(ls "test/$stem.c" 2>/dev/null; grep -rl --include='*.c' "#include \"$stem.h\"" test)
    {
        [ -z "$tests" ] || sed -n 's/^SUITE(\([a-z0-9_]*\)).*/\1/p' $tests
        for s in $(more_suites "$1"); do
            grep -rhoE "^SUITE\($s[a-z0-9_]*\)" test --include='*.c' | sed 's/SUITE(\(.*\))/\1/'
        done
    } | sort -u | tr '\n' ' '
}

top=$PWD work=$PWD/build/mutate
tree=$work/tree
mkdir -p "$tree"
git ls-files -co --exclude-standard | while read -r f; do [ -f "$f" ] && echo "$f"; done |
    tar cf - -T - | tar xf - -C "$tree" --skip-old-files
# Sources that changed since the last run: newer ones only, so that the build stays incremental.
git ls-files -co --exclude-standard | while read -r f; do
    [ ! -f "$f" ] || cmp -s "$f" "$tree/$f" || cp -p "$f" "$tree/$f"
done
cd "$tree" || exit 2
build() { nice make -s -j"$jobs" BUILD=build/mutate OPT=-O1 WARN= build/mutate/heddle build/mutate/check >"$work/build.log" 2>&1 </dev/null; }
export HEDDLE_BIN=build/mutate/heddle
# Runs suites in a time and with a memory that a mutant gone wild cannot exceed. 0: they pass.
run() { # SECONDS SUITE...
    local limit=$1
    shift
    (ulimit -v 16000000; ulimit -f 2000000; exec nice timeout -k 5 "$limit" build/mutate/check -j"$jobs" "$@") >"$work/run.log" 2>&1 </dev/null
}
build || { cat "$work/build.log" >&2; echo "mutate: the tree does not build" >&2; exit 1; }

for f in "$@"; do
    [ -f "$f" ] && awk -f "$top/scripts/mutate.awk" "$f" | sed "s|^|$f\t|"
done >"$work/all.tsv"
awk -v seed="$seed" 'BEGIN { srand(seed) } { printf "%.9f\t%s\n", rand(), $0 }' "$work/all.tsv" | sort | head -n "$mutants" |
    cut -f 2- | sort -t "$(printf '\t')" -k 1,1 -k 2,2n >"$work/chosen.tsv"
echo "mutate: $(wc -l <"$work/chosen.tsv") of $(wc -l <"$work/all.tsv") mutants"

killed=0 survived=0 broken=0 last='' limit=60
: >"$work/results.tsv"
while IFS=$'\t' read -r file line what text; do
    if [ "$file" != "$last" ]; then
        last=$file suites=$(suites_of "$file")
        build # the last file is whole again
        begin=$SECONDS
        if [ -z "$suites" ]; then
            echo "$file: no suite names it"
        elif ! run 600 $suites; then
            tail -5 "$work/run.log"
            echo "mutate: without a mutant the suites of $file fail: $suites" >&2
            exit 1
        fi
        limit=$((5 * (SECONDS - begin) + 20))
    fi
    cp -p "$file" "$work/original"
    awk -v at="$line" -v text="${text//\\/\\\\}" 'FNR == at { print text; next } { print }' "$work/original" >"$file"
    if ! build; then
        verdict=broken broken=$((broken + 1))
    elif [ -n "$suites" ] && ! run "$limit" $suites; then
        verdict=killed killed=$((killed + 1))
    else
        verdict=survived survived=$((survived + 1))
        printf '%s:%s: %s\n' "$file" "$line" "$what"
    fi
    printf '%s\t%s\t%s\t%s\n' "$verdict" "$file" "$line" "$what" >>"$work/results.tsv"
    cp "$work/original" "$file" # with a new date: it must be built again
done <"$work/chosen.tsv"
build
total=$((killed + survived))
echo "mutate: $killed of $total killed ($((total ? 100 * killed / total : 0)) %), $broken did not build"
awk -F '\t' '$1 != "broken" { n[$2]++; k[$2] += $1 == "killed" } END { for (f in n) printf "  %-36s %d of %d\n", f, k[f], n[f] }' \
    "$work/results.tsv" | sort
