/* The runtime interface: errors, addresses of the driver's functions, and refused functions. */
#include "runtime.h"
#include <string.h>

__thread enum cuda_error runtime_last_error;

enum cuda_error runtime_note(enum cuda_error e) {
    if (e != CUDA_Success && e != CUDA_ErrorNotReady)
        runtime_last_error = e;
    return e;
}

enum cuda_error runtime_leave(enum cuda_error e) {
    cuda_leave();
    return runtime_note(e);
}

CUDA_API enum cuda_error cudaGetLastError(void) {
    enum cuda_error e = runtime_last_error;
    runtime_last_error = cuda_fault();
    return e;
}
CUDA_API enum cuda_error cudaPeekAtLastError(void) { return runtime_last_error; }
CUDA_API const char *cudaGetErrorName(enum cuda_error e) { return cuda_error_name(e); }
CUDA_API const char *cudaGetErrorString(enum cuda_error e) {
    const char *text = cuda_error_text(e);
    return text ? text : cuda_error_name(e);
}

enum { LEGACY_STREAM = 1, OWN_STREAMS = 2 }; /* cudaEnableLegacyStream, cudaEnablePerThreadDefaultStream */
/* Finds a driver function. A missing function is not an error in the runtime; *status tells that it is missing. */
static enum cuda_error entry_point(const char *name, void **out, unsigned version, unsigned long long flags,
                                   int *status) {
    enum cuda_error e = cuda_entry_point(name, out, (int)version, flags & OWN_STREAMS, status);
    return e == CUDA_ErrorSymbolNotFound ? CUDA_Success : e;
}

CUDA_API enum cuda_error cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version,
                                                          unsigned long long flags, int *status) {
    NOTE(entry_point(name, out, version, flags, status));
}
CUDA_API enum cuda_error cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **out, unsigned version,
                                                               unsigned long long flags, int *status) {
    NOTE(entry_point(name, out, version, flags & LEGACY_STREAM ? 0 : OWN_STREAMS, status));
}
CUDA_API enum cuda_error cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags, int *status) {
    return cudaGetDriverEntryPointByVersion(name, out, (unsigned)cuda_major() * 1000 + 80, flags, status);
}
CUDA_API enum cuda_error cudaGetDriverEntryPoint_ptsz(const char *name, void **out, unsigned long long flags,
                                                      int *status) {
    return cudaGetDriverEntryPointByVersion_ptsz(name, out, (unsigned)cuda_major() * 1000 + 80, flags, status);
}

/* Handles the call of a function that the runtime inside the program has but this runtime does not know
 * (redirect/stubs.c). */
CUDA_API enum cuda_error heddle_cuda_unknown(const char *name);
CUDA_API enum cuda_error heddle_cuda_unknown(const char *name) {
    static const char *last; /* print the name only once, because a program may call the function in a loop */
    bool printed = last && strcmp(last, name) == 0;
    last = name;
    NOTE(cuda_missing(name, &printed, "cudaErrorNotSupported"));
}

#define MISSING(name)                                                                                                  \
    CUDA_API enum cuda_error name(void) {                                                                              \
        static bool printed;                                                                                           \
        NOTE(cuda_missing(#name, &printed, "cudaErrorNotSupported"));                                                  \
    }
#include "runtime_missing.def"
