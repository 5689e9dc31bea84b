/* Libraries of kernels that programs load at run time, of CUDA 12 and 13: modules (driver_module.c) that belong to no
 * context. A CUlibrary is a module, a CUkernel and a CUfunction are the same kernel. */
#include "driver.h"
#include "host/cuda/runtime/runtime_launch.h"
#include <string.h>

static enum cuda_error finish(struct cuda_module **out, enum cuda_error e) {
    if (!e)
        (*out)->is_library = true;
    return e;
}

/* Options of the library tell how its bytes may be used, which are not kept: none matters here. */
static enum cuda_error options_are_there(const void *names, unsigned n) {
    return n && !names ? CUDA_ErrorInvalidValue : CUDA_Success;
}

static enum cuda_error load(struct cuda_module **out, const void *code, const struct driver_jit *o, const void *options,
                            unsigned n_options) {
    enum cuda_error e = options_are_there(options, n_options);
    return e ? e : finish(out, driver_load(out, code, o));
}

static enum cuda_error load_file(struct cuda_module **out, const char *path, const struct driver_jit *o,
                                 const void *options, unsigned n_options) {
    enum cuda_error e = options_are_there(options, n_options);
    return e ? e : finish(out, driver_load_file(out, path, o));
}

CUDA_API enum cuda_error cuLibraryLoadData(struct cuda_module **out, const void *code, const int *names, void **values,
                                           unsigned n, const int *options, void **option_values, unsigned n_options) {
    (void)option_values;
    DRIVER_FREE(load(out, code, &(struct driver_jit){n, names, values}, options, n_options));
}
CUDA_API enum cuda_error cuLibraryLoadFromFile(struct cuda_module **out, const char *path, const int *names,
                                               void **values, unsigned n, const int *options, void **option_values,
                                               unsigned n_options) {
    (void)option_values;
    DRIVER_FREE(load_file(out, path, &(struct driver_jit){n, names, values}, options, n_options));
}
CUDA_API enum cuda_error cudaLibraryLoadData(struct cuda_module **out, const void *code, const int *names,
                                             void **values, unsigned n, const int *options, void **option_values,
                                             unsigned n_options) {
    (void)option_values;
    GUARD(load(out, code, &(struct driver_jit){n, names, values}, options, n_options));
}
CUDA_API enum cuda_error cudaLibraryLoadFromFile(struct cuda_module **out, const char *path, const int *names,
                                                 void **values, unsigned n, const int *options, void **option_values,
                                                 unsigned n_options) {
    (void)option_values;
    GUARD(load_file(out, path, &(struct driver_jit){n, names, values}, options, n_options));
}

