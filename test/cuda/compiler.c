/* An imitation of NVIDIA's run-time compiler (with -DOBJECT), and a program that asks it for machine code. */
#include <stdio.h>
#include <string.h>
int nvrtcGetPTXSize(void *, size_t *), nvrtcGetPTX(void *, char *);
int nvrtcGetCUBINSize(void *, size_t *), nvrtcGetCUBIN(void *, char *);

#ifdef OBJECT
/* The alignment leaves room for a jump at each entry except the last. */
#define API(name, parameters) __attribute__((aligned(64))) int name parameters
API(nvrtcGetCUBINSize, (void *unused, size_t *out)) {
    (void)unused;
    *out = sizeof "ELF";
    return 0;
}
API(nvrtcGetCUBIN, (void *unused, char *out)) {
    (void)unused;
    strcpy(out, "ELF");
    return 0;
}
API(nvrtcGetPTXSize, (void *unused, size_t *out)) {
    (void)unused;
    *out = sizeof ".version 7.0";
    return 0;
}
API(nvrtcGetPTX, (void *unused, char *out)) {
    (void)unused;
    strcpy(out, ".version 7.0");
    return 0;
}
#else
int main(void) {
    char code[32] = "";
    size_t bytes = 0;
    const int e = nvrtcGetCUBINSize(NULL, &bytes);
    printf("%d %d %zu %s\n", e, nvrtcGetCUBIN(NULL, code), bytes, code);
    return 0;
}
#endif
