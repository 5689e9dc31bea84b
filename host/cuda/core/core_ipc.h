#ifndef CUDA_CORE_IPC_H
#define CUDA_CORE_IPC_H
/* Sharing of memory and events between processes. */
#include "core_base.h"

struct cuda_event;
/* cudaIpcMemHandle_t and cudaIpcEventHandle_t: bytes that programs pass to another process */
union cuda_ipc_handle {
    struct {
        uint32_t magic;
        int32_t process, file;
        uint64_t bytes;
    };
    char bytes_of[64];
};

/* Makes a handle of memory for other processes. The memory moves into a file. */
enum cuda_error cuda_ipc_memory_handle(union cuda_ipc_handle *out, const void *p);
enum cuda_error cuda_ipc_open_memory(void **out, const union cuda_ipc_handle *h);
enum cuda_error cuda_ipc_close_memory(const void *p);
enum cuda_error cuda_ipc_event_handle(union cuda_ipc_handle *out, struct cuda_event *e);
enum cuda_error cuda_ipc_open_event(struct cuda_event **out, const union cuda_ipc_handle *h);
#endif
