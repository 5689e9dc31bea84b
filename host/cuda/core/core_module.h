#ifndef CUDA_CORE_MODULE_H
#define CUDA_CORE_MODULE_H
/* Modules of device code, their kernels and variables; the linker; libraries of kernels. */
#include "core_base.h"

/* The containers of device code that one compilation registered, or that the program loaded. */
struct cuda_module {
    struct cuda_module *next;
    const void **containers;
    int n;
    struct heddle_module *module; /* NULL: not loaded yet */
    enum cuda_error failed;       /* the error of loading */
    bool by_driver, unloaded;     /* loaded by the program at run time; unloaded again */
    bool is_library;              /* by cuLibraryLoadData() or cudaLibraryLoadData() */
};

/* A kernel. A program names it by its stub, a function of the host. A kernel that a program asked for by name is its
 * own stub. */
struct cuda_kernel {
    struct cuda_kernel *next; /* of its hash chain */
    const void *stub;
    struct cuda_module *in;
    const char *name;       /* as in the PTX */
    int n_params;           /* -1: not known yet */
    enum cuda_error failed; /* the error of compiling it, which was printed */
    uint32_t *param_bytes, *param_offsets;
    int shared_bytes;         /* of its own */
    int dynamic_shared_limit; /* bytes that a launch may add: the rest of 48 KiB, or what the program asked for */
};

struct cuda_variable {
    struct cuda_variable *next; /* of its hash chain */
    const void *shadow;         /* the variable of the host that stands for it */
    void **pointer;             /* managed: where the program keeps its address; else NULL */
    struct cuda_module *in;
    const char *name;
    size_t bytes;
};
/* What nvcc wraps a container in. Version 2 (-rdc=true) has a list of the parts to link, which ends with NULL. */
enum { WRAPPER_MAGIC = 0x466243b1 };
struct cuda_wrapper {
    uint32_t magic, version;
    const void *container;
    const void *const *parts;
};
/* `n` options by their numbers (CUjit_option, enum cudaJitOption). */
struct cuda_jit {
    unsigned n;
    const int *names;
    void **values;
};
struct cuda_link;

/* Register the containers, kernels and variables of a program before main(). Nothing is loaded yet. `pointer`: where
 * the program keeps the address of a managed variable; else NULL. */
void **cuda_module_register(const struct cuda_wrapper *w);
void cuda_module_unregister(void **handle);
void cuda_kernel_register(void **handle, const void *stub, const char *name);
/* A new kernel of a module, which is its own stub; NULL: the host is out of memory. */
struct cuda_kernel *cuda_add_kernel(struct cuda_module *m, const char *name);
void cuda_variable_register(void **handle, const void *shadow, void **pointer, const char *name, size_t bytes);
/* Loads a module, unless it is loaded. */
enum cuda_error cuda_module_load(struct cuda_module *m);
bool cuda_module_has_managed(const struct cuda_module *m);
/* The kernel of a stub, with its parameters known; CUDA_ErrorInvalidDeviceFunction. */
enum cuda_error cuda_find_kernel(const void *stub, struct cuda_kernel **out);
/* The same; `what` may also be a handle of a kernel. */
enum cuda_error cuda_find_launched(const void *what, struct cuda_kernel **out);
/* The variable of a shadow; CUDA_ErrorInvalidSymbol. */
enum cuda_error cuda_find_variable(const void *shadow, uint64_t *address, uint64_t *bytes);

/* Loads PTX text that ends with a zero, or a fatbin, with or without the wrapper of nvcc; the same of a file. */
enum cuda_error cuda_module_load_image(struct cuda_module **out, const void *image, const struct cuda_jit *o);
enum cuda_error cuda_module_load_file(struct cuda_module **out, const char *path, const struct cuda_jit *o);
/* The module of a handle; NULL: none, or unloaded. */
struct cuda_module *cuda_module_of(const struct cuda_module *m);
/* A module that the program loaded; its memory stays. */
enum cuda_error cuda_module_unload(struct cuda_module *m);
/* The kernel of this name, made when first asked for; CUDA_ErrorSymbolNotFound. */
enum cuda_error cuda_module_kernel(struct cuda_kernel **out, struct cuda_module *m, const char *name);
/* The number of kernels; the first `n` of them in the order of the PTX. */
enum cuda_error cuda_module_count(unsigned *out, const struct cuda_module *m);
enum cuda_error cuda_module_kernels(struct cuda_kernel **out, unsigned n, struct cuda_module *m);
/* Address and size of a variable; one of the two may be NULL. CUDA_ErrorSymbolNotFound. */
enum cuda_error cuda_module_variable(uint64_t *address, size_t *bytes, struct cuda_module *m, const char *name);

/* The linker. It takes PTX, fatbins, objects, libraries and executables. The result is PTX, which lives as long as the
 * linker. */
enum cuda_error cuda_link_new(unsigned n, const int *names, void **values, struct cuda_link **out);
enum cuda_error cuda_link_add(struct cuda_link *l, int type, const void *data, size_t len, const char *name);
enum cuda_error cuda_link_add_file(struct cuda_link *l, int type, const char *path);
enum cuda_error cuda_link_complete(struct cuda_link *l, void **image, size_t *len);
enum cuda_error cuda_link_destroy(struct cuda_link *l);

/* A library of kernels is a module that belongs to no context. */
enum cuda_error cuda_library_load(struct cuda_module **out, const void *code, const struct cuda_jit *o,
                                  const void *options, unsigned n_options);
enum cuda_error cuda_library_load_file(struct cuda_module **out, const char *path, const struct cuda_jit *o,
                                       const void *options, unsigned n_options);
enum cuda_error cuda_library_unload(struct cuda_module *m);
enum cuda_error cuda_library_module(struct cuda_module **out, struct cuda_module *m);
/* As cuda_module_variable(), for a managed variable. */
enum cuda_error cuda_module_managed(uint64_t *address, size_t *bytes, struct cuda_module *m, const char *name);
/* No function has one address for both sides: CUDA_ErrorSymbolNotFound. */
enum cuda_error cuda_module_unified(void **out, const struct cuda_module *m, const char *name);
#endif
