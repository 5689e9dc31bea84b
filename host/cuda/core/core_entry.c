/* Looks up functions of the driver by name. */
#include "core_base.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Names without a version suffix: `is` is the function that the headers of CUDA version `from` and later mean by
 * `name`. */
static const struct version_row {
    const char *name, *is;
    int from;
} versions[] = {
#define VERSION(name, is, from) {#name, #is, from},
#include "versions.def"
#undef VERSION
};

/* Returns the function with the name and a suffix; without it, the function with the name. */
static void *find(void *library, const char *name, bool own) {
    static const char *const suffixes[] = {"_ptsz", "_ptds", ""};
    char whole[128];
    void *found = NULL;
    for (int i = own ? 0 : 2; !found && i < 3; i++)
        if ((size_t)snprintf(whole, sizeof whole, "%s%s", name, suffixes[i]) < sizeof whole)
            found = dlsym(library, whole);
    return found;
}

static void *look_up(const char *name, int version, bool own) {
    const char *is = name;
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        if (strcmp(versions[i].name, name) == 0 && version >= versions[i].from)
            is = versions[i].is;
    Dl_info here;
    void *self =
        dladdr((void *)(uintptr_t)cuda_entry_point, &here) ? dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = self ? find(self, is, own) : NULL;
    if (self)
        dlclose(self);
    return found;
}

enum cuda_error cuda_entry_point(const char *name, void **out, int version, bool own, int *status) {
    enum { FOUND, NOT_FOUND };
    bool of_driver = name && strncmp(name, "cu", 2) == 0 && strncmp(name, "cuda", 4) != 0;
    void *found = out && of_driver ? look_up(name, version, own) : NULL;
    if (out)
        *out = found;
    if (status)
        *status = found ? FOUND : NOT_FOUND;
    return !name || !out ? CUDA_ErrorInvalidValue : found ? CUDA_Success : CUDA_ErrorSymbolNotFound;
}
