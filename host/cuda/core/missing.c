/* Functions that programs may link to and that are not there: each says its name once. Those of CUDA 11, 12 and 13. */
#include "core_base.h"
#include <string.h>

/* Says once that a function, or something that it was asked for, is not there. */
static enum cuda_error missing(const char *name, bool *said, const char *error) {
    if (!*said)
        fprintf(stderr, "heddle: %s is not supported: it returns %s\n", name, error);
    *said = true;
    return CUDA_ErrorNotSupported;
}

/* A function of a runtime inside of the program that is newer than these (redirect/stubs.c). */
CUDA_API enum cuda_error heddle_cuda_unknown(const char *name);
CUDA_API enum cuda_error heddle_cuda_unknown(const char *name) {
    static const char *last; /* programs call such a function in a loop, or once */
    bool said = last && strcmp(last, name) == 0;
    last = name;
    return cuda_note(missing(name, &said, "cudaErrorNotSupported"));
}

#define MISSING(name)                                                                                                  \
    CUDA_API enum cuda_error name(void) {                                                                              \
        static bool said;                                                                                              \
        return cuda_note(missing(#name, &said, "cudaErrorNotSupported"));                                              \
    }
#include "missing.def"
#undef MISSING
#define MISSING(name)                                                                                                  \
    CUDA_API enum cuda_error name(void) {                                                                              \
        static bool said;                                                                                              \
        return missing(#name, &said, "CUDA_ERROR_NOT_SUPPORTED");                                                      \
    }
#include "driver_missing.def"
