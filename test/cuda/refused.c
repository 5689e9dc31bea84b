/* A program that prints the results of launches but ignores errors: its exit status is 0. First it launches a kernel
 * that declares clusters, or with an argument, launches a plain kernel with a cluster size. Then it launches the plain
 * kernel, which writes a word. */
#include <stdio.h>

typedef struct module *CUmodule;
typedef struct function *CUfunction;
typedef struct context *CUcontext;
typedef unsigned long long CUdeviceptr;
int cuInit(unsigned), cuCtxCreate_v2(CUcontext *, unsigned, int), cuModuleLoadData(CUmodule *, const void *);
int cuModuleGetFunction(CUfunction *, CUmodule, const char *), cuMemAlloc_v2(CUdeviceptr *, size_t);
int cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t), cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);
int cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **);
struct attribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        unsigned cluster[3];
    } value;
};
struct config {
    unsigned grid[3], block[3], shared;
    void *stream;
    struct attribute *attributes;
    unsigned n;
};
int cuLaunchKernelEx(const struct config *, CUfunction, void **, void **);

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
    struct attribute a = {.id = 4, .value.cluster = {2, 1, 1}};
    int first = argc > 1 ? cuLaunchKernelEx(&(struct config){{2, 1, 1}, {1, 1, 1}, 0, NULL, &a, 1}, plain, args, NULL)
                         : cuLaunchKernel(clusters, 2, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    cuMemcpyDtoH_v2(&word[0], p, 4);
    int second = cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    int wrong = cuLaunchKernel(plain, 1, 1, 1, 4096, 1, 1, 0, NULL, args, NULL); /* a GPU refuses this launch, too */
    cuMemcpyDtoH_v2(&word[1], p, 4);
    printf("%d %u %d %u %d\n", first, word[0], second, word[1], wrong != 0);
    return 0;
}
