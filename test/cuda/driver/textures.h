#ifndef DRIVER_TEXTURES_H
#define DRIVER_TEXTURES_H
/* The driver API for arrays and textures. With WITH_HEADER, the toolkit's cuda.h declares it; else this file does. */
#include "driver.h"
#ifndef WITH_HEADER
typedef struct array *CUarray;
typedef struct mipmap *CUmipmappedArray;
typedef struct texref *CUtexref;
typedef unsigned long long CUtexObject;
typedef struct {
    size_t Width, Height;
    int Format;
    unsigned NumChannels;
} CUDA_ARRAY_DESCRIPTOR;
typedef struct {
    size_t Width, Height, Depth;
    int Format;
    unsigned NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;
typedef struct {
    int resType;
    union {
        struct {
            CUarray hArray;
        } array;
        struct {
            CUmipmappedArray hMipmappedArray;
        } mipmap;
        struct {
            CUdeviceptr devPtr;
            int format;
            unsigned numChannels;
            size_t sizeInBytes;
        } linear;
        int reserved[32];
    } res;
    unsigned flags;
} CUDA_RESOURCE_DESC;
typedef struct {
    int addressMode[3], filterMode;
    unsigned flags, maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp, borderColor[4];
    int reserved[12];
} CUDA_TEXTURE_DESC;
enum { CU_AD_FORMAT_UNSIGNED_INT8 = 1, CU_AD_FORMAT_SIGNED_INT32 = 10, CU_AD_FORMAT_FLOAT = 0x20 };
enum { CU_RESOURCE_TYPE_ARRAY, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, CU_RESOURCE_TYPE_LINEAR };
enum { CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_MIRROR, CU_TR_ADDRESS_MODE_BORDER };
enum { CU_TRSF_READ_AS_INTEGER = 1, CU_TRSF_NORMALIZED_COORDINATES = 2 };
#define cuArrayCreate          cuArrayCreate_v2
#define cuArrayGetDescriptor   cuArrayGetDescriptor_v2
#define cuArray3DCreate        cuArray3DCreate_v2
#define cuArray3DGetDescriptor cuArray3DGetDescriptor_v2
#define cuMemcpyHtoA           cuMemcpyHtoA_v2
#define cuMemcpyAtoH           cuMemcpyAtoH_v2
#define cuMemcpyDtoA           cuMemcpyDtoA_v2
#define cuMemcpyAtoD           cuMemcpyAtoD_v2
#define cuMemcpyAtoA           cuMemcpyAtoA_v2
#define cuTexRefSetAddress     cuTexRefSetAddress_v2
CUresult cuArrayCreate(CUarray *, const CUDA_ARRAY_DESCRIPTOR *), cuArrayDestroy(CUarray);
CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *, CUarray);
CUresult cuArray3DCreate(CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *);
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *, CUarray);
CUresult cuMemcpyHtoA(CUarray, size_t, const void *, size_t), cuMemcpyAtoH(void *, CUarray, size_t, size_t);
CUresult cuMemcpyDtoA(CUarray, size_t, CUdeviceptr, size_t), cuMemcpyAtoD(CUdeviceptr, CUarray, size_t, size_t);
CUresult cuMemcpyAtoA(CUarray, size_t, CUarray, size_t, size_t);
CUresult cuMipmappedArrayCreate(CUmipmappedArray *, const CUDA_ARRAY3D_DESCRIPTOR *, unsigned);
CUresult cuMipmappedArrayGetLevel(CUarray *, CUmipmappedArray, unsigned), cuMipmappedArrayDestroy(CUmipmappedArray);
CUresult cuTexObjectCreate(CUtexObject *, const CUDA_RESOURCE_DESC *, const CUDA_TEXTURE_DESC *, const void *);
CUresult cuTexObjectDestroy(CUtexObject), cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *, CUtexObject);
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *, CUtexObject);
CUresult cuModuleGetTexRef(CUtexref *, CUmodule, const char *), cuTexRefSetFlags(CUtexref, unsigned);
CUresult cuTexRefSetFormat(CUtexref, int, int), cuTexRefSetAddress(size_t *, CUtexref, CUdeviceptr, size_t);
CUresult cuTexRefSetArray(CUtexref, CUarray, unsigned), cuTexRefSetBorderColor(CUtexref, float *);
CUresult cuTexRefSetAddressMode(CUtexref, int, int);
#endif
#endif
