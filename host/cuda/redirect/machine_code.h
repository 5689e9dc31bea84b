#ifndef CUDA_MACHINE_CODE_H
#define CUDA_MACHINE_CODE_H
/* NVIDIA's libraries that contain machine code for GPUs instead of PTX. The beginning of its file name identifies a
 * library. */
#include <string.h>

struct machine_code {
    const char *file, *name;
};

/* Returns the library that a file belongs to; NULL if it belongs to none. `path` may contain folders. */
static inline const struct machine_code *machine_code_library(const char *path) {
    static const struct machine_code all[] = {
        {"libcublas", "cuBLAS"},    {"libnvblas", "cuBLAS"},       {"libcurand", "cuRAND"},
        {"libcufft", "cuFFT"},      {"libcusparse", "cuSPARSE"},   {"libcusolver", "cuSOLVER"},
        {"libcudnn", "cuDNN"},      {"libnccl", "NCCL"},           {"libnpp", "NPP"},
        {"libnvjpeg", "nvJPEG"},    {"libcutensor", "cuTENSOR"},   {"libcudss", "cuDSS"},
        {"libnvinfer", "TensorRT"}, {"libcuquantum", "cuQuantum"}, {"libcustatevec", "cuQuantum"},
    };
    const char *file = strrchr(path, '/');
    file = file ? file + 1 : path;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strncmp(file, all[i].file, strlen(all[i].file)) == 0)
            return &all[i];
    return NULL;
}

/* Returns the name of the library that defines a function, or NULL. The table has functions that every user of a
 * library calls, so one of them is present if the library is linked statically. */
static inline const char *machine_code_function(const char *name) {
    static const char *const all[][2] = {
        {"cublasCreate_v2", "cuBLAS"},    {"cublasLtCreate", "cuBLAS"},     {"curandCreateGenerator", "cuRAND"},
        {"cufftPlan1d", "cuFFT"},         {"cufftCreate", "cuFFT"},         {"cusparseCreate", "cuSPARSE"},
        {"cusolverDnCreate", "cuSOLVER"}, {"cusolverSpCreate", "cuSOLVER"}, {"cudnnCreate", "cuDNN"},
        {"ncclCommInitRank", "NCCL"},     {"nppGetLibVersion", "NPP"},      {"nvjpegCreateSimple", "nvJPEG"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(name, all[i][0]) == 0)
            return all[i][1];
    return NULL;
}
#endif
