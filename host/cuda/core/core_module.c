/* Modules, kernels and variables that programs register before main(). A module is loaded on its first use. */
#include "core_module.h"
#include <stdlib.h>
#include <string.h>

static unsigned chain_of(const void *p) { return (unsigned)((uintptr_t)p >> 3) % CUDA_CHAINS; }

void **cuda_module_register(const struct cuda_wrapper *w) {
    CUDA_LOCK;
    struct cuda_module *m = calloc(1, sizeof *m);
    if (!m || w->magic != WRAPPER_MAGIC)
        return (void **)m;
    int n = 1;
    while (w->version >= 2 && w->parts && w->parts[n - 1])
        n++;
    if (!(m->containers = calloc((size_t)n, sizeof *m->containers)))
        return (void **)m;
    if (w->version >= 2 && n > 1)
        for (; w->parts[m->n]; m->n++)
            m->containers[m->n] = w->parts[m->n];
    else
        m->containers[m->n++] = w->container;
    m->next = cuda_core.modules;
    cuda_core.modules = m;
    return (void **)m;
}

/* Marks a module as unloaded and removes its kernels and variables from the tables. Kernel handles may still be in use,
 * so nothing is freed. */
void cuda_module_unregister(void **handle) {
    CUDA_LOCK;
    struct cuda_module *m = (struct cuda_module *)handle;
    if (!m)
        return;
    m->unloaded = true;
    for (int i = 0; i < CUDA_CHAINS; i++) {
        for (struct cuda_kernel **k = &cuda_core.kernels[i]; *k;)
            if ((*k)->in == m)
                *k = (*k)->next;
            else
                k = &(*k)->next;
        for (struct cuda_variable **v = &cuda_core.variables[i]; *v;)
            if ((*v)->in == m)
                *v = (*v)->next;
            else
                v = &(*v)->next;
    }
}

void cuda_kernel_register(void **handle, const void *stub, const char *name) {
    CUDA_LOCK;
    struct cuda_kernel *k = handle ? calloc(1, sizeof *k) : NULL;
    if (!k)
        return;
    struct cuda_kernel **chain = &cuda_core.kernels[chain_of(stub)];
    *k = (struct cuda_kernel){
        .next = *chain, .stub = stub, .in = (struct cuda_module *)handle, .name = name, .n_params = -1};
    *chain = k;
}

struct cuda_kernel *cuda_add_kernel(struct cuda_module *m, const char *name) {
    CUDA_LOCK;
    struct cuda_kernel *k = calloc(1, sizeof *k);
    if (!k || !(name = strdup(name))) {
        free(k);
        return NULL;
    }
    struct cuda_kernel **chain = &cuda_core.kernels[chain_of(k)];
    *k = (struct cuda_kernel){.next = *chain, .stub = k, .in = m, .name = name, .n_params = -1};
    *chain = k;
    return k;
}

void cuda_variable_register(void **handle, const void *shadow, void **pointer, const char *name, size_t bytes) {
    CUDA_LOCK;
    struct cuda_variable *v = handle ? calloc(1, sizeof *v) : NULL;
    if (!v)
        return;
    struct cuda_variable **chain = &cuda_core.variables[chain_of(shadow)];
    cuda_core.shares |= pointer != NULL;
    *v = (struct cuda_variable){.next = *chain,
                                .shadow = shadow,
                                .pointer = pointer,
                                .in = (struct cuda_module *)handle,
                                .name = name,
                                .bytes = bytes};
    *chain = v;
}
/* Stores the addresses of the managed variables of a loaded module. */
static void place_managed(const struct cuda_module *m) {
    for (int i = 0; i < CUDA_CHAINS; i++)
        for (struct cuda_variable *v = cuda_core.variables[i]; v; v = v->next)
            if (v->in == m && v->pointer)
                *v->pointer = (void *)(uintptr_t)heddle_symbol(cuda_core.h, m->module, v->name, NULL);
}

enum cuda_error cuda_module_load(struct cuda_module *m) {
    CUDA_LOCK;
    if (m->module || m->failed)
        return m->failed;
    char name[64];
    int index = 0;
    for (const struct cuda_module *k = m->next; k; k = k->next)
        index++;
    snprintf(name, sizeof name, "module %d of the program", index);
    if (m->n)
        m->module = heddle_module_fatbin(cuda_core.h, name, m->containers, m->n);
    if (m->module)
        place_managed(m);
    else
        m->failed =
            m->n ? cuda_failed("loading", HEDDLE_USAGE, CUDA_ErrorInvalidKernelImage) : CUDA_ErrorInvalidKernelImage;
    if (m->failed)
        cuda_core.worst = HEDDLE_USAGE;
    return m->failed;
}

