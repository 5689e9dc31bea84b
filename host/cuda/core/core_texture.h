#ifndef CUDA_CORE_TEXTURE_H
#define CUDA_CORE_TEXTURE_H
/* Arrays. */
#include "core_memory.h"

struct cuda_array;
/* array.c: whether it is one; its first byte, pitch, rows a plane, bytes of an element. */
bool cuda_array_is(const struct cuda_array *a);
void cuda_array_bytes(const struct cuda_array *a, void **first, size_t *pitch, size_t *height, size_t *element);
#endif
