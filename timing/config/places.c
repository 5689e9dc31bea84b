#include "places.h"
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifndef HEDDLE_DATA /* folder where `make install` puts presets and kernels; set by the Makefile */
#define HEDDLE_DATA "/usr/local/share/heddle"
#endif

/* Finds the file from which this code was loaded: a program, or a library in another program. */
static bool own_file(char out[PATH_MAX]) {
    static const char here;
    Dl_info own, program;
    bool known = dladdr(&here, &own) && dladdr((void *)(uintptr_t)getauxval(AT_PHDR), &program);
    if (known && own.dli_fbase != program.dli_fbase)
        return realpath(own.dli_fname, out) != NULL;
    /* the code is in the program itself, for which dladdr() would return argv[0] instead of a path */
    ssize_t len = readlink("/proc/self/exe", out, PATH_MAX - 1);
    out[len < 0 ? 0 : len] = '\0';
    return len > 0;
}

bool data_place(int n, const char *what, char *out, size_t size) {
    static const char *const beside[] = {"..", "../..", "../share/heddle", "../../share/heddle"};
    enum { BESIDE = sizeof beside / sizeof *beside };
    char own[PATH_MAX] = "";
    if (n < 0 || n > BESIDE)
        return false;
    if (n == BESIDE)
        snprintf(out, size, "%s/%s", HEDDLE_DATA, what);
    else if (own_file(own))
        snprintf(out, size, "%s/%s/%s", dirname(own), beside[n], what);
    else
        snprintf(out, size, "%s", what);
    return true;
}