/* As of a module, its memory stays. */
static enum cuda_error unload(struct cuda_module *m) {
    if (!driver_module_of(m) || !m->is_library)
        return CUDA_ErrorInvalidResourceHandle;
    m->unloaded = true;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuLibraryUnload(struct cuda_module *m) { DRIVER_FREE(unload(m)); }
CUDA_API enum cuda_error cudaLibraryUnload(struct cuda_module *m) { GUARD(unload(m)); }

/* ---- what is in them ---- */

CUDA_API enum cuda_error cuLibraryGetKernel(struct cuda_kernel **out, struct cuda_module *m, const char *name) {
    DRIVER_FREE(driver_function_of(out, m, name));
}
CUDA_API enum cuda_error cudaLibraryGetKernel(struct cuda_kernel **out, struct cuda_module *m, const char *name) {
    GUARD(driver_function_of(out, m, name));
}
CUDA_API enum cuda_error cuLibraryGetKernelCount(unsigned *out, const struct cuda_module *m) {
    DRIVER_FREE(driver_count_functions(out, m));
}
CUDA_API enum cuda_error cudaLibraryGetKernelCount(unsigned *out, const struct cuda_module *m) {
    GUARD(driver_count_functions(out, m));
}
CUDA_API enum cuda_error cuLibraryEnumerateKernels(struct cuda_kernel **out, unsigned n, struct cuda_module *m) {
    DRIVER_FREE(driver_list_functions(out, n, m));
}
CUDA_API enum cuda_error cudaLibraryEnumerateKernels(struct cuda_kernel **out, unsigned n, struct cuda_module *m) {
    GUARD(driver_list_functions(out, n, m));
}

static enum cuda_error module_of(struct cuda_module **out, struct cuda_module *m) {
    if (!out || !driver_module_of(m))
        return out ? CUDA_ErrorInvalidResourceHandle : CUDA_ErrorInvalidValue;
    *out = m;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuLibraryGetModule(struct cuda_module **out, struct cuda_module *m) {
    DRIVER(module_of(out, m));
}

CUDA_API enum cuda_error cuLibraryGetGlobal(uint64_t *address, size_t *bytes, struct cuda_module *m, const char *name) {
    DRIVER(driver_global_of(address, bytes, m, name));
}
CUDA_API enum cuda_error cudaLibraryGetGlobal(uint64_t *address, size_t *bytes, struct cuda_module *m,
                                              const char *name) {
    GUARD(driver_global_of(address, bytes, m, name));
}

/* Of the variables those that the host has at the same address. */
static enum cuda_error managed(uint64_t *address, size_t *bytes, struct cuda_module *m, const char *name) {
    uint64_t at = 0;
    size_t size = 0;
    bool shared = false;
    enum cuda_error e = address || bytes ? driver_global_of(&at, &size, m, name) : CUDA_ErrorInvalidValue;
    if (e || !heddle_buffer(cuda_core.h, at, NULL, NULL, &shared) || !shared)
        return e ? e : CUDA_ErrorSymbolNotFound;
    if (address)
        *address = at;
    if (bytes)
        *bytes = size;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuLibraryGetManaged(uint64_t *address, size_t *bytes, struct cuda_module *m,
                                             const char *name) {
    DRIVER_FREE(managed(address, bytes, m, name));
}
CUDA_API enum cuda_error cudaLibraryGetManaged(uint64_t *address, size_t *bytes, struct cuda_module *m,
                                               const char *name) {
    GUARD(managed(address, bytes, m, name));
}

/* No function has one address for both sides, and the device says so (unifiedFunctionPointers). */
static enum cuda_error unified(void **out, const struct cuda_module *m, const char *name) {
    if (!out || !name)
        return CUDA_ErrorInvalidValue;
    return driver_module_of(m) ? CUDA_ErrorSymbolNotFound : CUDA_ErrorInvalidResourceHandle;
}

CUDA_API enum cuda_error cuLibraryGetUnifiedFunction(void **out, const struct cuda_module *m, const char *name) {
    DRIVER_FREE(unified(out, m, name));
}
CUDA_API enum cuda_error cudaLibraryGetUnifiedFunction(void **out, const struct cuda_module *m, const char *name) {
    GUARD(unified(out, m, name));
}

/* ---- kernels ---- */

static enum cuda_error function(struct cuda_kernel **out, const void *k) {
    return out ? cuda_find_launched(k, out) : CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cuKernelGetFunction(struct cuda_kernel **out, const void *k) { DRIVER(function(out, k)); }
CUDA_API enum cuda_error cuKernelGetLibrary(struct cuda_module **out, const void *k) {
    DRIVER_FREE(cuFuncGetModule(out, k));
}
CUDA_API enum cuda_error cuKernelGetName(const char **out, const void *k) { DRIVER_FREE(cudaFuncGetName(out, k)); }
CUDA_API enum cuda_error cuKernelGetParamInfo(const void *k, size_t index, size_t *offset, size_t *bytes) {
    DRIVER_FREE(cudaFuncGetParamInfo(k, index, offset, bytes));
}
CUDA_API enum cuda_error cuKernelGetAttribute(int *out, int which, const void *k, int device) {
    DRIVER_FREE(device ? CUDA_ErrorInvalidDevice : cuFuncGetAttribute(out, which, k));
}
CUDA_API enum cuda_error cuKernelSetAttribute(int which, int value, const void *k, int device) {
    DRIVER_FREE(device ? CUDA_ErrorInvalidDevice : cudaFuncSetAttribute(k, which, value));
}
CUDA_API enum cuda_error cudaKernelSetAttributeForDevice(const void *k, int which, int value, int device) {
    return device ? cuda_note(CUDA_ErrorInvalidDevice) : cudaFuncSetAttribute(k, which, value);
}
/* The split of L1 and shared memory is the configuration's. */
CUDA_API enum cuda_error cuKernelSetCacheConfig(const void *k, int which, int device) {
    struct cuda_kernel *found;
    (void)which;
    DRIVER_FREE(device ? CUDA_ErrorInvalidDevice : cuda_find_launched(k, &found));
}
