/* Functions that programs may link to and that are not there: each says its name once. Those of CUDA 11, 12 and 13. */
#include "runtime.h"

static int missing(const char *name, bool *said) {
    if (!*said)
        fprintf(stderr, "heddle: %s is not supported: it returns cudaErrorNotSupported\n", name);
    *said = true;
    return (int)cuda_note(CUDA_ErrorNotSupported);
}

#define MISSING(name)                                                                                                  \
    CUDA_API int name(void) {                                                                                          \
        static bool said;                                                                                              \
        return missing(#name, &said);                                                                                  \
    }
#include "missing.def"
