/* Kernels that Nsight Compute measured: averages over all launches, with caches emptied before each launch and locked
 * clocks. The file was published twice, from two series of measurements on the same card: first with AccelWattch's
 * paper, then in release 1.0. Cycles of the two differ by at most 5 %, writes to DRAM by up to 67 %: the first has
 * writes of ComputeQ and of dct8x8, which write less than a third of the L2, the second has none. */
#include "card_kernels.h"
#include <stddef.h>

const char card_kernels_source[] = "V. Kandiah et al., AccelWattch, MICRO 2021, hw_perf.csv of the Accel-Sim "
                                   "repository (Nsight Compute): Quadro GV100; writes again: the file of release 1.0";

const struct card_kernel card_kernels[] = {
    {"gv100", "backprop (Rodinia 3.1, 65536)", "layerforward", "card_backprop", "card_layer", NULL, 23833, 147464,
     60089, 29030, 147460, 60097},
    {"gv100", "backprop (Rodinia 3.1, 65536)", "adjust_weights", "card_backprop", "card_adjust", NULL, 32360, 286738,
     190810, 54154, 286734, 190646},
    {"gv100", "hotspot (Rodinia 3.1, 1024 2 2)", "calculate_temp", "card_hotspot", "card_heat", NULL, 54627, 262147,
     65651, 486712, 262144, 66263},
    {"gv100", "kmeans (Rodinia 3.1, 819,200 points)", "kmeansPoint", "card_kmeans", "card_nearest", NULL, 894072,
     12331030, 92241, 6750338, 12298576, 92473},
    {"gv100", "srad_v1 (Rodinia 3.1, 100 0.5 502 458)", "srad", "diffuse", "diffuse", NULL, 14469, 29002, 52306, 68101,
     28984, 45424},
    {"gv100", "sad (Parboil, large)", "mb_sad_calc", NULL, NULL, "sad would run for an hour", 6544694, 258041, 8720500,
     8785693, 257280, 8720433},
    {"gv100", "sgemm (Parboil, medium)", "mysgemmNT", "multiply", "multiply", NULL, 361311, 393276, 110281, 2059848,
     393088, 36894},
    {"gv100", "mri-q (Parboil, large)", "ComputeQ", "card_mriq", "card_phase", NULL, 695815, 164412, 39393, 0, 163840,
     0},
    {"gv100", "binomialOptions (CUDA samples)", "binomialOptions", "binomial", "binomial", NULL, 1369889, 640, 0, 0, 0,
     0},
    {"gv100", "fastWalshTransform (CUDA samples)", "fwtBatch2", "fwt", "fwt_far", NULL, 126020, 1048617, 1012740, 0,
     1048576, 945003},
    {"gv100", "fastWalshTransform (CUDA samples)", "fwtBatch1", "fwt", "fwt_near", NULL, 150811, 1048662, 1038813, 0,
     1048576, 950303},
    {"gv100", "histogram (CUDA samples)", "histogram64", "histogram64", "histogram64", NULL, 148547, 2097186, 36415, 0,
     2097152, 26959},
    {"gv100", "quasirandomGenerator (CUDA samples)", "quasirandomGeneratorKernel", "niederreiter", "niederreiter", NULL,
     80603, 51, 317041, 0, 0, 294938},
    {"gv100", "quasirandomGenerator (CUDA samples)", "inverseCNDKernel", "moro", "moro", NULL, 58342, 9, 294940, 0, 0,
     294942},
    {"gv100", "sobolQRNG (CUDA samples, 100,000 vectors, 100 dimensions)", "sobolGPU_kernel", "sobol", "sobol", NULL,
     112082, 409, 1151786, 31528, 400, 1151641},
    {"gv100", "dct8x8 (CUDA samples)", "CUDAkernel1DCT", "dct_matrix", "dct_matrix", NULL, 24310, 32792, 2408, 16384,
     32768, 0},
    {"gv100", "dct8x8 (CUDA samples)", "CUDAkernel2DCT", "dct_lines", "dct_lines", NULL, 6110, 32790, 1316, 0, 32768,
     0},
    {"gv100", "b+tree (Rodinia 3.1, 10^6 keys)", "findK", "btree_find", "btree_find", NULL, 80887, 255073, 2566, 366821,
     255282, 2562},
    {"gv100", "b+tree (Rodinia 3.1, 10^6 keys)", "findRangeK", "btree_range", "btree_range", NULL, 66421, 259526, 3546,
     397493, 259511, 3528},
    {"gv100", "mergeSort (CUDA samples)", "mergeSortSharedKernel", "merge_tiles", "merge_tiles", NULL, 442243, 1048580,
     949813, 0, 1048576, 950177},
    {"gv100", "mergeSort (CUDA samples)", "mergeElementaryIntervalsKernel", "merge_pieces", "merge_pieces", NULL,
     156529, 1056796, 959627, 199703, 1056768, 959735},
    {0},
};
