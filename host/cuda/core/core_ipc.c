/* Shares memory and events between processes. Memory that gets an IPC handle moves into an anonymous file, at an
 * unchanged device address. The other process finds the file through /proc and maps it. */
#include "core_ipc.h"
#include "core_memory.h"
#include "core_stream.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MEMORY_HANDLE = 0x48644d31, EVENT_HANDLE = 0x48644531 };
/* Memory that has an IPC handle. Its file stays open while the memory exists. */
struct exported {
    struct exported *next;
    uint64_t address; /* device address of the first byte; no other memory ever gets this address */
    int file;
};
static struct exported *all_exported; /* under the lock */

/* Memory of another process. */
struct opened {
    struct opened *next;
    union cuda_ipc_handle handle;
    void *p;
    uint64_t bytes;
    int uses;
};
static struct opened *all_opened;

/* Closes the files whose memory was freed. */
static void close_unused(void) {
    for (struct exported **i = &all_exported; *i;) {
        struct exported *t = *i;
        if (heddle_buffer(cuda_core.h, t->address, NULL, NULL, NULL)) {
            i = &t->next;
            continue;
        }
        close(t->file);
        *i = t->next;
        free(t);
    }
}

/* Returns the entry of the memory that begins at an address, and creates the entry on first use. Returns NULL if the
 * memory cannot move into a file. */
static const struct exported *exported_at(uint64_t address) {
    struct exported *t = all_exported;
    while (t && t->address != address)
        t = t->next;
    if (t || !(t = malloc(sizeof *t)))
        return t;
    *t = (struct exported){all_exported, address, heddle_move_to_file(cuda_core.h, address)};
    if (t->file < 0) {
        free(t);
        return NULL;
    }
    return all_exported = t;
}

enum cuda_error cuda_ipc_memory_handle(union cuda_ipc_handle *out, const void *p) {
    CUDA_LOCK;
    uint64_t begin, bytes;
    if (!out || cuda_memory_of(p, &begin, &bytes) != MEMORY_DEVICE)
        return CUDA_ErrorInvalidValue;
    close_unused();
    const struct exported *t = exported_at(begin);
    if (!t)
        return cuda_complain("cudaIpcGetMemHandle", CUDA_ErrorMemoryAllocation);
    memset(out, 0, sizeof *out);
    out->magic = MEMORY_HANDLE;
    out->process = getpid();
    out->file = t->file;
    out->bytes = bytes;
    return CUDA_Success;
}

/* Maps the file of a handle. Returns NULL if the process or the file no longer exists. */
static void *map_file(const union cuda_ipc_handle *h) {
    char path[64];
    struct stat s;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)h->process, (int)h->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return NULL;
    bool whole = fstat(file, &s) == 0 && (uint64_t)s.st_size >= h->bytes;
    void *p = whole ? mmap(NULL, h->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    close(file);
    return p == MAP_FAILED ? NULL : p;
}

enum cuda_error cuda_ipc_open_memory(void **out, const union cuda_ipc_handle *h) {
    CUDA_LOCK;
    if (!out || h->magic != MEMORY_HANDLE || !h->bytes)
        return CUDA_ErrorInvalidValue;
    if (h->process == getpid())
        /* as on a GPU, a process cannot open its own handle, because it already has the memory */
        return CUDA_ErrorDeviceUninitialized;
    struct opened *o = all_opened;
    while (o && memcmp(&o->handle, h, sizeof *h) != 0)
        o = o->next;
    if (o) {
        o->uses++;
        *out = o->p;
        return CUDA_Success;
    }
    if (!(o = malloc(sizeof *o)))
        return CUDA_ErrorMemoryAllocation;
    *o = (struct opened){all_opened, *h, map_file(h), h->bytes, 1};
    if (!o->p || heddle_map(cuda_core.h, o->p, o->bytes) != HEDDLE_OK) {
        enum cuda_error e =
            o->p ? cuda_complain("cudaIpcOpenMemHandle", CUDA_ErrorMemoryAllocation) : CUDA_ErrorInvalidValue;
        if (o->p)
            munmap(o->p, o->bytes);
        free(o);
        return e;
    }
    all_opened = o;
    *out = o->p;
    return CUDA_Success;
}

enum cuda_error cuda_ipc_close_memory(const void *p) {
    CUDA_LOCK;
    struct opened **i = &all_opened, *o;
    while (*i && (*i)->p != p)
        i = &(*i)->next;
    if (!(o = *i))
        return CUDA_ErrorInvalidValue;
    if (--o->uses > 0)
        return CUDA_Success;
    *i = o->next;
    heddle_free(cuda_core.h, (uintptr_t)o->p);
    munmap(o->p, o->bytes);
    free(o);
    return CUDA_Success;
}

/* ---- events: the work of a call is complete when the call returns, so opening the event of another process makes a
 * new event ---- */

enum cuda_error cuda_ipc_event_handle(union cuda_ipc_handle *out, struct cuda_event *e) {
    CUDA_LOCK;
    if (!out || cuda_event_wait(e))
        return CUDA_ErrorInvalidResourceHandle;
    memset(out, 0, sizeof *out);
    out->magic = EVENT_HANDLE;
    out->process = getpid();
    return CUDA_Success;
}

enum cuda_error cuda_ipc_open_event(struct cuda_event **out, const union cuda_ipc_handle *h) {
    CUDA_LOCK;
    enum { UNTIMED = 2 };
    return h->magic == EVENT_HANDLE ? cuda_event_new(out, UNTIMED) : CUDA_ErrorInvalidValue;
}
