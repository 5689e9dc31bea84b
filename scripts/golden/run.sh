#!/bin/sh
# Makes golden vectors on a real GPU: builds the PTX of every instruction form, groups the forms by the lowest architecture
# whose assembler accepts them, runs them and writes test/golden/*.txt.
# usage: scripts/golden/run.sh [--no-run]      --no-run: all but the last step, which needs a GPU
set -eu
cd "$(dirname "$0")/../.."
work=build/golden
version=${PTX_VERSION:-8.7}
archs=${ARCHS:-"75 80 86 89 90 100"} # lowest first
PATH=$PATH:/usr/local/cuda/bin
for tool in ptxas nvcc; do
    command -v $tool >/dev/null || { echo "golden: $tool is missing (CUDA toolkit 12.8 or later)" >&2; exit 1; }
done
native=${ARCH:-}
if [ -z "$native" ] && command -v nvidia-smi >/dev/null; then
    native=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .) || native=
fi
native=${native:-90}

make --no-print-directory BUILD=$work/obj OPT=-O1 $work/obj/libheddle-internal.a $work/obj/test/golden/golden_forms.o
cc=${CC:-gcc}
$cc -std=gnu11 -D_GNU_SOURCE -I. -O1 -o $work/forms scripts/golden/forms.c $work/obj/test/golden/golden_forms.o \
    $work/obj/libheddle-internal.a -lm -pthread
$work/forms list >$work/forms.txt
cut -f 1 $work/forms.txt >$work/left

# The assembler reports the lines that it refuses. Each kernel is one line, after a heading of three lines. Without these
# lines, the assembler may refuse more, so it runs again.
modules=
for arch in $archs; do
    cp $work/left $work/try
    : >$work/left
    while [ -s $work/try ]; do
        $work/forms ptx "$version" sm_$arch <$work/try >$work/sm_$arch.ptx
        ptxas -arch=sm_$arch -o $work/sm_$arch.cubin $work/sm_$arch.ptx >$work/sm_$arch.log 2>&1 && break
        sed -n 's/.*, line \([0-9]*\); *error.*/\1/p' $work/sm_$arch.log | sort -nu >$work/refused
        [ -s $work/refused ] || { tail -n 5 $work/sm_$arch.log >&2; exit 1; }
        awk 'NR == FNR { bad[$1 - 3] = 1; next } bad[FNR]' $work/refused $work/try >>$work/left
        awk 'NR == FNR { bad[$1 - 3] = 1; next } !bad[FNR]' $work/refused $work/try >$work/keep
        mv $work/keep $work/try
    done
    n=$(wc -l <$work/try)
    echo "golden: sm_$arch: $n forms more"
    if [ "$n" -gt 0 ] && [ "$arch" -le "$native" ]; then
        [ "$arch" = "$native" ] || ptxas -arch=sm_$native -o $work/sm_$arch.cubin $work/sm_$arch.ptx
        modules="$modules $work/sm_$arch.cubin"
    fi
    sort -n -o $work/left $work/left
done
awk -F'\t' 'NR == FNR { left[$1] = 1; next } left[$1] { print $2 }' $work/left $work/forms.txt >$work/refused_everywhere.txt
echo "golden: $(wc -l <$work/refused_everywhere.txt) forms are refused everywhere, see $work/refused_everywhere.txt"

nvcc -arch=sm_$native -I. -o $work/golden scripts/golden/golden.cu $work/obj/test/golden/golden_forms.o $work/obj/libheddle-internal.a \
    -lcuda -L/usr/local/cuda/lib64/stubs
[ "${1:-}" = --no-run ] && exit 0
mkdir -p test/golden
$work/golden test/golden $modules
