/* Tests host/cuda/driver/driver_texture.c, and textures of arrays: kernels read through texture references and texture
 * objects. */
#include "textures.h"

static const char kernels_of_textures[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n.global .texref line;\n"
    ".visible .entry by_reference(.param .u64 out)\n{\n  .reg .u32 %r<4>;\n  .reg .u64 %d<3>;\n  .reg .f32 %f<6>;\n"
    "  ld.param.u64 %d1, [out];\n  mov.u32 %r1, %tid.x;\n  cvt.rn.f32.u32 %f1, %r1;\n  add.f32 %f1, %f1, 0fBF000000;\n"
    "  tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [line, {%f1}];\n"
    "  mul.wide.u32 %d2, %r1, 4;\n  add.u64 %d1, %d1, %d2;\n  st.global.f32 [%d1], %f2;\n  ret;\n}\n"
    ".visible .entry by_object(.param .u64 out, .param .u64 t)\n{\n  .reg .u32 %r<4>;\n  .reg .u64 %d<4>;\n"
    "  .reg .f32 %f<6>;\n  ld.param.u64 %d1, [out];\n  ld.param.u64 %d3, [t];\n  mov.u32 %r1, %tid.x;\n"
    "  cvt.rn.f32.u32 %f1, %r1;\n  add.f32 %f1, %f1, 0fBF000000;\n"
    "  tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d3, {%f1}];\n"
    "  mul.wide.u32 %d2, %r1, 4;\n  add.u64 %d1, %d1, %d2;\n  st.global.f32 [%d1], %f2;\n  ret;\n}\n";

/* Thread i reads at coordinate i - 1/2: thread 0 reads before the first texel, threads 1 to 8 read the texels, and
 * thread 9 reads beyond the last texel. */
enum { TEXELS = 8, THREADS = TEXELS + 2 };
static void run(CUfunction f, CUdeviceptr out, CUtexObject *t, float *seen) {
    OK(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, (void *[]){&out, t}, NULL));
    OK(cuMemcpyDtoH(seen, out, THREADS * sizeof *seen));
}

static void references(CUmodule m, CUdeviceptr out, CUarray a) {
    CUfunction f;
    CUtexref r;
    float border[4] = {0.25f, 0, 0, 0}, seen[THREADS];
    OK(cuModuleGetFunction(&f, m, "by_reference"));
    IS(CUDA_ERROR_NOT_FOUND, cuModuleGetTexRef(&r, m, "page"));
    OK(cuModuleGetTexRef(&r, m, "line"));
    OK(cuTexRefSetArray(r, a, 1)); /* flag 1: the reference gets the array's format: bytes, read as fractions */
    OK(cuTexRefSetAddressMode(r, 0, CU_TR_ADDRESS_MODE_CLAMP));
    run(f, out, NULL, seen);
    WANT(seen[0] == 0 && seen[1] == 0 && seen[2] == 51 / 255.0f && seen[6] == 1 && seen[9] == seen[8]);
    OK(cuTexRefSetAddressMode(r, 0, CU_TR_ADDRESS_MODE_BORDER));
    OK(cuTexRefSetBorderColor(r, border));
    run(f, out, NULL, seen);
    WANT(seen[0] == 0.25f && seen[2] == 51 / 255.0f && seen[9] == 0.25f);
}

static void objects(CUmodule m, CUdeviceptr out, CUarray a) {
    CUfunction f;
    CUtexObject t;
    float seen[THREADS];
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY}, back;
    CUDA_TEXTURE_DESC d = {.borderColor = {0.5f}}, same;
    OK(cuModuleGetFunction(&f, m, "by_object"));
    r.res.array.hArray = a;
    for (int i = 0; i < 3; i++)
        d.addressMode[i] = CU_TR_ADDRESS_MODE_BORDER;
    OK(cuTexObjectCreate(&t, &r, &d, NULL));
    OK(cuTexObjectGetResourceDesc(&back, t));
    OK(cuTexObjectGetTextureDesc(&same, t));
    WANT(back.resType == CU_RESOURCE_TYPE_ARRAY && back.res.array.hArray == a && same.borderColor[0] == 0.5f);
    run(f, out, &t, seen);
    WANT(seen[0] == 0.5f && seen[1] == 0 && seen[2] == 51 / 255.0f && seen[9] == 0.5f);
    OK(cuTexObjectDestroy(t));
    IS(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(t));
    /* a texture of linear memory must not be larger than its allocation */
    CUdeviceptr line;
    float numbers[TEXELS];
    for (int i = 0; i < TEXELS; i++)
        numbers[i] = 10 + i;
    OK(cuMemAlloc(&line, sizeof numbers));
    OK(cuMemcpyHtoD(line, numbers, sizeof numbers));
    CUDA_RESOURCE_DESC l = {.resType = CU_RESOURCE_TYPE_LINEAR};
    l.res.linear.devPtr = line;
    l.res.linear.format = CU_AD_FORMAT_FLOAT;
    l.res.linear.numChannels = 1;
    l.res.linear.sizeInBytes = sizeof numbers + 4;
    IS(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&t, &l, &d, NULL));
    l.res.linear.sizeInBytes = sizeof numbers;
    OK(cuTexObjectCreate(&t, &l, &d, NULL));
    run(f, out, &t, seen);
    WANT(seen[1] == 10 && seen[8] == 17);
    OK(cuTexObjectDestroy(t));
    OK(cuMemFree(line));
}

void textures(void) {
    CUmodule m;
    CUarray a;
    CUdeviceptr out;
    CUDA_ARRAY_DESCRIPTOR d = {TEXELS, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    unsigned char bytes[TEXELS] = {0, 51, 102, 153, 204, 255, 1, 2};
    OK(cuModuleLoadData(&m, kernels_of_textures));
    OK(cuArrayCreate(&a, &d));
    OK(cuMemcpyHtoA(a, 0, bytes, sizeof bytes));
    OK(cuMemAlloc(&out, THREADS * sizeof(float)));
    references(m, out, a);
    objects(m, out, a);
    OK(cuArrayDestroy(a));
    OK(cuMemFree(out));
    OK(cuModuleUnload(m));
}
