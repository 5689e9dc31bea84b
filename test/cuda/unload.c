/* Loads the driver's library, allocates memory, and unloads the library before the program ends. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int main(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL;
    uint64_t memory = 0;
    if (!library)
        return 10;
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(library, "cuInit");
    int (*retain)(void **, int) = (int (*)(void **, int))dlsym(library, "cuDevicePrimaryCtxRetain");
    int (*use)(void *) = (int (*)(void *))dlsym(library, "cuCtxSetCurrent");
    int (*allocate)(uint64_t *, size_t) = (int (*)(uint64_t *, size_t))dlsym(library, "cuMemAlloc_v2");
    if (!init || !retain || !use || !allocate)
        return 11;
    if (init(0) || retain(&context, 0) || use(context) || allocate(&memory, 64) || !memory)
        return 12;
    printf("unloaded: %d\n", dlclose(library));
    return 0;
}