bool cuda_module_has_managed(const struct cuda_module *m) {
    CUDA_LOCK;
    for (int i = 0; i < CUDA_CHAINS; i++)
        for (const struct cuda_variable *v = cuda_core.variables[i]; v; v = v->next)
            if (v->in == m && v->pointer)
                return true;
    return false;
}

/* Finds the static shared memory of a kernel, and the limit of the dynamic shared memory that a launch may add. */
static bool know_shared(struct cuda_kernel *k) {
    enum { UNASKED = 48 << 10 };
    struct heddle_kernel_info info;
    int most = (int)heddle_option(cuda_core.h, "sm.shared_bytes");
    if (heddle_kernel_info(cuda_core.h, k->in->module, k->name, &info) != HEDDLE_OK)
        return false;
    most = most < UNASKED ? most : UNASKED;
    k->shared_bytes = (int)info.shared_bytes;
    k->dynamic_shared_limit = k->shared_bytes < most ? most - k->shared_bytes : 0;
    return true;
}

static enum cuda_error know_params(struct cuda_kernel *k) {
    int n = heddle_params(cuda_core.h, k->in->module, k->name, NULL, 0);
    struct heddle_param *p = n >= 0 ? calloc((size_t)n + 1, sizeof *p) : NULL;
    k->param_bytes = p ? calloc(2 * ((size_t)n + 1), sizeof *k->param_bytes) : NULL;
    if (n >= 0 && !k->param_bytes) {
        free(p);
        return CUDA_ErrorMemoryAllocation;
    }
    if (n < 0 || heddle_params(cuda_core.h, k->in->module, k->name, p, n) != n || !know_shared(k)) {
        free(p);
        return k->in->by_driver ? cuda_complain(k->name, CUDA_ErrorInvalidPtx)
                                : cuda_failed(k->name, HEDDLE_USAGE, CUDA_ErrorInvalidPtx);
    }
    k->param_offsets = k->param_bytes + n;
    for (int i = 0; i < n; i++) {
        k->param_bytes[i] = p[i].bytes;
        k->param_offsets[i] = p[i].offset;
    }
    k->n_params = n;
    free(p);
    return CUDA_Success;
}

enum cuda_error cuda_find_kernel(const void *stub, struct cuda_kernel **out) {
    CUDA_LOCK;
    struct cuda_kernel *k = cuda_core.kernels[chain_of(stub)];
    while (k && k->stub != stub)
        k = k->next;
    if (!k || k->in->unloaded)
        return CUDA_ErrorInvalidDeviceFunction;
    *out = k;
    enum cuda_error e = cuda_module_load(k->in);
    if (!e && k->n_params < 0 && !k->failed)
        k->failed = know_params(k);
    return e ? e : k->failed;
}

enum cuda_error cuda_find_launched(const void *what, struct cuda_kernel **out) {
    CUDA_LOCK;
    enum cuda_error e = cuda_find_kernel(what, out);
    for (int i = 0; e == CUDA_ErrorInvalidDeviceFunction && i < CUDA_CHAINS; i++)
        for (struct cuda_kernel *k = cuda_core.kernels[i]; k; k = k->next)
            if (k == what)
                return cuda_find_kernel(k->stub, out);
    return e;
}

static bool find_symbol(struct cuda_variable *v, uint64_t *address, uint64_t *bytes) {
    *address = heddle_symbol(cuda_core.h, v->in->module, v->name, bytes);
    return *address != 0;
}

enum cuda_error cuda_find_variable(const void *shadow, uint64_t *address, uint64_t *bytes) {
    CUDA_LOCK;
    struct cuda_variable *v = cuda_core.variables[chain_of(shadow)];
    while (v && v->shadow != shadow)
        v = v->next;
    /* A program identifies a managed variable by its device address, the value of the pointer v->pointer. */
    for (int i = 0; !v && i < CUDA_CHAINS; i++)
        for (v = cuda_core.variables[i]; v && !(v->pointer && *v->pointer == shadow); v = v->next)
            ;
    if (!v)
        return CUDA_ErrorInvalidSymbol;
    enum cuda_error e = cuda_module_load(v->in);
    return e ? e : find_symbol(v, address, bytes) ? CUDA_Success : CUDA_ErrorInvalidSymbol;
}
