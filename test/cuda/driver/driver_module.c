/* Tests host/cuda/driver/driver_module.c: modules and the linker. */
#include "driver.h"

/* Two PTX texts to be linked: the kernel in `caller` calls the function in `callee`. */
static const char caller[] = ".version 6.0\n.target sm_20\n.address_size 64\n"
                             ".extern .func (.param .u32 r) twice(.param .u32 x);\n"
                             ".visible .entry call(.param .u64 p)\n{\n  .reg .u32 %r<3>;\n  .reg .u64 %d;\n"
                             "  ld.param.u64 %d, [p];\n  ld.global.u32 %r1, [%d];\n"
                             "  { .param .u32 a; .param .u32 b;\n  st.param.u32 [a], %r1;\n"
                             "  call (b), twice, (a);\n  ld.param.u32 %r2, [b]; }\n"
                             "  st.global.u32 [%d], %r2;\n  ret;\n}\n";
static const char callee[] =
    ".version 6.0\n.target sm_20\n.address_size 64\n"
    ".visible .func (.param .u32 r) twice(.param .u32 x)\n{\n  .reg .u32 %r<2>;\n"
    "  ld.param.u32 %r1, [x];\n  add.u32 %r1, %r1, %r1;\n  st.param.u32 [r], %r1;\n  ret;\n}\n";

/* A kernel that synchronises its grid by the driver's device functions, as CUDA's device library calls them. In each of
 * three iterations, a thread adds 1 to p[0], waits for the grid, reads p[0] into %r3, and waits for the grid again. At
 * the end, thread i stores %r3 in p[2 + i], and p[1] gets the number of threads of the grid. */
static const char grid[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n"
    ".extern .func (.param .b64 r) __cuda_syscall_CGS_get_intrinsic_handle(.param .b32 scope);\n"
    ".extern .func (.param .b32 r) __cuda_syscall_CGS_sync(.param .b64 grid, .param .b32 flags);\n"
    ".extern .func (.param .b32 r) __cuda_syscall_CGS_get_size(.param .b64 t, .param .b64 g, .param .b64 grid);\n"
    ".visible .entry meet(.param .u64 p)\n{\n  .reg .pred %q;\n  .reg .u32 %r<9>;\n  .reg .u64 %d<9>;\n"
    "  { .param .b32 a; .param .b64 b; mov.u32 %r1, 1; st.param.b32 [a], %r1;\n"
    "  call (b), __cuda_syscall_CGS_get_intrinsic_handle, (a); ld.param.b64 %d1, [b]; }\n"
    "  ld.param.u64 %d2, [p];\n  mov.u32 %r7, 3;\n"
    "more:\n  atom.global.add.u32 %r2, [%d2], 1;\n"
    "  { .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %d1; st.param.b32 [b], 0;\n"
    "  call (c), __cuda_syscall_CGS_sync, (a, b); }\n"
    "  ld.global.cg.u32 %r3, [%d2];\n"
    "  { .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %d1; st.param.b32 [b], 0;\n"
    "  call (c), __cuda_syscall_CGS_sync, (a, b); }\n"
    "  sub.u32 %r7, %r7, 1;\n  setp.ne.u32 %q, %r7, 0;\n  @%q bra more;\n"
    "  mov.u32 %r4, %ctaid.x;\n  mov.u32 %r5, %ntid.x;\n  mov.u32 %r6, %tid.x;\n  mad.lo.u32 %r4, %r4, %r5, %r6;\n"
    "  mul.wide.u32 %d3, %r4, 4;\n  add.u64 %d3, %d3, %d2;\n  st.global.u32 [%d3+8], %r3;\n"
    "  add.u64 %d4, %d2, 4;\n"
    "  { .param .b64 a; .param .b64 b; .param .b64 c; .param .b32 d; st.param.b64 [a], %d4; mov.u64 %d5, 0;\n"
    "  st.param.b64 [b], %d5; st.param.b64 [c], %d1;\n"
    "  call (d), __cuda_syscall_CGS_get_size, (a, b, c); }\n  ret;\n}\n";

void linking(void) {
    CUlinkState l;
    CUmodule m;
    CUfunction f;
    CUdeviceptr p;
    void *image;
    size_t bytes;
    int host = 21;
    OK(cuLinkCreate(0, NULL, NULL, &l));
    OK(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller", 0, NULL, NULL));
    OK(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)callee, sizeof callee, "callee", 0, NULL, NULL));
    OK(cuLinkComplete(l, &image, &bytes));
    char *copy = malloc(bytes);
    memcpy(copy, image, bytes);
    OK(cuLinkDestroy(l));
    OK(cuModuleLoadData(&m, copy));
    free(copy);
    OK(cuModuleGetFunction(&f, m, "call"));
    OK(cuMemAlloc(&p, 4));
    OK(cuMemcpyHtoD(p, &host, 4));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    OK(cuMemcpyDtoH(&host, p, 4));
    WANT(host == 42);
    OK(cuModuleUnload(m));
    IS(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&f, m, "call"));
    OK(cuMemFree(p));
}

/* Checks the limit of registers that the linker gets: a kernel with eight live words uses more than eight registers
 * without a limit, and eight with it. */
