#!/bin/sh
# PTX of the benchmarks that are written in CUDA C: kernels/NAME.ptx from kernels/NAME.cu, headed by its first comment.
# Needs nvcc (NVCC=path). Contraction is off: the sources say fmaf() where they want it, so that plain C can repeat each
# rounding; but it is the compiler's, as with plain nvcc -O3, for sources whose head has a line "// Contraction: ...".
# usage: scripts/compile_kernels.sh [NAME...], without names all whose .ptx was made by it.
#   OPT='-Xcicc -O0'  in place of -O3             OUT=FOLDER  in place of kernels; it gets the other kernels as they are,
#                                                 so that HEDDLE_KERNELS=FOLDER heddle ... runs with it
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- $(grep -l "^// Compiled by scripts/compile_kernels.sh" kernels/*.ptx | sed 's|kernels/||; s|\.ptx$||')
out=${OUT:-kernels}
[ "$out" = kernels ] || { mkdir -p "$out" && cp kernels/*.ptx "$out"; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for name; do
    fmad=' -fmad=false'
    ! grep -q '^// Contraction: ' "kernels/$name.cu" || fmad=
    how="nvcc ${OPT:--O3}$fmad -arch=sm_75 -ptx"
    ${NVCC:-nvcc} ${how#nvcc } -o "$tmp/out.ptx" "kernels/$name.cu"
    {
        sed -n '/^\/\//!q; p' "kernels/$name.cu"
        echo "// Compiled by scripts/compile_kernels.sh: $how $name.cu"
        sed 's/[[:space:]]*$//' "$tmp/out.ptx"
    } >"$tmp/$name.ptx"
    mv "$tmp/$name.ptx" "$out/$name.ptx"
done
