/* A program that launches kernels in clusters. The kernel `size` writes the number of CTAs of its cluster. The program
 * prints, for launches in clusters of 4, 9 and 16 blocks, the error and what the kernel wrote; see main(). */
#include "cluster_launch.h"
#include <stdio.h>

#define KERNEL(name, more)                                                                                             \
    ".visible .entry " name "(.param .u64 p) " more "{ .reg .b64 %d<2>; .reg .b32 %r; ld.param.u64 %d1, [p]; "         \
    "mov.u32 %r, %cluster_nctarank; st.global.u32 [%d1], %r; ret; }\n"
static const char ptx[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n" KERNEL("size", "") KERNEL("pairs", ".reqnctapercluster 2,1,1 ");
static CUfunction size, pairs;
static CUdeviceptr p;
static void *args[] = {&p};

/* Launches 144 blocks of `threads` threads in clusters of n blocks. */
static struct config config(struct attribute *a, unsigned n, unsigned threads) {
    *a = (struct attribute){.id = CLUSTER_DIMENSION, .value.cluster = {n, 1, 1}};
    return (struct config){{144, 1, 1}, {threads, 1, 1}, 0, NULL, a, 1};
}

static int launch(unsigned n) {
    struct attribute a;
    struct config c = config(&a, n, 32);
    return cuLaunchKernelEx(&c, size, args, NULL);
}

static unsigned word(void) {
    unsigned w = 0;
    cuMemcpyDtoH_v2(&w, p, 4);
    return w;
}

int main(void) {
    CUcontext context;
    CUmodule m;
    struct attribute a;
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuModuleLoadData(&m, ptx) ||
        cuModuleGetFunction(&size, m, "size") || cuModuleGetFunction(&pairs, m, "pairs") || cuMemAlloc_v2(&p, 4))
        return 99;
    int e = launch(4);
    printf("%d %u", e, word()); /* 0 4 */
    e = cuLaunchKernel(pairs, 3, 1, 1, 1, 1, 1, 0, NULL, args, NULL) != 912;
    printf(" %d", e);                        /* 0: error 912, as 3 blocks do not form pairs */
    printf(" %d %d", launch(9), launch(16)); /* 912 912: not portable */
    cuFuncSetAttribute(size, NON_PORTABLE, 1);
    e = launch(16);
    printf(" %d %u", e, word()); /* 0 16 */
    e = cuLaunchKernel(pairs, 4, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    printf(" %d %u", e, word()); /* 0 2 */
    int n = -1, large = -1, fit = -1;
    struct config c = config(&a, 2, 1024);
    e = cuOccupancyMaxPotentialClusterSize(&n, pairs, &c) || n != 2;
    cuFuncSetAttribute(size, NON_PORTABLE, 0);
    cuOccupancyMaxPotentialClusterSize(&n, size, &c);
    cuFuncSetAttribute(size, NON_PORTABLE, 1);
    cuOccupancyMaxPotentialClusterSize(&large, size, &c);
    printf(" %d %d %d", e, n, large); /* 0 8 16 */
    /* an SM of the h100 holds two blocks of 1024 threads: its 132 SMs hold 132 pairs */
    e = cuOccupancyMaxActiveClusters(&fit, size, &c);
    printf(" %d %d\n", e, fit);
    return 0;
}
