/* The tables of benchmarks and of their sets, in the order in which they are listed and run. Each benchmark has its
 * own file and an entry here. */
#include "bench.h"
#include <string.h>

extern const struct bench bench_histogram64, bench_diffuse, bench_multiply, bench_binomial;
extern const struct bench bench_vecadd, bench_sgemm, bench_reduction, bench_hotspot, bench_bfs, bench_lud;
extern const struct bench bench_subwarps2, bench_subwarps4, bench_subwarps8, bench_subwarps16, bench_subwarps32;
extern const struct bench bench_arith;
extern const struct bench bench_stencil, bench_pathfinder, bench_nw, bench_srad, bench_spmv, bench_histogram;
extern const struct bench bench_transpose, bench_scan, bench_conv2d, bench_gemver, bench_mvt, bench_bicg;
extern const struct bench bench_kmeans, bench_gaussian, bench_cfd, bench_sad, bench_cutcp, bench_lbm;
extern const struct bench bench_binopt, bench_black, bench_fft, bench_fwt, bench_lps, bench_lu, bench_mc, bench_sde;
extern const struct bench bench_backprop, bench_mriq, bench_bfs1, bench_bfs2, bench_qsort;
extern const struct bench bench_mumpp, bench_ray, bench_mcml, bench_dxtc;
extern const struct bench bench_shade1, bench_shade2, bench_shade3, bench_shade4, bench_shade5, bench_shade6,
    bench_shade7, bench_shade8, bench_shade9, bench_shade10, bench_shadeunit1, bench_shadeunit2, bench_shadeunit3,
    bench_shadeunit4, bench_shadeunit5, bench_shadeunit6, bench_shadeunit7, bench_shadeunit8, bench_shadeunit9,
    bench_shadeunit10;
extern const struct bench bench_nw_loop, bench_srad_loop, bench_binopt_loop, bench_black_loop, bench_fft_loop,
    bench_fwt_loop, bench_lps_loop, bench_lu_loop, bench_mc_loop, bench_sde_loop, bench_lps_sides, bench_lu_sides,
    bench_srad_sides, bench_mc_sides;
extern const struct bench bench_jacobi1000, bench_levels2000, bench_transformer, bench_rays1080p;
extern const struct bench bench_card_backprop, bench_card_hotspot, bench_card_kmeans, bench_card_mriq;
extern const struct bench bench_niederreiter, bench_moro, bench_sobol, bench_dct_matrix, bench_dct_lines;
extern const struct bench bench_btree_find, bench_btree_range, bench_merge_tiles, bench_merge_pieces;
extern const struct bench bench_flash2, bench_gemm_mx, bench_flash3, bench_gemm_f16, bench_gemm_e4m3;

/* clang-format off */
/* The benchmarks that commands run only by name or by set: tensor and hopper, then large, then public. */
#define ONLY_BY_NAME \
    &bench_flash2, &bench_gemm_mx, &bench_flash3, &bench_gemm_f16, &bench_gemm_e4m3, \
    &bench_jacobi1000, &bench_levels2000, &bench_transformer, &bench_rays1080p, \
    &bench_histogram64, &bench_diffuse, &bench_multiply, &bench_binomial, \
    &bench_card_backprop, &bench_card_hotspot, &bench_card_kmeans, &bench_card_mriq, \
    &bench_niederreiter, &bench_moro, &bench_sobol, &bench_dct_matrix, &bench_dct_lines, \
    &bench_btree_find, &bench_btree_range, &bench_merge_tiles, &bench_merge_pieces
const struct bench *const benches[] = {
    &bench_vecadd, &bench_sgemm, &bench_reduction, &bench_hotspot, &bench_bfs, &bench_lud, &bench_subwarps2,
    &bench_subwarps4, &bench_subwarps8, &bench_subwarps16, &bench_subwarps32, &bench_arith,
    &bench_stencil, &bench_pathfinder, &bench_nw, &bench_srad, &bench_spmv, &bench_histogram, &bench_transpose,
    &bench_scan, &bench_conv2d, &bench_gemver, &bench_mvt, &bench_bicg, &bench_kmeans, &bench_gaussian,
    &bench_cfd, &bench_sad, &bench_cutcp, &bench_lbm, &bench_binopt, &bench_black, &bench_fft, &bench_fwt,
    &bench_lps, &bench_lu, &bench_mc, &bench_sde, &bench_backprop, &bench_mriq, &bench_bfs1, &bench_bfs2,
    &bench_qsort, &bench_mumpp, &bench_ray, &bench_mcml, &bench_dxtc, &bench_shade1, &bench_shade2,
    &bench_shade3, &bench_shade4, &bench_shade5, &bench_shade6, &bench_shade7, &bench_shade8, &bench_shade9,
    &bench_shade10, &bench_shadeunit1, &bench_shadeunit2, &bench_shadeunit3, &bench_shadeunit4, &bench_shadeunit5,
    &bench_shadeunit6, &bench_shadeunit7, &bench_shadeunit8, &bench_shadeunit9, &bench_shadeunit10,
    &bench_nw_loop, &bench_srad_loop, &bench_binopt_loop, &bench_black_loop, &bench_fft_loop,
    &bench_fwt_loop, &bench_lps_loop, &bench_lu_loop, &bench_mc_loop, &bench_sde_loop,
    &bench_lps_sides, &bench_lu_sides, &bench_srad_sides, &bench_mc_sides,
    ONLY_BY_NAME,
};
/* clang-format on */
enum { N_BENCHES = sizeof benches / sizeof benches[0] };
const int n_all_benches = N_BENCHES,
          n_benches = N_BENCHES - sizeof((const struct bench *const[]){ONLY_BY_NAME}) / sizeof benches[0];

const struct bench_set bench_sets[] = {
    {"classic", "first programs of every course: little or no divergence"},
    {"dual-path", "what the dual-path paper found interleavable: paths of both sides of a branch"},
    {"dual-path-regular", "those in which it found nothing to interleave"},
    {"subwarp", "the subwarp-interleaving paper: its micro-benchmark, and shaders in ten scenes"},
    {"pepsc", "the ten programs of the PEPSC paper"},
    {"pepsc-loops", "the same ten as plain loops of one warp, as that paper's cache simulator ran them"},
    {"pepsc-sides", "four of the ten with arithmetic on both sides of their branches"},
    {"dac", "decoupled affine computation: Rodinia, Parboil, PolyBench, CUDA samples"},
    {"tensor", "matrix products by tensor cores, and attention of transformers"},
    {"hopper", "the same by wgmma and the tensor memory accelerator, for -c h100"},
    {"large", "for --sampled: 10^8 warp instructions at size paper, 10^9 at size card"},
    {"public", "work and block shapes of public programs, for heddle validate CARD --programs"},
    {"speed", "for the simulator's own speed"},
};
const int n_bench_sets = sizeof bench_sets / sizeof bench_sets[0];

const struct bench *bench_find(const char *name) {
    for (int i = 0; i < n_all_benches; i++)
        if (strcmp(benches[i]->name, name) == 0)
            return benches[i];
    return NULL;
}
