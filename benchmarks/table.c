/* The table of benchmarks, in the order they are listed and run. A benchmark is one file and one row here. */
#include "bench.h"

extern const struct bench bench_vecadd, bench_sgemm, bench_reduction, bench_hotspot, bench_bfs, bench_lud;

const struct bench *const benches[] = {
    &bench_vecadd, &bench_sgemm, &bench_reduction, &bench_hotspot, &bench_bfs, &bench_lud,
};
const int n_benches = sizeof benches / sizeof benches[0];
