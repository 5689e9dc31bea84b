/* Performs copies and fills immediately. */
#include "core_memory.h"
#include <stdlib.h>
#include <string.h>

static uint64_t address_of(const void *p) { return (uint64_t)(uintptr_t)p; }

bool cuda_is_device_only(const void *p) {
    bool shared = false;
    return heddle_buffer(cuda_core.h, address_of(p), NULL, NULL, &shared) && !shared;
}

static enum cuda_error copy_on_device(const char *who, void *to, const void *from, size_t bytes) {
    enum { PIECE = 1 << 20 };
    char *piece = malloc(bytes < PIECE ? bytes : PIECE);
    if (!piece)
        return CUDA_ErrorMemoryAllocation;
    enum cuda_error e = CUDA_Success;
    for (size_t at = 0; !e && at < bytes; at += PIECE) {
        size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        if (heddle_read(cuda_core.h, address_of(from) + at, piece, n) != HEDDLE_OK ||
            heddle_write(cuda_core.h, address_of(to) + at, piece, n) != HEDDLE_OK)
            e = cuda_complain(who, CUDA_ErrorInvalidValue);
    }
    free(piece);
    return e;
}

enum cuda_error cuda_copy(const char *who, void *to, const void *from, size_t bytes, enum cuda_copy kind) {
    CUDA_LOCK;
    if (!bytes)
        return CUDA_Success;
    if (!to || !from || (unsigned)kind > COPY_DEFAULT)
        return (unsigned)kind > COPY_DEFAULT ? CUDA_ErrorInvalidMemcpyDirection : CUDA_ErrorInvalidValue;
    bool to_device = kind == COPY_TO_DEVICE || kind == COPY_ON_DEVICE, from_device = kind >= COPY_TO_HOST;
    if (kind == COPY_DEFAULT) {
        to_device = cuda_is_device_only(to);
        from_device = cuda_is_device_only(from);
    } else if ((!to_device && cuda_is_device_only(to)) || (!from_device && cuda_is_device_only(from))) {
        fprintf(stderr, "heddle: %s: the direction says that a pointer is the host's, and it is the device's\n", who);
        return CUDA_ErrorInvalidValue;
    }
    if (to_device && from_device)
        return copy_on_device(who, to, from, bytes);
    enum heddle_status status = HEDDLE_OK;
    if (to_device)
        status = heddle_write(cuda_core.h, address_of(to), from, bytes);
    else if (from_device)
        status = heddle_read(cuda_core.h, address_of(from), to, bytes);
    else
        memmove(to, from, bytes);
    return status == HEDDLE_OK ? CUDA_Success : cuda_complain(who, CUDA_ErrorInvalidValue);
}

enum cuda_error cuda_copy_box(const char *who, const struct cuda_box *b) {
    CUDA_LOCK;
    enum cuda_error e = CUDA_Success;
    for (size_t z = 0; !e && z < b->depth; z++)
        for (size_t y = 0; !e && y < b->height; y++)
            e = cuda_copy(who, b->to + z * b->to_plane + y * b->to_pitch,
                          b->from + z * b->from_plane + y * b->from_pitch, b->width, b->kind);
    return e;
}

/* ---- fills ---- */

/* Sets `n` elements of 1, 2 or 4 bytes (`width`) to the value. */
static enum cuda_error fill(const char *who, void *p, uint32_t value, uint32_t width, size_t n) {
    enum { PIECE = 1 << 16 };
    static char piece[PIECE]; /* under the lock */
    enum heddle_status status = HEDDLE_OK;
    if (!n)
        return CUDA_Success;
    if (n > SIZE_MAX / width || address_of(p) % width)
        return CUDA_ErrorInvalidValue;
    size_t bytes = n * width;
    value = width == 4 ? value : value & ((1u << (8 * width)) - 1);
    if (value == 0) {
        status = heddle_clear(cuda_core.h, address_of(p), bytes);
    } else {
        for (size_t at = 0; at < PIECE && at < bytes; at += width)
            memcpy(piece + at, &value, width);
        for (size_t at = 0; status == HEDDLE_OK && at < bytes; at += PIECE)
            status = heddle_write(cuda_core.h, address_of(p) + at, piece, bytes - at < PIECE ? bytes - at : PIECE);
    }
    return status == HEDDLE_OK ? CUDA_Success : cuda_complain(who, CUDA_ErrorInvalidValue);
}

enum cuda_error cuda_fill_rows(const char *who, const struct cuda_rows *r) {
    CUDA_LOCK;
    if (r->rows > 1 && r->n > r->pitch / r->width)
        return CUDA_ErrorInvalidPitchValue;
    enum cuda_error e = CUDA_Success;
    for (size_t i = 0; !e && i < r->rows; i++)
        e = fill(who, r->p + i * r->pitch, r->value, r->width, r->n);
    return e;
}
