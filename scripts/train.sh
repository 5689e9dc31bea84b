#!/bin/sh
# Runs a build with counters (PGO=train, see the Makefile), so that gcc learns what is run often. What `make bench`
# measures, and other forms of the same programs, are left out: what it says of a build with the profile is then what
# other programs gain, too. usage: train.sh HEDDLE PROFILE, the folder into which the counters are written
set -eu
heddle=$1
profile=$2
left_out='vecadd|sgemm|reduction|hotspot|bfs|bfs1|bfs2|lud|lu|arith'
all=$("$heddle" list benchmarks --csv | sed '1d; s/,.*//' | grep -vxE "$left_out")
some='stencil pathfinder nw srad spmv histogram transpose gemver gaussian cfd sad lbm lps backprop mcml ray'

rm -rf "$profile"
bench() { "$heddle" bench "$@" --size small >/dev/null; }
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
for cpu in base avx2; do # copies of a portable build, and their native code
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