void fewer_registers(void) {
    static const char eight[] =
        ".version 6.0\n.target sm_20\n.address_size 64\n.visible .entry sum(.param .u64 p) // sums {\n{\n"
        "  .reg .u32 %r<9>;\n  .reg .u64 %d;\n  ld.param.u64 %d, [p];\n"
        "  ld.global.u32 %r1, [%d];\n  ld.global.u32 %r2, [%d+4];\n  ld.global.u32 %r3, [%d+8];\n"
        "  ld.global.u32 %r4, [%d+12];\n  ld.global.u32 %r5, [%d+16];\n  ld.global.u32 %r6, [%d+20];\n"
        "  ld.global.u32 %r7, [%d+24];\n  ld.global.u32 %r8, [%d+28];\n"
        "  add.u32 %r1, %r1, %r2;\n  add.u32 %r1, %r1, %r3;\n  add.u32 %r1, %r1, %r4;\n  add.u32 %r1, %r1, %r5;\n"
        "  add.u32 %r1, %r1, %r6;\n  add.u32 %r1, %r1, %r7;\n  add.u32 %r1, %r1, %r8;\n"
        "  st.global.u32 [%d], %r1;\n  ret;\n}\n";
    CUjit_option names[] = {(CUjit_option)0}; /* most registers */
    int host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, found[2] = {0};
    for (int i = 0; i < 2; i++) {
        void *values[] = {(void *)(i ? 8ul : 0ul)}, *image;
        CUlinkState l;
        CUmodule m;
        CUfunction f;
        CUdeviceptr p;
        int to;
        OK(cuLinkCreate(1, names, values, &l));
        OK(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)eight, sizeof eight, "eight", 0, NULL, NULL));
        OK(cuLinkComplete(l, &image, NULL));
        OK(cuModuleLoadData(&m, image));
        OK(cuLinkDestroy(l));
        OK(cuModuleGetFunction(&f, m, "sum"));
        OK(cuFuncGetAttribute(&found[i], (CUfunction_attribute)4, f));
        OK(cuMemAlloc(&p, sizeof host));
        OK(cuMemcpyHtoD(p, host, sizeof host));
        OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL));
        OK(cuMemcpyDtoH(&to, p, sizeof to));
        WANT(to == 36);
        OK(cuMemFree(p));
        OK(cuModuleUnload(m));
    }
    WANT(found[0] > 8 && found[1] == 8);
}

/* Checks a cooperative launch: 4 CTAs of 40 threads add to a counter three times, which is then 160, 320 and 480. The
 * kernel's module is linked with another module, or loaded alone. */
void grids(void) {
    for (int alone = 0; alone < 2; alone++) {
        CUlinkState l;
        CUmodule m;
        CUfunction f;
        CUdeviceptr p;
        void *image;
        unsigned host[2 + 160], wrong = 0;
        OK(cuLinkCreate(0, NULL, NULL, &l));
        OK(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)grid, sizeof grid, "grid", 0, NULL, NULL));
        OK(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)callee, sizeof callee, "callee", 0, NULL, NULL));
        OK(cuLinkComplete(l, &image, NULL));
        OK(cuModuleLoadData(&m, alone ? grid : image));
        OK(cuLinkDestroy(l));
        OK(cuModuleGetFunction(&f, m, "meet"));
        OK(cuMemAlloc(&p, sizeof host));
        OK(cuMemsetD32(p, 0, 2 + 160));
        OK(cuLaunchCooperativeKernel(f, 4, 1, 1, 40, 1, 1, 0, NULL, (void *[]){&p}));
        OK(cuMemcpyDtoH(host, p, sizeof host));
        for (int i = 0; i < 160; i++)
            wrong += host[2 + i] != 480;
        WANT(host[0] == 480 && host[1] == 160 && wrong == 0);
        OK(cuMemFree(p));
    }
}

/* Links a library, an executable, an object and fat binaries. The kernel in part_a.cu needs a function and a variable
 * of part_b.cu. machine.fatbin has no PTX, so it is refused. */
void libraries(const char *folder) {
    static const char *const files[] = {"parts.a", "linked.out", "saxpy.obj", "zstd.fatbin", "machine.fatbin"};
    static const char *const kernels[] = {"_Z5applyPi", "_Z5applyPi", "_Z5saxpyifPKfPf", "_Z5saxpyifPKfPf", NULL};
    for (int i = 0; i < 5; i++) {
        char path[4096], log[400] = "";
        CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void *values[] = {log, (void *)sizeof log}, *image;
        CUlinkState l;
        CUmodule m;
        CUfunction f;
        CUdeviceptr p;
        int host[4] = {1, 2, 3, 4};
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        OK(cuLinkCreate(2, names, values, &l));
        if (!kernels[i]) {
            WANT(cuLinkAddFile(l, (CUjitInputType)4, path, 0, NULL, NULL) != CUDA_SUCCESS);
            WANT(strstr(log, "machine code") != NULL);
            OK(cuLinkDestroy(l));
            continue;
        }
        OK(cuLinkAddFile(l, (CUjitInputType)4, path, 0, NULL, NULL));
        OK(cuLinkComplete(l, &image, NULL));
        OK(cuModuleLoadData(&m, image));
        OK(cuLinkDestroy(l));
        OK(cuModuleGetFunction(&f, m, kernels[i]));
        if (i < 2) {
            OK(cuMemAlloc(&p, sizeof host));
            OK(cuMemcpyHtoD(p, host, sizeof host));
            OK(cuLaunchKernel(f, 1, 1, 1, 4, 1, 1, 0, NULL, (void *[]){&p}, NULL));
            OK(cuMemcpyDtoH(host, p, sizeof host));
            WANT(host[0] == 12 && host[1] == 24 && host[2] == 36 && host[3] == 48);
            OK(cuMemFree(p));
        }
        OK(cuModuleUnload(m));
    }
}
