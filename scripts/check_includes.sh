#!/bin/sh
# Checks that no folder includes a folder above it, by the order in docs/architecture.md ("Who may include whom"). Each
# line below names a folder and the folders that it may include besides its own files. --order only prints this order.
set -u
# Four lower folders make tables from the declarations of mechanisms (mechanisms/declared.def). A mechanism may include:
mechanism='ptx/arena.h isa isa/machine isa/exec isa/paths isa/affine isa/interp frontend frontend/analysis frontend/lower frontend/passes timing/config timing/report timing/mem timing/sm timing/sm/regfile timing/sm/sched timing/strides'
# The registry of statistics is made from the rows of all units, so timing/report may include these files of higher
# folders.
statistics=$(echo timing/mem/*_stats.def timing/sm/*_stats.def timing/sm/*/*_stats.def)
order='
ptx:
isa: ptx/spelling.h
isa/machine: isa ptx/diag.h ptx/source.h
isa/exec: isa isa/machine
isa/paths: isa isa/machine isa/exec mechanisms/declared.def
isa/affine: isa isa/machine isa/exec isa/paths
isa/jit: isa isa/machine
isa/interp: isa isa/machine isa/exec isa/paths isa/affine isa/jit
frontend: ptx isa isa/machine
frontend/analysis: ptx isa isa/machine isa/exec isa/paths isa/affine frontend
frontend/lower: ptx isa isa/machine isa/exec isa/paths frontend frontend/analysis
frontend/passes: ptx isa isa/machine isa/exec isa/paths isa/affine frontend frontend/analysis frontend/lower
timing/config: ptx/spelling.h isa isa/paths mechanisms/declared.def
timing/report: isa isa/machine isa/paths timing/config mechanisms/declared.def '"$statistics"'
timing/mem: isa isa/machine isa/exec isa/paths timing/config timing/report
timing/sm/fetch: isa isa/machine timing/config timing/report timing/mem
timing/sm/regfile: isa timing/config timing/report
timing/sm/sched: isa timing/config
timing/sm/scoreboard: isa isa/paths
timing/sm: timing/sm/fetch timing/sm/regfile timing/sm/sched timing/sm/scoreboard isa isa/machine isa/exec isa/paths isa/affine isa/interp timing/config timing/report timing/mem mechanisms/declared.def
timing/strides: isa isa/machine isa/exec isa/paths isa/affine timing/config timing/report timing/mem timing/sm
mechanisms: '"$(cd mechanisms && echo */*.def) $mechanism"'
timing: isa isa/machine isa/exec isa/paths isa/affine isa/jit isa/interp timing/config timing/report timing/mem timing/sm
host/sampled: isa isa/machine isa/exec isa/interp timing timing/report timing/sm
host: ptx isa isa/machine isa/exec isa/paths isa/affine isa/jit isa/interp frontend frontend/analysis frontend/lower frontend/passes timing timing/config timing/report timing/mem timing/sm mechanisms host/load host/results host/sampled
host/load: ptx
host/results: host/heddle.h timing/report
host/live: host timing/report
host/cuda/redirect:
host/cuda:
host/cuda/core: host/heddle.h host/load/fatbin.h host/load/elf_load.h host/load/follow.h host/live/live.h host/results/digest.h host/results/results_db.h host/results/results_json.h host/reserve.h
host/cuda/runtime: host/cuda/core host/cuda/functions.def
host/cuda/driver: host/cuda/core host/cuda/functions.def host/cuda/redirect/machine_code.h isa/tensormap.h
benchmarks: host/heddle.h
reproduce:
examples:
host/program: ptx host timing/config benchmarks
host/report: ptx isa timing/config timing/report host host/results benchmarks reproduce host/program
host/cli: ptx isa isa/machine isa/exec isa/paths isa/affine isa/jit isa/interp frontend frontend/analysis frontend/lower frontend/passes timing timing/config timing/report timing/mem timing/sm mechanisms host host/load host/results host/sampled host/live host/program benchmarks reproduce host/report
'
# A mechanism includes its own files and lower folders, but no other mechanism, and not the list of mechanisms.
for folder in mechanisms/*/; do
    order="$order${folder%/}: mechanisms/mechanism.h mechanisms/fused_inst.h $mechanism
"
done
if [ "${1:-}" = --order ]; then
    printf '%s' "$order"
    exit
fi
failed=$(printf '%s\n' "$order" | while IFS=: read -r room below; do
    [ -n "$room" ] || continue
    [ -d "$room" ] || echo "lint: there is no room $room (scripts/check_includes.sh)"
    for file in "$room"/*.[chly] "$room"/*.def; do
        [ -e "$file" ] || continue
        sed -n 's/^#include "\(.*\)"$/\1/p' "$file" | while read -r include; do
            case $include in
            */*) into=${include%/*} ;;
            *) continue ;;
            esac
            [ "$into" = "$room" ] && continue
            case " $below " in
            *" $into "* | *" $include "*) ;;
            *) echo "lint: $file includes $include: $into is not below $room" ;;
            esac
        done
    done
done)
# A folder without a line would not be checked.
for room in $(git ls-files '*.[ch]' | sed -n 's,/[^/]*$,,p' | sort -u); do
    case $room in test* | scripts*) continue ;; esac
    printf '%s\n' "$order" | grep -q "^$room:" || failed="$failed
lint: the room $room has no line in scripts/check_includes.sh"
done
# File names are unique.
for name in $(git ls-files '*.[chly]' | grep -vE '^(test|examples|kernels|scripts)/' | sed 's,.*/,,' | sort | uniq -d); do
    failed="$failed
lint: several files are called $name: $(git ls-files "*/$name" | grep -v '^test/' | tr '\n' ' ')"
done
[ -z "$failed" ] && echo 'lint: every room includes what is below it only' && exit 0
printf '%s\n' "$failed" >&2
exit 1
