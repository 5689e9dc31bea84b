#ifndef CUDA_RUNTIME_API_H
#define CUDA_RUNTIME_API_H
/* Functions of CUDA's runtime that other files of host/cuda call: the driver's functions are the same but for their
 * names and arguments. Parameters and errors are those of CUDA's manual; each takes the lock (cuda_enter()). */
#include "host/cuda/core/core.h"

struct cuda_stream;
struct cuda_event;

/* runtime_device.c */
enum cuda_error cudaDeviceCanAccessPeer(int *out, int device, int peer);
enum cuda_error cudaDeviceGetAttribute(int *out, int which, int device);
enum cuda_error cudaDeviceGetByPCIBusId(int *out, const char *id);
enum cuda_error cudaDeviceGetLimit(size_t *out, int which);
enum cuda_error cudaDeviceGetPCIBusId(char *out, int size, int device);
enum cuda_error cudaDeviceGetTexture1DLinearMaxWidth(size_t *out, const void *format, int device);
enum cuda_error cudaDeviceSetLimit(int which, size_t value);
/* runtime_memory.c */
enum cuda_error cudaFree(void *p);
enum cuda_error cudaHostGetDevicePointer(void **out, void *p, unsigned flags);
enum cuda_error cudaHostGetFlags(unsigned *out, void *p);
enum cuda_error cudaHostRegister(void *p, size_t bytes, unsigned flags);
enum cuda_error cudaHostUnregister(void *p);
enum cuda_error cudaMalloc(void **out, size_t bytes);
enum cuda_error cudaMallocHost(void **out, size_t bytes);
enum cuda_error cudaMallocManaged(void **out, size_t bytes, unsigned flags);
enum cuda_error cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height);
enum cuda_error cudaMemGetInfo(size_t *unused, size_t *all);
enum cuda_error cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cuda_copy kind, struct cuda_stream *s);
/* runtime_stream.c */
enum cuda_error cudaEventCreateWithFlags(struct cuda_event **out, unsigned flags);
enum cuda_error cudaEventQuery(struct cuda_event *e);
enum cuda_error cudaLaunchHostFunc(struct cuda_stream *s, void (*call)(void *), void *data);
#endif
