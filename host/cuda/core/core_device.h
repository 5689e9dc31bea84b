#ifndef CUDA_CORE_DEVICE_H
#define CUDA_CORE_DEVICE_H
/* The one device. Another number than 0 is CUDA_ErrorInvalidDevice. */
#include "core_base.h"

/* cudaDeviceProp of CUDA 12; that of 11 ends before hostRegisterSupported. */
#define PROP(type, name, count) type name count;
#define NEW(type, name, count)  type name count;
#define OLD(type, name, count)  type name count;
struct cuda_properties {
#include "properties.def"
    int reserved[63];
};
#undef PROP
#undef NEW
#undef OLD
_Static_assert(sizeof(struct cuda_properties) == 1032, "the size in CUDA 12");

/* What the configuration says of the device. */
enum cuda_error cuda_device_properties(struct cuda_properties *out, int device);
/* An attribute by its number in both interfaces; 0 for what the machine lacks. */
enum cuda_error cuda_device_attribute(int *out, int which, int device);
/* Elements of a texture over memory in a row, of any format. */
enum cuda_error cuda_device_linear_width(size_t *out, const void *format, int device);
enum cuda_error cuda_device_name(char *out, int size, int device);
/* 16 bytes, the same in every run. */
enum cuda_error cuda_device_uuid(char *out, int device);
/* Bytes of device memory. */
enum cuda_error cuda_device_memory(size_t *out, int device);
enum cuda_error cuda_device_pci_id(char *out, int size, int device);
enum cuda_error cuda_device_by_pci_id(int *out, const char *id);
/* There is no peer: *out is 0. */
enum cuda_error cuda_device_peer(int *out, int device, int peer);
/* All streams have the priority 0; the results may be NULL. */
enum cuda_error cuda_priority_range(int *least, int *greatest);
/* The flags of cudaSetDeviceFlags(), which are only reported back. */
enum cuda_error cuda_device_set_flags(unsigned flags);
enum cuda_error cuda_device_flags(unsigned *out);

/* Limits by the numbers of cudaLimit. The heap of malloc() in kernels needs the open GPU. */
enum { CUDA_LIMIT_HEAP = 2 };
enum cuda_error cuda_limit(size_t *out, int which);
enum cuda_error cuda_set_limit(int which, size_t value);
#endif
