/* The table of benchmarks, in the order they are listed and run. A benchmark is one file and one row here. */
#include "bench.h"

extern const struct bench bench_vecadd, bench_sgemm, bench_reduction, bench_hotspot, bench_bfs, bench_lud;
extern const struct bench bench_subwarps2, bench_subwarps4, bench_subwarps8, bench_subwarps16, bench_subwarps32;
extern const struct bench bench_arith;

const struct bench *const benches[] = {
    &bench_vecadd,    &bench_sgemm,     &bench_reduction, &bench_hotspot,    &bench_bfs,        &bench_lud,
    &bench_subwarps2, &bench_subwarps4, &bench_subwarps8, &bench_subwarps16, &bench_subwarps32, &bench_arith,
};
const int n_benches = sizeof benches / sizeof benches[0];
