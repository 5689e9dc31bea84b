/* What the code of nvcc calls before main(): it registers containers of device code, kernels and variables. */
#include "runtime.h"

CUDA_API void **__cudaRegisterFatBinary(const struct cuda_wrapper *w) { return cuda_module_register(w); }
CUDA_API void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
/* At the end of the program, or when a shared object is closed: its stubs and variables are gone. */
CUDA_API void __cudaUnregisterFatBinary(void **handle) { cuda_module_unregister(handle); }
CUDA_API void __cudaRegisterFunction(void **handle, const char *stub, char *name, const char *device_name, int limit,
                                     void *tid, void *bid, void *block, void *grid, int *warp_size) {
    (void)name, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
    cuda_kernel_register(handle, stub, device_name);
}
CUDA_API void __cudaRegisterVar(void **handle, char *shadow, char *device_address, const char *device_name,
                                int is_extern, size_t bytes, int constant, int global) {
    (void)device_address, (void)is_extern, (void)constant, (void)global;
    cuda_variable_register(handle, shadow, NULL, device_name, bytes);
}
CUDA_API void __cudaRegisterHostVar(void **handle, const char *name, char *shadow, size_t bytes) {
    (void)handle, (void)name, (void)shadow, (void)bytes;
}
/* The host reaches the variable through a pointer, which __cudaInitModule() sets. */
CUDA_API void __cudaRegisterManagedVar(void **handle, void **pointer, char *device_address, const char *device_name,
                                       int is_extern, size_t bytes, int constant, int global) {
    (void)device_address, (void)is_extern, (void)constant, (void)global;
    cuda_variable_register(handle, pointer, pointer, device_name, bytes);
}

static enum cuda_error init_module(struct cuda_module *m) { RUNTIME(cuda_module_load(m)); }

/* Called before the program touches a managed variable. */
CUDA_API char __cudaInitModule(void **handle) {
    struct cuda_module *m = (struct cuda_module *)handle;
    return !m || !cuda_module_has_managed(m) || init_module(m) == CUDA_Success;
}

static enum cuda_error find(const void *out, const void *symbol, uint64_t *address, uint64_t *bytes) {
    return out ? cuda_find_variable(symbol, address, bytes) : CUDA_ErrorInvalidValue;
}

static enum cuda_error symbol_address(void **out, const void *symbol) {
    uint64_t address, bytes;
    enum cuda_error e = find(out, symbol, &address, &bytes);
    if (!e)
        *out = (void *)(uintptr_t)address;
    return e;
}

static enum cuda_error symbol_size(size_t *out, const void *symbol) {
    uint64_t address, bytes = 0;
    enum cuda_error e = find(out, symbol, &address, &bytes);
    if (!e)
        *out = bytes;
    return e;
}

CUDA_API enum cuda_error cudaGetSymbolAddress(void **out, const void *symbol) { RUNTIME(symbol_address(out, symbol)); }
CUDA_API enum cuda_error cudaGetSymbolSize(size_t *out, const void *symbol) { RUNTIME(symbol_size(out, symbol)); }
