/* Memory in all forms but arrays (array.c), and copies. Host memory that CUDA allocates or registers is device memory
 * at the same address, which is what unified addressing promises. */
#include "host/cuda/core/core_graph_parts.h"
#include "runtime.h"
#include "runtime_api.h"
#include <stdlib.h>
#include <string.h>

enum { PITCH = 512 };

/* Memory that the host uses, too, for cudaPointerGetAttributes(). */
struct host_block {
    struct host_block *next;
    uint64_t begin, bytes;
    uint64_t device; /* its address there, mostly the same */
    int type;
};
static struct host_block *host_blocks; /* under cuda_core.lock */

static void *pointer(uint64_t address) { return (void *)(uintptr_t)address; }
static uint64_t address_of(const void *p) { return (uint64_t)(uintptr_t)p; }

static enum cuda_error allocate(void **out, uint64_t bytes) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = NULL;
    if (bytes && !(*out = pointer(heddle_alloc(cuda_core.h, bytes))))
        return CUDA_ErrorMemoryAllocation;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaMalloc(void **out, size_t bytes) { GUARD(allocate(out, bytes)); }
static enum cuda_error allocate_pitch(void **out, size_t *pitch, uint64_t width, uint64_t rows) {
    uint64_t row = (width + PITCH - 1) / PITCH * PITCH;
    if (!pitch || row < width || (rows && row > UINT64_MAX / rows))
        return CUDA_ErrorInvalidValue;
    *pitch = row;
    return allocate(out, row * rows);
}

CUDA_API enum cuda_error cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height) {
    GUARD(allocate_pitch(out, pitch, width, height));
}

struct extent {
    size_t width, height, depth;
};
struct position {
    size_t x, y, z;
};
struct pitched {
    void *p;
    size_t pitch, width, height;
};

static enum cuda_error allocate_3d(struct pitched *out, struct extent e) {
    if (!out || (e.height && e.depth > UINT64_MAX / e.height))
        return CUDA_ErrorInvalidValue;
    out->width = e.width;
    out->height = e.height;
    return allocate_pitch(&out->p, &out->pitch, e.width, e.height * e.depth);
}

CUDA_API enum cuda_error cudaMalloc3D(struct pitched *out, struct extent e) { GUARD(allocate_3d(out, e)); }

static enum cuda_error note_block(uint64_t begin, uint64_t bytes, uint64_t device, int type) {
    struct host_block *b = malloc(sizeof *b);
    if (!b)
        return CUDA_ErrorMemoryAllocation;
    *b = (struct host_block){host_blocks, begin, bytes, device, type};
    host_blocks = b;
    return CUDA_Success;
}

static void forget_block(uint64_t begin) {
    for (struct host_block **b = &host_blocks; *b; b = &(*b)->next)
        if ((*b)->begin == begin) {
            struct host_block *gone = *b;
            *b = gone->next;
            free(gone);
            return;
        }
}

static enum cuda_error allocate_shared(void **out, uint64_t bytes, int type) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = NULL;
    if (!bytes)
        return type == MEMORY_MANAGED ? CUDA_ErrorInvalidValue : CUDA_Success;
    uint64_t at = heddle_alloc_shared(cuda_core.h, bytes);
    if (!at || note_block(at, bytes, at, type))
        return CUDA_ErrorMemoryAllocation;
    *out = pointer(at);
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaMallocManaged(void **out, size_t bytes, unsigned flags) {
    (void)flags;
    GUARD(allocate_shared(out, bytes, MEMORY_MANAGED));
}
CUDA_API enum cuda_error cudaMallocHost(void **out, size_t bytes) { GUARD(allocate_shared(out, bytes, MEMORY_HOST)); }
CUDA_API enum cuda_error cudaHostAlloc(void **out, size_t bytes, unsigned flags) {
    (void)flags;
    GUARD(allocate_shared(out, bytes, MEMORY_HOST));
}

