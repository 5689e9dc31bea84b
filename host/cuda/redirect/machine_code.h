#ifndef CUDA_MACHINE_CODE_H
#define CUDA_MACHINE_CODE_H
/* NVIDIA's libraries of machine code, by the beginning of their file names. */
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

/* Returns the statically linked library that a function belongs to. The table has functions that every user of the
 * library calls. */
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
