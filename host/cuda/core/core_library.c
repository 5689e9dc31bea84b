/* Libraries of kernels (CUDA 12 and 13). A library is a module that belongs to no context. A CUlibrary is a module.
 * CUkernel and CUfunction name the same type of kernel. */
#include "core_module.h"
#include <string.h>

static enum cuda_error finish(struct cuda_module **out, enum cuda_error e) {
    if (!e)
        (*out)->is_library = true;
    return e;
}

/* Returns CUDA_ErrorInvalidValue if `names` is NULL but there are options. The options say whether the library's bytes
 * stay valid. They have no effect, because the bytes are not kept. */
static enum cuda_error options_are_there(const void *names, unsigned n) {
    return n && !names ? CUDA_ErrorInvalidValue : CUDA_Success;
}

enum cuda_error cuda_library_load(struct cuda_module **out, const void *code, const struct cuda_jit *o,
                                  const void *options, unsigned n_options) {
    CUDA_LOCK;
    enum cuda_error e = options_are_there(options, n_options);
    return e ? e : finish(out, cuda_module_load_image(out, code, o));
}

enum cuda_error cuda_library_load_file(struct cuda_module **out, const char *path, const struct cuda_jit *o,
                                       const void *options, unsigned n_options) {
    CUDA_LOCK;
    enum cuda_error e = options_are_there(options, n_options);
    return e ? e : finish(out, cuda_module_load_file(out, path, o));
}

enum cuda_error cuda_library_unload(struct cuda_module *m) {
    CUDA_LOCK;
    if (!cuda_module_of(m) || !m->is_library)
        return CUDA_ErrorInvalidResourceHandle;
    m->unloaded = true;
    return CUDA_Success;
}

/* ---- variables and functions ---- */

enum cuda_error cuda_library_module(struct cuda_module **out, struct cuda_module *m) {
    CUDA_LOCK;
    if (!out || !cuda_module_of(m))
        return out ? CUDA_ErrorInvalidResourceHandle : CUDA_ErrorInvalidValue;
    *out = m;
    return CUDA_Success;
}

enum cuda_error cuda_module_managed(uint64_t *address, size_t *bytes, struct cuda_module *m, const char *name) {
    CUDA_LOCK;
    uint64_t at = 0;
    size_t size = 0;
    bool shared = false;
    enum cuda_error e = address || bytes ? cuda_module_variable(&at, &size, m, name) : CUDA_ErrorInvalidValue;
    if (e || !heddle_buffer(cuda_core.h, at, NULL, NULL, &shared) || !shared)
        return e ? e : CUDA_ErrorSymbolNotFound;
    if (address)
        *address = at;
    if (bytes)
        *bytes = size;
    return CUDA_Success;
}

enum cuda_error cuda_module_unified(void **out, const struct cuda_module *m, const char *name) {
    CUDA_LOCK;
    if (!out || !name)
        return CUDA_ErrorInvalidValue;
    return cuda_module_of(m) ? CUDA_ErrorSymbolNotFound : CUDA_ErrorInvalidResourceHandle;
}