static enum cuda_error release(void *p) {
    if (!p)
        return CUDA_Success;
    if (heddle_free(cuda_core.h, address_of(p)) != HEDDLE_OK)
        return cuda_complain("cudaFree", CUDA_ErrorInvalidValue);
    forget_block(address_of(p));
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaFree(void *p) { GUARD(release(p)); }
CUDA_API enum cuda_error cudaFreeHost(void *p) { GUARD(release(p)); }
static const struct host_block *block_of(const void *p) {
    const struct host_block *b = host_blocks;
    while (b && address_of(p) - b->begin >= b->bytes)
        b = b->next;
    return b;
}

static enum cuda_error map(void *p, uint64_t bytes) {
    if (!p || !bytes)
        return CUDA_ErrorInvalidValue;
    if (block_of(p) || heddle_buffer(cuda_core.h, address_of(p), NULL, NULL, NULL))
        return CUDA_ErrorHostMemoryAlreadyRegistered;
    enum { OWN = 1 << 28 }; /* addresses below it are the device's own: windows of other memories */
    uint64_t at = address_of(p) < OWN                              ? heddle_map_elsewhere(cuda_core.h, p, bytes)
                  : heddle_map(cuda_core.h, p, bytes) == HEDDLE_OK ? address_of(p)
                                                                   : 0;
    return at ? note_block(address_of(p), bytes, at, MEMORY_HOST)
              : cuda_complain("cudaHostRegister", CUDA_ErrorInvalidValue);
}

CUDA_API enum cuda_error cudaHostRegister(void *p, size_t bytes, unsigned flags) {
    (void)flags;
    GUARD(map(p, bytes));
}

static enum cuda_error unmap(void *p) {
    const struct host_block *b = block_of(p);
    if (!b || b->begin != address_of(p))
        return CUDA_ErrorHostMemoryNotRegistered;
    uint64_t device = b->device;
    forget_block(b->begin);
    return release(pointer(device));
}

CUDA_API enum cuda_error cudaHostUnregister(void *p) { GUARD(unmap(p)); }

static enum cuda_error same_pointer(void **out, void *p) {
    const struct host_block *b = block_of(p);
    if (!out || !b)
        return CUDA_ErrorInvalidValue;
    *out = pointer(b->device + (address_of(p) - b->begin));
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaHostGetDevicePointer(void **out, void *p, unsigned flags) {
    (void)flags;
    GUARD(same_pointer(out, p));
}

static enum cuda_error host_flags(unsigned *out, const void *p) {
    enum { MAPPED = 2 };
    if (!out || !block_of(p))
        return CUDA_ErrorInvalidValue;
    *out = MAPPED;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaHostGetFlags(unsigned *out, void *p) { GUARD(host_flags(out, p)); }

enum cuda_memory cuda_memory_of(const void *p, uint64_t *begin, uint64_t *bytes) {
    const struct host_block *b = block_of(p);
    *begin = *bytes = 0;
    if (b) {
        *begin = b->begin;
        *bytes = b->bytes;
        return b->type;
    }
    bool shared = false; /* without a block: a managed variable of a module */
    if (!heddle_buffer(cuda_core.h, address_of(p), begin, bytes, &shared))
        return MEMORY_UNREGISTERED;
    return shared ? MEMORY_MANAGED : MEMORY_DEVICE;
}

struct pointer_attributes {
    int type, device;
    void *on_device, *on_host;
};

static enum cuda_error describe(struct pointer_attributes *out, const void *p) {
    uint64_t begin, bytes;
    if (!out)
        return CUDA_ErrorInvalidValue;
    void *at = pointer(address_of(p));
    out->type = cuda_memory_of(p, &begin, &bytes);
    out->device = out->type == MEMORY_UNREGISTERED ? -2 : 0;
    const struct host_block *b = block_of(p);
    out->on_device = out->type == MEMORY_UNREGISTERED ? NULL : b ? pointer(b->device + (address_of(p) - b->begin)) : at;
    out->on_host = out->type == MEMORY_DEVICE ? NULL : at;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaPointerGetAttributes(struct pointer_attributes *out, const void *p) {
    GUARD(describe(out, p));
}

static enum cuda_error memory_info(size_t *unused, size_t *all) {
    uint64_t limit, used;
    heddle_memory(cuda_core.h, &limit, &used);
    if (unused)
        *unused = limit - used;
    if (all)
        *all = limit;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaMemGetInfo(size_t *unused, size_t *all) { GUARD(memory_info(unused, all)); }

/* Managed memory is where both sides look at all times. */
CUDA_API enum cuda_error cudaMemAdvise(const void *p, size_t bytes) {
    (void)p, (void)bytes;
    return CUDA_Success;
}
CUDA_API enum cuda_error cudaMemPrefetchAsync(const void *p, size_t bytes) {
    (void)p, (void)bytes;
    return CUDA_Success;
}
CUDA_API enum cuda_error cudaStreamAttachMemAsync(void *stream, void *p, size_t bytes, unsigned flags) {
    (void)stream, (void)p, (void)bytes, (void)flags;
    return CUDA_Success;
}

/* ---- copies ---- */

static bool on_device_only(const void *p) {
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
    if (!bytes)
        return CUDA_Success;
    if (!to || !from || (unsigned)kind > COPY_DEFAULT)
        return (unsigned)kind > COPY_DEFAULT ? CUDA_ErrorInvalidMemcpyDirection : CUDA_ErrorInvalidValue;
    bool to_device = kind == COPY_TO_DEVICE || kind == COPY_ON_DEVICE, from_device = kind >= COPY_TO_HOST;
    if (kind == COPY_DEFAULT) {
        to_device = on_device_only(to);
        from_device = on_device_only(from);
    } else if ((!to_device && on_device_only(to)) || (!from_device && on_device_only(from))) {
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

CUDA_API enum cuda_error cudaMemcpy(void *to, const void *from, size_t bytes, enum cuda_copy kind) {
    GUARD(cuda_copy("cudaMemcpy", to, from, bytes, kind));
}
enum cuda_error cuda_copy_box(const char *who, const struct cuda_box *b) {
    enum cuda_error e = CUDA_Success;
    for (size_t z = 0; !e && z < b->depth; z++)
        for (size_t y = 0; !e && y < b->height; y++)
            e = cuda_copy(who, b->to + z * b->to_plane + y * b->to_pitch,
                          b->from + z * b->from_plane + y * b->from_pitch, b->width, b->kind);
    return e;
}

/* Now, or noted when the stream is captured. */
static enum cuda_error copy_box(const char *who, struct cuda_box b, struct cuda_stream *s) {
    if (b.height > 1 && (b.width > b.to_pitch || b.width > b.from_pitch))
        return CUDA_ErrorInvalidPitchValue;
    return cuda_capturing(s) ? cuda_capture(s, &(struct cuda_work){NODE_COPY, .box = b}) : cuda_copy_box(who, &b);
}

static struct cuda_box line(void *to, const void *from, size_t bytes, enum cuda_copy kind) {
    return (struct cuda_box){to, bytes, bytes, from, bytes, bytes, bytes, 1, 1, kind};
}

CUDA_API enum cuda_error cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cuda_copy kind,
                                         struct cuda_stream *s) {
    GUARD(copy_box("cudaMemcpyAsync", line(to, from, bytes, kind), s));
}
CUDA_API enum cuda_error cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    if (to_device || from_device)
        return cuda_note(CUDA_ErrorInvalidDevice);
    GUARD(cuda_copy("cudaMemcpyPeer", to, from, bytes, COPY_ON_DEVICE));
}
CUDA_API enum cuda_error cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                             struct cuda_stream *s) {
    if (to_device || from_device)
        return cuda_note(CUDA_ErrorInvalidDevice);
    return cudaMemcpyAsync(to, from, bytes, COPY_ON_DEVICE, s);
}

static enum cuda_error copy_symbol(const void *symbol, void *other, size_t bytes, size_t offset, enum cuda_copy kind,
                                   bool to, struct cuda_stream *s) {
    uint64_t address, size;
    enum cuda_error e = cuda_find_variable(symbol, &address, &size);
    if (e)
        return e;
    if (offset > size || bytes > size - offset)
        return CUDA_ErrorInvalidValue;
    if (kind == COPY_DEFAULT)
        kind = on_device_only(other) ? COPY_ON_DEVICE : to ? COPY_TO_DEVICE : COPY_TO_HOST;
    void *at = pointer(address + offset);
    return to ? copy_box("cudaMemcpyToSymbol", line(at, other, bytes, kind), s)
              : copy_box("cudaMemcpyFromSymbol", line(other, at, bytes, kind), s);
}

CUDA_API enum cuda_error cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                                            enum cuda_copy kind) {
    GUARD(copy_symbol(symbol, pointer(address_of(from)), bytes, offset, kind, true, NULL));
}
CUDA_API enum cuda_error cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                              enum cuda_copy kind) {
    GUARD(copy_symbol(symbol, to, bytes, offset, kind, false, NULL));
}
CUDA_API enum cuda_error cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                                 enum cuda_copy kind, struct cuda_stream *s) {
    GUARD(copy_symbol(symbol, pointer(address_of(from)), bytes, offset, kind, true, s));
}
CUDA_API enum cuda_error cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                                   enum cuda_copy kind, struct cuda_stream *s) {
    GUARD(copy_symbol(symbol, to, bytes, offset, kind, false, s));
}

