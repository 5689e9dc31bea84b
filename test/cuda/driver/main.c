/* Tests the CUDA driver API. usage: driver [FOLDER [fault]], where FOLDER has the fixtures (test/cuda) */
#include "driver.h"

int mistakes;
void want(int right, const char *what, int line, const char *file) {
    if (!right) {
        printf("%s:%d: %s\n", file, line, what);
        mistakes++;
    }
}

/* A module with the variable `step` and the kernel `add`: p[i] += step for every i < n. */
const char text[] = ".version 6.0\n.target sm_20\n.address_size 64\n"
                    ".visible .global .align 4 .u32 step = 3;\n"
                    ".visible .entry add(.param .u64 p, .param .u32 n)\n{\n"
                    "  .reg .pred %q;\n  .reg .u32 %r<6>;\n  .reg .u64 %d<4>;\n"
                    "  ld.param.u64 %d1, [p];\n  ld.param.u32 %r1, [n];\n"
                    "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;\n  mov.u32 %r4, %tid.x;\n"
                    "  mad.lo.u32 %r2, %r2, %r3, %r4;\n  setp.ge.u32 %q, %r2, %r1;\n  @%q bra end;\n"
                    "  mul.wide.u32 %d2, %r2, 4;\n  add.u64 %d1, %d1, %d2;\n"
                    "  ld.global.u32 %r3, [%d1];\n  ld.global.u32 %r4, [step];\n"
                    "  add.u32 %r3, %r3, %r4;\n  st.global.u32 [%d1], %r3;\nend:\n  ret;\n}\n";

int sum(const int *p) {
    int s = 0;
    for (int i = 0; i < N; i++)
        s += p[i];
    return s;
}

int main(int argc, char **argv) {
    CUdevice device;
    CUmodule m;
    IS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&device, 0));
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    devices(device);
    contexts(device);
    OK(cuModuleLoadData(&m, text));
    memory();
    kernels(m);
    captures(m);
    capture_abandoned(m);
    low_memory(m);
    old_launches(m);
    linking();
    grids();
    fewer_registers();
    if (argc > 1)
        libraries(argv[1]);
    arrays();
    textures();
    forked(device);
    errors();
    entries();
    times(m);
    if (argc > 2)
        fault(m);
    printf("%d mistakes\n", mistakes);
    return mistakes != 0;
}
