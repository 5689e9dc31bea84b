/* Tests host/cuda/driver/driver_array.c: arrays, copies from and to arrays, and the levels of mipmapped arrays. */
#include "textures.h"

void arrays(void) {
    CUarray a, b;
    CUdeviceptr p;
    int from[16], to[16] = {0};
    for (int i = 0; i < 16; i++)
        from[i] = 100 + i;
    CUDA_ARRAY_DESCRIPTOR d = {16, 0, CU_AD_FORMAT_SIGNED_INT32, 1}, seen;
    OK(cuArrayCreate(&a, &d));
    OK(cuArrayCreate(&b, &d));
    OK(cuArrayGetDescriptor(&seen, a));
    WANT(seen.Width == 16 && seen.Height == 0 && seen.Format == CU_AD_FORMAT_SIGNED_INT32 && seen.NumChannels == 1);
    OK(cuMemcpyHtoA(a, 0, from, sizeof from));
    OK(cuMemcpyAtoH(to, a, 8, 16)); /* copies 16 bytes from byte 8 (the third element) on */
    WANT(to[0] == 102 && to[3] == 105 && to[4] == 0);
    OK(cuMemAlloc(&p, sizeof to));
    OK(cuMemsetD32(p, 7, 16));
    OK(cuMemcpyAtoA(b, 4, a, 0, 60));
    OK(cuMemcpyDtoA(b, 0, p, 4));
    OK(cuMemcpyAtoD(p, b, 0, sizeof to));
    OK(cuMemcpyDtoH(to, p, sizeof to));
    WANT(to[0] == 7 && to[1] == 100 && to[15] == 114);
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(a, 4, from, sizeof from)); /* beyond the end */
    OK(cuArrayDestroy(a));
    OK(cuArrayDestroy(b));
    WANT(cuArrayDestroy(b) != CUDA_SUCCESS);
    OK(cuMemFree(p));
    d.Width = 0;
    IS(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&a, &d));
    CUDA_ARRAY3D_DESCRIPTOR v = {8, 4, 2, CU_AD_FORMAT_FLOAT, 4, 0}, got;
    OK(cuArray3DCreate(&a, &v));
    OK(cuArray3DGetDescriptor(&got, a));
    WANT(got.Width == 8 && got.Height == 4 && got.Depth == 2 && got.Format == CU_AD_FORMAT_FLOAT &&
         got.NumChannels == 4);
    OK(cuArrayDestroy(a));
    CUmipmappedArray m;
    OK(cuMipmappedArrayCreate(&m, &v, 9)); /* has 4 levels: 8 4 2, 4 2 1, 2 1 1, 1 1 1 */
    OK(cuMipmappedArrayGetLevel(&a, m, 1));
    OK(cuArray3DGetDescriptor(&got, a));
    WANT(got.Width == 4 && got.Height == 2 && got.Depth == 1);
    IS(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&a, m, 4));
    OK(cuMipmappedArrayDestroy(m));
    WANT(cuMipmappedArrayDestroy(m) != CUDA_SUCCESS);
    WANT(cuArray3DGetDescriptor(&got, a) != CUDA_SUCCESS); /* the array of a level is destroyed, too */
}
