/* A program that prints the results of launches but ignores errors: its exit status is 0. First it launches a kernel
 * that declares clusters, or with an argument, launches a plain kernel with a cluster size. Then it launches the plain
 * kernel, which writes a word. */
#include "cluster_launch.h"
#include <stdio.h>

#define KERNEL(name, more)                                                                                             \
    ".visible .entry " name "(.param .u64 p) " more "{ .reg .b64 %d<2>; ld.param.u64 %d1, [p]; "                       \
    "st.global.u32 [%d1], 7; ret; }\n"
static const char ptx[] = ".version 7.8\n.target sm_90\n.address_size 64\n" KERNEL("plain", "")
    KERNEL("clusters", ".reqnctapercluster 2,1,1 ");

int main(int argc, char **argv) {
    CUcontext c;
    CUmodule m;
    CUfunction plain, clusters;
    CUdeviceptr p;
    unsigned word[2] = {0, 0};
    (void)argv;
    if (cuInit(0) || cuCtxCreate_v2(&c, 0, 0) || cuModuleLoadData(&m, ptx) || cuModuleGetFunction(&plain, m, "plain") ||
        cuModuleGetFunction(&clusters, m, "clusters") || cuMemAlloc_v2(&p, 4) || cuMemsetD8_v2(p, 0, 4))
        return 99;
    void *args[] = {&p};
    struct attribute a = {.id = CLUSTER_DIMENSION, .value.cluster = {2, 1, 1}};
    int first = argc > 1 ? cuLaunchKernelEx(&(struct config){{2, 1, 1}, {1, 1, 1}, 0, NULL, &a, 1}, plain, args, NULL)
                         : cuLaunchKernel(clusters, 2, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    cuMemcpyDtoH_v2(&word[0], p, 4);
    int second = cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    int wrong = cuLaunchKernel(plain, 1, 1, 1, 4096, 1, 1, 0, NULL, args, NULL); /* a GPU refuses this launch, too */
    cuMemcpyDtoH_v2(&word[1], p, 4);
    printf("%d %u %d %u %d\n", first, word[0], second, word[1], wrong != 0);
    return 0;
}
