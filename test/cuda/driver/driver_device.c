/* Tests host/cuda/driver/driver_device.c: versions and properties of the device. */
#include "driver.h"

void devices(CUdevice device) {
    int n = 0, version = 0;
    CUdevice none;
    char name[100];
    OK(cuDriverGetVersion(&version));
    WANT(version >= 11000);
    OK(cuDeviceGetCount(&n));
    WANT(n == 1);
    IS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&none, 1));
    OK(cuDeviceGetName(name, sizeof name, device));
    WANT(strstr(name, "(Heddle)") != NULL);
    OK(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    WANT(n == 32);
    OK(cuDeviceGetAttribute(&n, (CUdevice_attribute)95, device)); /* cooperative launches */
    WANT(n == 1);
    /* major number of the compute capability, which is 7.5 with -c turing */
    OK(cuDeviceGetAttribute(&n, (CUdevice_attribute)75, device));
    WANT(n == 7);
    /* maximum texels of a 1D texture: 2^17 for compute capability 7.5 */
    OK(cuDeviceGetAttribute(&n, (CUdevice_attribute)21, device));
    WANT(n == 131072);
}
