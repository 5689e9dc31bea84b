/* With OBJECT defined: a shared object that contains a CUDA runtime and uses it in a constructor. Otherwise: a program
 * that opens such an object. usage: plugin OBJECT */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int plugin(void);

#ifdef OBJECT
int cudaMalloc(void **out, size_t bytes);
int cudaMemset(void *p, int value, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaOfTheFuture(void);
int cudaOfTheUser(int x); /* not a function of the runtime, although its name begins with cuda */
__attribute__((noinline)) int cudaOfTheUser(int x) { return x + 1; }

static void *buffer;
__attribute__((constructor)) static void begin(void) {
    if (cudaMalloc(&buffer, 4) != 0 || cudaMemset(buffer, 7, 4) != 0)
        buffer = NULL;
}

int plugin(void) {
    uint32_t is = 0;
    cudaMemcpy(&is, buffer, sizeof is, 2);
    int future = cudaOfTheFuture(), user = cudaOfTheUser(41);
    printf("%x %d %d\n", (unsigned)is, future, user);
    return 0;
}
#else
int main(int argc, char **argv) {
    void *object = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    int (*function)(void) = object ? (int (*)(void))dlsym(object, "plugin") : NULL;
    if (!function)
        puts(dlerror());
    return function ? function() : 1;
}
#endif
