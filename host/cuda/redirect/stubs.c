/* The targets of the redirected functions of a CUDA runtime inside the program. LD_PRELOAD loads this library into
 * every process under 'heddle exec', and audit.c redirects the functions to it. A stub loads Heddle's runtime when
 * it is first called, so processes that do not use CUDA have no cost. stubs.sh generates the stubs. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

extern const char *const heddle_redirect_names[];
extern void *heddle_redirect_slots[];

/* The version of the runtime inside the program: 11, 12 or 13. audit.c writes it. 0 means that the program contains
 * no runtime. */
__attribute__((visibility("default"))) int heddle_redirect_major = 0;

/* 1 if the process has called CUDA. Heddle's runtime writes it at the first call (host/cuda/core/core.c). */
__attribute__((visibility("default"))) int heddle_redirect_used = 0;

void *heddle_redirect_resolve(size_t i);
int heddle_redirect_unknown(const char *name);

__attribute__((noreturn)) static void fail(const char *what, const char *why) {
    fprintf(stderr, "heddle: %s: %s\n", what, why ? why : "not found");
    _exit(2);
}

/* Returns the handle of Heddle's runtime, which is in the folder of this library. */
static void *library(void) {
    static void *core;
    char path[4096];
    Dl_info here;
    if (core)
        return core;
    const char *slash = dladdr((void *)&heddle_redirect_major, &here) ? strrchr(here.dli_fname, '/') : NULL;
    int folder = slash ? (int)(slash - here.dli_fname) + 1 : 0;
    snprintf(path, sizeof path, "%.*slibheddle-cuda.so", folder, slash ? here.dli_fname : "");
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail(path, dlerror());
    void (*set_major)(int) = (void (*)(int))dlsym(handle, "heddle_cuda_major");
    if (set_major && heddle_redirect_major)
        set_major(heddle_redirect_major);
    return core = handle;
}

/* Returns the address of function number `i` in Heddle's runtime. Each stub calls this function once, when the program
 * first calls the stub. */
void *heddle_redirect_resolve(size_t i) {
    void *function = dlsym(library(), heddle_redirect_names[i]);
    if (!function)
        fail(heddle_redirect_names[i], dlerror());
    return heddle_redirect_slots[i] = function;
}

/* Calls heddle_cuda_unknown() in Heddle's runtime. This is the common stub of functions that Heddle does not know. */
int heddle_redirect_unknown(const char *name) {
    int (*unknown)(const char *) = (int (*)(const char *))dlsym(library(), "heddle_cuda_unknown");
    if (!unknown)
        fail(name, dlerror());
    return unknown(name);
}

/* At the end of a program that called no CUDA function, prints that nothing was simulated. Only the process that
 * 'heddle exec' started (HEDDLE_EXEC) prints this. A process with children prints nothing: it may be a script whose
 * children call CUDA. */
__attribute__((destructor)) static void report_unused(void) {
    const char *process = getenv("HEDDLE_EXEC"), *quiet = getenv("HEDDLE_QUIET");
    struct rusage children;
    if (heddle_redirect_used || !process || atol(process) != (long)getpid() || (quiet && *quiet))
        return;
    if (getrusage(RUSAGE_CHILDREN, &children) == 0 && children.ru_maxrss == 0)
        fputs("heddle: the program has ended without a call of CUDA, so no kernel ran\n", stderr);
}
