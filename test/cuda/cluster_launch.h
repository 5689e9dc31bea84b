/* Declarations of the functions of the CUDA driver that clusters.c and refused.c call. */
#include <stddef.h>

typedef struct module *CUmodule;
typedef struct function *CUfunction;
typedef struct context *CUcontext;
typedef unsigned long long CUdeviceptr;
int cuInit(unsigned), cuCtxCreate_v2(CUcontext *, unsigned, int), cuModuleLoadData(CUmodule *, const void *);
int cuModuleGetFunction(CUfunction *, CUmodule, const char *), cuMemAlloc_v2(CUdeviceptr *, size_t);
int cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t), cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);
int cuFuncSetAttribute(CUfunction, int, int), cuFuncGetAttribute(int *, int, CUfunction);
int cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **);
enum { CLUSTER_DIMENSION = 4, NON_PORTABLE = 14 };
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
int cuOccupancyMaxActiveClusters(int *, CUfunction, const struct config *);
int cuOccupancyMaxPotentialClusterSize(int *, CUfunction, const struct config *);