static enum cuda_error copy_rows(const char *who, void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                 size_t width, size_t rows, enum cuda_copy kind, struct cuda_stream *s) {
    return width > to_pitch || width > from_pitch
               ? CUDA_ErrorInvalidPitchValue
               : copy_box(who, (struct cuda_box){to, to_pitch, 0, from, from_pitch, 0, width, rows, 1, kind}, s);
}

CUDA_API enum cuda_error cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                      size_t height, enum cuda_copy kind) {
    GUARD(copy_rows("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, NULL));
}
CUDA_API enum cuda_error cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                           size_t height, enum cuda_copy kind, struct cuda_stream *s) {
    GUARD(copy_rows("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, s));
}

struct copy_3d {
    struct cuda_array *from_array;
    struct position from_at;
    struct pitched from;
    struct cuda_array *to_array;
    struct position to_at;
    struct pitched to;
    struct extent extent;
    enum cuda_copy kind;
};

/* One side: an array's bytes, or pitched memory. Positions in arrays are in elements. */
static bool side_of(struct cuda_array *array, struct pitched p, struct position at, char **first, size_t *pitch,
                    size_t *plane, size_t *element) {
    size_t x = at.x;
    if (array) {
        if (!cuda_array_is(array))
            return false;
        cuda_array_bytes(array, &p.p, &p.pitch, &p.height, element);
        x *= *element;
    }
    *pitch = p.pitch;
    *plane = p.height * p.pitch;
    *first = (char *)p.p + at.z * *plane + at.y * p.pitch + x;
    return p.p != NULL;
}

enum cuda_error runtime_box_of(struct cuda_box *out, const struct copy_3d *c) {
    size_t element = 1; /* the extent is in elements as soon as one side is an array */
    if (!c ||
        !side_of(c->from_array, c->from, c->from_at, (char **)&out->from, &out->from_pitch, &out->from_plane,
                 &element) ||
        !side_of(c->to_array, c->to, c->to_at, &out->to, &out->to_pitch, &out->to_plane, &element))
        return CUDA_ErrorInvalidValue;
    out->width = c->extent.width * element;
    out->height = c->extent.height;
    out->depth = c->extent.depth;
    out->kind = c->kind;
    return out->width > out->to_pitch || out->width > out->from_pitch ? CUDA_ErrorInvalidPitchValue : CUDA_Success;
}

static enum cuda_error copy_3d(const char *who, const struct copy_3d *c, struct cuda_stream *s) {
    struct cuda_box b;
    enum cuda_error e = runtime_box_of(&b, c);
    return e ? e : copy_box(who, b, s);
}

CUDA_API enum cuda_error cudaMemcpy3D(const struct copy_3d *c) { GUARD(copy_3d("cudaMemcpy3D", c, NULL)); }
CUDA_API enum cuda_error cudaMemcpy3DAsync(const struct copy_3d *c, struct cuda_stream *s) {
    GUARD(copy_3d("cudaMemcpy3DAsync", c, s));
}

/* ---- filling ---- */

/* `n` elements of `width` bytes, 1, 2 or 4, get the value. */
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
    if (r->rows > 1 && r->n > r->pitch / r->width)
        return CUDA_ErrorInvalidPitchValue;
    enum cuda_error e = CUDA_Success;
    for (size_t i = 0; !e && i < r->rows; i++)
        e = fill(who, r->p + i * r->pitch, r->value, r->width, r->n);
    return e;
}

enum cuda_error cuda_fill_on(const char *who, struct cuda_rows r, struct cuda_stream *s) {
    return cuda_capturing(s) ? cuda_capture(s, &(struct cuda_work){NODE_FILL, .rows = r}) : cuda_fill_rows(who, &r);
}

static struct cuda_rows bytes_of(void *p, size_t pitch, int value, size_t width, size_t rows) {
    return (struct cuda_rows){p, pitch, (unsigned char)value, 1, width, rows};
}

CUDA_API enum cuda_error cudaMemset(void *p, int value, size_t bytes) {
    GUARD(cuda_fill_on("cudaMemset", bytes_of(p, bytes, value, bytes, 1), NULL));
}
CUDA_API enum cuda_error cudaMemsetAsync(void *p, int value, size_t bytes, struct cuda_stream *s) {
    GUARD(cuda_fill_on("cudaMemsetAsync", bytes_of(p, bytes, value, bytes, 1), s));
}

static enum cuda_error fill_rows(void *p, size_t pitch, int value, size_t width, size_t rows, struct cuda_stream *s) {
    return width > pitch ? CUDA_ErrorInvalidPitchValue
                         : cuda_fill_on("cudaMemset2D", bytes_of(p, pitch, value, width, rows), s);
}

CUDA_API enum cuda_error cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
    GUARD(fill_rows(p, pitch, value, width, height, NULL));
}
CUDA_API enum cuda_error cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                                           struct cuda_stream *s) {
    GUARD(fill_rows(p, pitch, value, width, height, s));
}

static enum cuda_error fill_3d(struct pitched p, int value, struct extent e, struct cuda_stream *s) {
    enum cuda_error error = CUDA_Success;
    for (size_t z = 0; !error && z < e.depth; z++)
        error = fill_rows((char *)p.p + z * p.height * p.pitch, p.pitch, value, e.width, e.height, s);
    return error;
}

CUDA_API enum cuda_error cudaMemset3D(struct pitched p, int value, struct extent e) {
    GUARD(fill_3d(p, value, e, NULL));
}
CUDA_API enum cuda_error cudaMemset3DAsync(struct pitched p, int value, struct extent e, struct cuda_stream *s) {
    GUARD(fill_3d(p, value, e, s));
}
