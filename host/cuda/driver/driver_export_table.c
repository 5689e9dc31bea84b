/* cuGetExportTable(). On a GPU, NVIDIA's own libraries get undocumented parts of the driver from it. Under Heddle, a
 * file that calls it contains a CUDA runtime that Heddle could not replace. */
#include "driver.h"
#include "host/cuda/redirect/machine_code.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns the file whose code is at an address. *program is set if the file is the program itself. */
static const char *file_with(void *code, bool *program) {
    static char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    Dl_info caller;
    exe[n > 0 ? n : 0] = '\0';
    *program = false;
    if (!dladdr(code, &caller) || !caller.dli_fname)
        return "a library";
    char full[4096];
    *program = realpath(caller.dli_fname, full) && strcmp(full, exe) == 0;
    return caller.dli_fname;
}

/* Returns true for NVIDIA's run-time compiler, which asks for a table but does not need it. */
static bool is_compiler(const char *file) {
    const char *slash = strrchr(file, '/');
    return strncmp(slash ? slash + 1 : file, "libnvrtc", 8) == 0;
}

/* Ends the program if the caller is the program itself, which cannot run with its own runtime. If the caller is a
 * library, prints a message once and refuses. For a library of machine code, audit.c has already printed a message. */
CUDA_API enum cuda_error cuGetExportTable(const void **table, const void *id) {
    static _Atomic bool printed;
    bool program;
    const char *file = file_with(__builtin_return_address(0), &program);
    (void)id;
    if (table)
        *table = NULL;
    if (program) {
        fprintf(stderr,
                "heddle: %s: CUDA's runtime is linked into it, and could not be replaced: do not strip it, or link it "
                "again with 'nvcc -cudart shared'\n",
                file);
        _exit(HEDDLE_USAGE);
    }
    if (is_compiler(file))
        return CUDA_ErrorNotSupported;
    cuda_program_wrong();
    if (!machine_code_library(file) && !atomic_exchange(&printed, true))
        fprintf(stderr,
                "heddle: %s: a CUDA runtime inside of it could not be replaced, and what it does will fail: build it "
                "with 'nvcc -cudart shared', or do not strip it\n",
                file);
    return CUDA_ErrorNotSupported;
}
