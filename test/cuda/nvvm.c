/* A libnvvm.so that lets numba 0.56 use the libnvvm.so of CUDA 13, whose path is in the environment variable NVVM. It
 * changes the version number in the code to the one that CUDA 13 accepts, and compiles code for older architectures
 * for compute capability 7.5. Compile it by `cc -shared -fPIC -o libnvvm.so nvvm.c`. Its folder must be below CUDA_HOME
 * and in LD_LIBRARY_PATH. The tests do not use it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *real(const char *name) {
    static void *library;
    const char *path = getenv("NVVM");
    if (!library && !(library = dlopen(path ? path : "/usr/local/cuda/lib64/libnvvm.so.4", RTLD_NOW | RTLD_LOCAL)))
        exit(2);
    return dlsym(library, name);
}

/* Calls `function` of the library with the text, in which it replaces the version in `!nvvmir.version = !{!N}` and `!N
 * = !{...}`. Bit code does not change. */
static int add(const char *function, void *program, const char *text, size_t len, const char *name) {
    static const char now[] = "{i32 2, i32 0, i32 3, i32 2";
    char *copy = malloc(len + sizeof now + 1), key[32];
    if (!copy)
        return 1;
    memcpy(copy, text, len);
    copy[len] = '\0';
    char *version = strstr(copy, "!nvvmir.version"), *number = version ? strchr(version, '{') : NULL;
    if (number && (number = strchr(number, '!'))) {
        snprintf(key, sizeof key, "\n!%d =", atoi(number + 1));
        char *line = strstr(copy, key), *begin = line ? strchr(line, '{') : NULL;
        char *end = begin ? strchr(begin, '}') : NULL;
        if (end) {
            size_t behind = len - (size_t)(end - copy);
            memmove(begin + sizeof now - 1, end, behind + 1);
            memcpy(begin, now, sizeof now - 1);
            len = (size_t)(begin - copy) + sizeof now - 1 + behind;
        }
    }
    int e = ((int (*)(void *, const char *, size_t, const char *))real(function))(program, copy, len, name);
    free(copy);
    return e;
}

int nvvmAddModuleToProgram(void *program, const char *text, size_t len, const char *name) {
    return add("nvvmAddModuleToProgram", program, text, len, name);
}
int nvvmLazyAddModuleToProgram(void *program, const char *text, size_t len, const char *name) {
    return add("nvvmLazyAddModuleToProgram", program, text, len, name);
}

static int run(const char *function, void *program, int n, const char **options) {
    enum { MOST = 64, OLDEST = 75 };
    const char *list[MOST];
    int arch;
    for (int i = 0; i < n && i < MOST; i++)
        list[i] = sscanf(options[i], "-arch=compute_%d", &arch) == 1 && arch < OLDEST ? "-arch=compute_75" : options[i];
    return ((int (*)(void *, int, const char **))real(function))(program, n, list);
}

int nvvmCompileProgram(void *program, int n, const char **options) {
    return run("nvvmCompileProgram", program, n, options);
}
int nvvmVerifyProgram(void *program, int n, const char **options) {
    return run("nvvmVerifyProgram", program, n, options);
}

#define SAME(name, parameters, types, arguments)                                                                       \
    int name parameters { return ((int(*) types)real(#name))arguments; }
SAME(nvvmCreateProgram, (void *a), (void *), (a))
SAME(nvvmDestroyProgram, (void *a), (void *), (a))
SAME(nvvmVersion, (void *a, void *b), (void *, void *), (a, b))
SAME(nvvmIRVersion, (void *a, void *b, void *c, void *d), (void *, void *, void *, void *), (a, b, c, d))
SAME(nvvmGetCompiledResultSize, (void *a, void *b), (void *, void *), (a, b))
SAME(nvvmGetCompiledResult, (void *a, void *b), (void *, void *), (a, b))
SAME(nvvmGetProgramLogSize, (void *a, void *b), (void *, void *), (a, b))
SAME(nvvmGetProgramLog, (void *a, void *b), (void *, void *), (a, b))
const char *nvvmGetErrorString(int e) { return ((const char *(*)(int))real("nvvmGetErrorString"))(e); }
