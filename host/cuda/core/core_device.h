#ifndef CUDA_CORE_DEVICE_H
#define CUDA_CORE_DEVICE_H
/* The only device. Any device number except 0 gives CUDA_ErrorInvalidDevice. */
#include "core_base.h"

/* cudaDeviceProp of CUDA 12. The struct of CUDA 11 ends before hostRegisterSupported. */
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

/* Returns the properties of the device, from the configuration. */
enum cuda_error cuda_device_properties(struct cuda_properties *out, int device);
/* Returns an attribute by its number, which both interfaces share; 0 if the machine lacks the feature. */
enum cuda_error cuda_device_attribute(int *out, int which, int device);
/* Returns the largest number of elements in a one-dimensional texture over linear memory. It is the same for all
 * formats. */
enum cuda_error cuda_device_linear_width(size_t *out, const void *format, int device);
enum cuda_error cuda_device_name(char *out, int size, int device);
/* Returns the device's UUID: 16 bytes, which are equal in every run. */
enum cuda_error cuda_device_uuid(char *out, int device);
/* Returns the number of bytes of device memory. */
enum cuda_error cuda_device_memory(size_t *out, int device);
enum cuda_error cuda_device_pci_id(char *out, int size, int device);
/* Finds a device by its place on the bus: DOMAIN:BUS:DEVICE.FUNCTION, without the domain, or without the function, in
 * hexadecimal numbers. */
enum cuda_error cuda_device_by_pci_id(int *out, const char *id);
/* Stores what cudaDeviceGetCacheConfig() returns. */
enum cuda_error cuda_device_prefer(int cache);
/* Returns whether devices can access each other. There is only one device, so *out is 0. */
enum cuda_error cuda_device_peer(int *out, int device, int peer);
/* Returns the range of stream priorities. All streams have priority 0. The result pointers may be NULL. */
enum cuda_error cuda_priority_range(int *least, int *greatest);
/* Sets and gets the flags of cudaSetDeviceFlags(), which are only reported back. */
enum cuda_error cuda_device_set_flags(unsigned flags);
enum cuda_error cuda_device_flags(unsigned *out);

/* Set and get limits by the numbers of cudaLimit. The limit for the heap of malloc() in kernels needs the open GPU. */
enum { CUDA_LIMIT_HEAP = 2 };
enum cuda_error cuda_limit(size_t *out, int which);
enum cuda_error cuda_set_limit(int which, size_t value);
#endif
