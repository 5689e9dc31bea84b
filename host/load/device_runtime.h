#ifndef HOST_DEVICE_RUNTIME_H
#define HOST_DEVICE_RUNTIME_H
/* CUDA's device runtime, by which kernels launch kernels (dynamic parallelism) and synchronise cooperative grids: its
 * functions as PTX, and the format in which they leave launches for the host. A kernel appends a pointer to a record to
 * the queue; when the kernel's grid has ended, the host launches the recorded kernels (host/device_launch.c). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_QUEUE "__heddle_launches" /* the queue: a variable of every module that launches kernels */

enum {
    DEVICE_QUEUE_MOST = 65535, /* most launches of a grid */
    DEVICE_PARAM_BYTES = 960,  /* most bytes of a launch's parameters */
    DEVICE_STREAM_TAIL = 3,    /* cudaStreamTailLaunch: after all other kernels that the grid launched */
};

struct device_queue {
    /* launches: number of launches; if it is above DEVICE_QUEUE_MOST, the launches beyond this limit were lost */
    uint32_t launches, streams;
    uint64_t record[DEVICE_QUEUE_MOST]; /* addresses of struct device_record */
};

/* A launch. The record is a block of the device's heap. */
struct device_record {
    uint64_t kernel; /* the kernel's address, a number */
    uint32_t grid[3], block[3], shared, unused;
    uint64_t stream, cta; /* cta: number of the CTA that launched it */
    uint64_t reserved;
    unsigned char params[DEVICE_PARAM_BYTES];
};

/* Returns whether the PTX calls functions of the device runtime that it does not define. Then `*all` is the PTX
 * followed by the definitions, zero-terminated, which the caller frees; NULL if out of memory. */
bool device_runtime_add(const char *text, size_t len, char **all);
/* Returns whether the PTX contains CUDA's device library, because it defines the library's function for launches. */
bool device_runtime_is_library(const char *text, size_t len);
#endif
