/* Modules, libraries of kernels and the linker of the driver. */
#include "driver.h"

CUDA_API enum cuda_error cuModuleLoadDataEx(struct cuda_module **out, const void *image, unsigned n, const int *names,
                                            void **values) {
    DRIVER(cuda_module_load_image(out, image, &(struct cuda_jit){n, names, values}));
}
CUDA_API enum cuda_error cuModuleLoadData(struct cuda_module **out, const void *image) {
    DRIVER(cuda_module_load_image(out, image, &(struct cuda_jit){0}));
}
CUDA_API enum cuda_error cuModuleLoadFatBinary(struct cuda_module **out, const void *image) {
    DRIVER(cuda_module_load_image(out, image, &(struct cuda_jit){0}));
}
CUDA_API enum cuda_error cuModuleLoad(struct cuda_module **out, const char *path) {
    DRIVER(cuda_module_load_file(out, path, &(struct cuda_jit){0}));
}
CUDA_API enum cuda_error cuModuleUnload(struct cuda_module *m) { DRIVER_FREE(cuda_module_unload(m)); }
CUDA_API enum cuda_error cuModuleGetFunction(struct cuda_kernel **out, struct cuda_module *m, const char *name) {
    DRIVER(cuda_module_kernel(out, m, name));
}
CUDA_API enum cuda_error cuModuleGetFunctionCount(unsigned *out, const struct cuda_module *m) {
    DRIVER(cuda_module_count(out, m));
}
CUDA_API enum cuda_error cuModuleEnumerateFunctions(struct cuda_kernel **out, unsigned n, struct cuda_module *m) {
    DRIVER(cuda_module_kernels(out, n, m));
}
CUDA_API enum cuda_error cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, struct cuda_module *m,
                                              const char *name) {
    DRIVER(cuda_module_variable(address, bytes, m, name));
}
CUDA_API enum cuda_error cuModuleGetLoadingMode(int *out) { DRIVER(cuda_put(out, 1)); /* the mode EAGER */ }
CUDA_API enum cuda_error cuLibraryGetModule(struct cuda_module **out, struct cuda_module *m) {
    DRIVER(cuda_library_module(out, m));
}

/* ---- the linker ---- */

CUDA_API enum cuda_error cuLinkCreate_v2(unsigned n, const int *names, void **values, struct cuda_link **out) {
    DRIVER(cuda_link_new(n, names, values, out));
}
CUDA_API enum cuda_error cuLinkAddData_v2(struct cuda_link *l, int type, void *data, size_t len, const char *name,
                                          unsigned n, const int *names, void **values) {
    (void)n, (void)names, (void)values; /* options of the optimiser */
    DRIVER(cuda_link_add(l, type, data, len, name));
}
CUDA_API enum cuda_error cuLinkAddFile_v2(struct cuda_link *l, int type, const char *path, unsigned n, const int *names,
                                          void **values) {
    (void)n, (void)names, (void)values;
    DRIVER(cuda_link_add_file(l, type, path));
}
CUDA_API enum cuda_error cuLinkComplete(struct cuda_link *l, void **image, size_t *len) {
    DRIVER(cuda_link_complete(l, image, len));
}
CUDA_API enum cuda_error cuLinkDestroy(struct cuda_link *l) { DRIVER(cuda_link_destroy(l)); }
