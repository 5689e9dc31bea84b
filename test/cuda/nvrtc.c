/* Calls NVRTC to compile CUDA C++, and prints the error codes. Linked with Heddle's libnvrtc.so. */
#include <stdio.h>
#include <string.h>
typedef struct program *nvrtcProgram;
int nvrtcCreateProgram(nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *);
int nvrtcCompileProgram(nvrtcProgram, int, const char *const *), nvrtcGetPTXSize(nvrtcProgram, size_t *);
const char *nvrtcGetErrorString(int);

int main(void) {
    nvrtcProgram p = NULL;
    size_t bytes = 0;
    int e = nvrtcCreateProgram(&p, "__global__ void k() {}", "k.cu", 0, NULL, NULL);
    printf("%d %d %d\n", e, nvrtcCompileProgram(p, 0, NULL), nvrtcGetPTXSize(p, &bytes));
    printf("%s\n", nvrtcGetErrorString(e));
    return strstr(nvrtcGetErrorString(0), "SUCCESS") == NULL;
}
