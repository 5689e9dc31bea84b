#ifndef CUDA_CORE_MODULE_H
#define CUDA_CORE_MODULE_H
/* Modules of device code with their kernels and variables, the linker, and libraries of kernels. */
#include "core_base.h"

/* A module: the containers of device code that one compilation registered, or that the program loaded. */
struct cuda_module {
    struct cuda_module *next;
    const void **containers;
    int n;
    struct heddle_module *module; /* NULL: not loaded yet */
    enum cuda_error failed;       /* the error of loading */
    bool by_driver, unloaded; /* by_driver: the program loaded it at run time; unloaded: the program has unloaded it */
    bool is_library;          /* by cuLibraryLoadData() or cudaLibraryLoadData() */
};

/* A kernel. A program identifies it by its stub, a host function. A kernel that a program looked up by name is its
 * own stub. */
struct cuda_kernel {
    struct cuda_kernel *next; /* of its hash chain */
    const void *stub;
    struct cuda_module *in;
    const char *name;       /* as in the PTX */
    int n_params;           /* -1: not known yet */
    enum cuda_error failed; /* the error from compiling the kernel, whose message has been printed */
    uint32_t *param_bytes, *param_offsets;
    int shared_bytes; /* static shared memory of the kernel, in bytes */
    /* maximum number of bytes of dynamic shared memory: 48 KiB - shared_bytes, unless the program sets it */
    int dynamic_shared_limit;
    struct cuda_dim cluster; /* cudaFuncAttributeRequiredClusterWidth etc.; all 0: as the kernel declares */
    bool large_clusters;     /* cudaFuncAttributeNonPortableClusterSizeAllowed */
};

struct cuda_variable {
    struct cuda_variable *next; /* of its hash chain */
    const void *shadow;         /* the host variable by whose address the program identifies the device variable */
    /* for a managed variable, the program's pointer that holds the device address; else NULL */
    void **pointer;
    struct cuda_module *in;
    const char *name;
    size_t bytes;
};
/* The struct in which nvcc wraps a container. Version 2 (-rdc=true) has a list of the parts to link, which ends with
 * NULL. */
enum { WRAPPER_MAGIC = 0x466243b1 };
struct cuda_wrapper {
    uint32_t magic, version;
    const void *container;
    const void *const *parts;
};
/* A list of `n` options, by their numbers (CUjit_option, enum cudaJitOption). */
struct cuda_jit {
    unsigned n;
    const int *names;
    void **values;
};
struct cuda_link;

/* Register the containers, kernels and variables of a program before main(). Nothing is loaded yet. `pointer` is
 * where the program keeps the address of a managed variable; NULL for other variables. */
void **cuda_module_register(const struct cuda_wrapper *w);
void cuda_module_unregister(void **handle);
void cuda_kernel_register(void **handle, const void *stub, const char *name);
/* Adds a kernel to a module. The kernel is its own stub. Returns NULL if the host is out of memory. */
struct cuda_kernel *cuda_add_kernel(struct cuda_module *m, const char *name);
void cuda_variable_register(void **handle, const void *shadow, void **pointer, const char *name, size_t bytes);
/* Loads a module, unless it is already loaded. */
enum cuda_error cuda_module_load(struct cuda_module *m);
bool cuda_module_has_managed(const struct cuda_module *m);
/* Finds the kernel of a stub and reads its parameters. Returns CUDA_ErrorInvalidDeviceFunction if there is none. */
enum cuda_error cuda_find_kernel(const void *stub, struct cuda_kernel **out);
/* Works like cuda_find_kernel(), but `what` may also be a kernel handle. */
enum cuda_error cuda_find_launched(const void *what, struct cuda_kernel **out);
/* Finds the variable that a host variable represents. Returns CUDA_ErrorInvalidSymbol if there is none. */
enum cuda_error cuda_find_variable(const void *shadow, uint64_t *address, uint64_t *bytes);

/* Load a module from memory or from a file: PTX text that ends with a zero byte, or a fatbin, with or without the
 * wrapper of nvcc. */
enum cuda_error cuda_module_load_image(struct cuda_module **out, const void *image, const struct cuda_jit *o);
enum cuda_error cuda_module_load_file(struct cuda_module **out, const char *path, const struct cuda_jit *o);
/* Returns the module of a handle; NULL if the handle is invalid or the module is unloaded. */
struct cuda_module *cuda_module_of(const struct cuda_module *m);
/* Unloads a module that the program loaded. Its memory is not freed. */
enum cuda_error cuda_module_unload(struct cuda_module *m);
/* Finds the kernel of this name, and creates it on first use. Returns CUDA_ErrorSymbolNotFound if there is none. */
enum cuda_error cuda_module_kernel(struct cuda_kernel **out, struct cuda_module *m, const char *name);
/* Return the number of kernels, and the first `n` kernels in the order of the PTX. */
enum cuda_error cuda_module_count(unsigned *out, const struct cuda_module *m);
enum cuda_error cuda_module_kernels(struct cuda_kernel **out, unsigned n, struct cuda_module *m);
/* Returns the address and size of a variable. One of the two pointers may be NULL. Returns CUDA_ErrorSymbolNotFound
 * if there is no such variable. */
enum cuda_error cuda_module_variable(uint64_t *address, size_t *bytes, struct cuda_module *m, const char *name);

/* These functions are the linker. Its inputs are PTX, fatbins, objects, libraries and executables. The result is PTX,
 * which is valid until the linker is destroyed. */
enum cuda_error cuda_link_new(unsigned n, const int *names, void **values, struct cuda_link **out);
enum cuda_error cuda_link_add(struct cuda_link *l, int type, const void *data, size_t len, const char *name);
enum cuda_error cuda_link_add_file(struct cuda_link *l, int type, const char *path);
enum cuda_error cuda_link_complete(struct cuda_link *l, void **image, size_t *len);
enum cuda_error cuda_link_destroy(struct cuda_link *l);

/* These functions load and unload a library of kernels, which is a module that belongs to no context. */
enum cuda_error cuda_library_load(struct cuda_module **out, const void *code, const struct cuda_jit *o,
                                  const void *options, unsigned n_options);
enum cuda_error cuda_library_load_file(struct cuda_module **out, const char *path, const struct cuda_jit *o,
                                       const void *options, unsigned n_options);
enum cuda_error cuda_library_unload(struct cuda_module *m);
enum cuda_error cuda_library_module(struct cuda_module **out, struct cuda_module *m);
/* Works like cuda_module_variable(), for a managed variable. */
enum cuda_error cuda_module_managed(uint64_t *address, size_t *bytes, struct cuda_module *m, const char *name);
/* Always returns CUDA_ErrorSymbolNotFound, because no function has one address for both host and device. */
enum cuda_error cuda_module_unified(void **out, const struct cuda_module *m, const char *name);
#endif
