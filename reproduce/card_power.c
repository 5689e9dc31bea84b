/* Mean power of kernels on cards. */
#include "card_kernels.h"
#include <string.h>

const char card_power_source[] = "V. Kandiah et al., AccelWattch, MICRO 2021, hw_power_validation_volta.csv of the "
                                 "Accel-Sim repository: mean of five "
                                 "runs";

static const struct {
    const char *card, *kernel; /* as in struct card_kernel */
    double watts;
} powers[] = {
    {"gv100", "layerforward", 219.8},
    {"gv100", "adjust_weights", 152.1},
    {"gv100", "calculate_temp", 229.6},
    {"gv100", "kmeansPoint", 151.9},
    {"gv100", "srad", 188.5},
    {"gv100", "mb_sad_calc", 142.5},
    {"gv100", "mysgemmNT", 217.5},
    {"gv100", "ComputeQ", 189.4},
    {"gv100", "binomialOptions", 169.7},
    {"gv100", "fwtBatch2", 121.5},
    {"gv100", "fwtBatch1", 167.1},
    {"gv100", "histogram64", 194.5},
    {"gv100", "quasirandomGeneratorKernel", 153.0},
    {"gv100", "inverseCNDKernel", 145.7},
    {"gv100", "sobolGPU_kernel", 200.4},
    {"gv100", "CUDAkernel1DCT", 111.9},
    {"gv100", "CUDAkernel2DCT", 130.1},
    {"gv100", "findK", 157.0},
    {"gv100", "findRangeK", 172.7},
    {"gv100", "mergeSortSharedKernel", 172.9},
    {"gv100", "mergeElementaryIntervalsKernel", 201.3},
};

double card_kernel_watts(const struct card_kernel *k) {
    for (size_t i = 0; i < sizeof powers / sizeof powers[0]; i++)
        if (strcmp(powers[i].card, k->card) == 0 && strcmp(powers[i].kernel, k->kernel) == 0)
            return powers[i].watts;
    return 0;
}
