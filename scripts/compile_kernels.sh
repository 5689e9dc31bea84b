#!/bin/sh
# Compiles the benchmarks in CUDA C to PTX: kernels/NAME.cu to kernels/NAME.ptx, which starts with the source's first
# comment. Needs nvcc (NVCC=path). Contraction is off: sources call fmaf() where they need it, so that C code can repeat
# each rounding. A line "// Contraction: ..." in the head of a source leaves contraction to the compiler, as nvcc -O3. A
# line "// Architecture: sm_90a" names an architecture other than sm_75.
# usage: scripts/compile_kernels.sh [NAME...], without names: all kernels whose .ptx this script made.
#   OPT='-Xcicc -O0'  instead of -O3             OUT=FOLDER  instead of kernels; other kernels are copied to it, so that
#                                                HEDDLE_KERNELS=FOLDER heddle ... runs with it
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
    arch=$(sed -n 's|^// Architecture: \(sm_[0-9]*[a-z]*\)\.*$|\1|p' "kernels/$name.cu")
    how="nvcc ${OPT:--O3}$fmad -arch=${arch:-sm_75} -ptx"
    ${NVCC:-nvcc} ${how#nvcc } -o "$tmp/out.ptx" "kernels/$name.cu"
    {
        sed -n '/^\/\//!q; p' "kernels/$name.cu"
        echo "// Compiled by scripts/compile_kernels.sh: $how $name.cu"
        sed 's/[[:space:]]*$//' "$tmp/out.ptx"
    } >"$tmp/$name.ptx"
    mv "$tmp/$name.ptx" "$out/$name.ptx"
done
