#!/bin/sh
# Runs a build with counters (PGO=train, see the Makefile), so that gcc learns which code is hot. The programs that `make
# bench` measures, and variants of them, are not run: so the measured gain of a profiled build also holds for other
# programs. usage: train.sh HEDDLE PROFILE, the folder for the counters
set -eu
heddle=$1
profile=$2
left_out='vecadd|sgemm|reduction|hotspot|bfs|bfs1|bfs2|lud|lu|arith'
all=$("$heddle" list benchmarks --csv | sed '1d; s/,.*//' | grep -vxE "$left_out")
some='stencil pathfinder nw srad spmv histogram transpose gemver gaussian cfd sad lbm lps backprop mcml ray'

rm -rf "$profile"
# Some programs do not fit into the machine: the others still run, and the exit status is 1. A crash ends the script.
bench() { "$heddle" bench "$@" --size small >/dev/null || [ $? -le 2 ]; }
bench $all -m spe
bench $all -m functional
bench $all -m functional --jit=off
for model in dpe dws50 its si minpc spe+dac; do
    bench $some -m $model
done
for config in gt200 turing fermi-gpgpusim; do
    bench $some -m spe -c $config
done
bench $some -m its -c volta
bench $some -m si -c turing
bench $some -m pepsc -c pepsc
bench $some -m spe -j 2
for cpu in base avx2; do # the copies of code in a portable build, and their native code
    (
        export HEDDLE_CPU=$cpu
        bench $some -m functional
        bench $some -m functional --jit=off
    )
done
for file in test/compiled/loops_*.ptx test/compiled/nvcc_*.ptx; do
    "$heddle" inspect "$file" >/dev/null
done
if [ -z "$(find "$profile" -name '*.gcda' 2>/dev/null)" ]; then
    echo "train.sh: $heddle wrote no counters to $profile; it takes gcc 11 or later" >&2
    exit 1
fi
