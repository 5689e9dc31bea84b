/* Arrays, textures and surfaces. An array is memory in rows without gaps; a texture object of it is the library's. */
#include "graph.h"
#include <stdlib.h>
#include <string.h>

enum { ARRAY_LAYERED = 1, ARRAY_SURFACE = 2, ARRAY_CUBE = 4 };
enum channel_kind { CHANNEL_SIGNED, CHANNEL_UNSIGNED, CHANNEL_FLOAT, CHANNEL_NONE };

struct channel_format {
    int x, y, z, w, kind;
};
struct extent {
    size_t width, height, depth;
};

struct cuda_array {
    struct cuda_array *next;
    struct channel_format format;
    struct extent extent; /* as it was asked for; height and depth may be 0 */
    unsigned flags;
    uint64_t data;
};
static struct cuda_array *arrays; /* under the lock */

struct object {
    struct object *next;
    uint64_t handle;
    char resource[256], texture[128]; /* the descriptions, for those who ask; resource.bytes and texture.bytes of it */
    bool surface;
};
static struct object *objects;

CUDA_API struct channel_format cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return (struct channel_format){x, y, z, w, kind};
}

static size_t element_bytes(const struct channel_format *f) { return (size_t)(f->x + f->y + f->z + f->w) / 8; }

/* The format of a channel and how many there are; false for what no GPU has. */
static bool format_of(const struct channel_format *f, enum heddle_format *out, uint32_t *channels) {
    static const enum heddle_format formats[3][3] = {
        {HEDDLE_S8, HEDDLE_S16, HEDDLE_S32}, {HEDDLE_U8, HEDDLE_U16, HEDDLE_U32}, {HEDDLE_F16, HEDDLE_F16, HEDDLE_F32}};
    int width = f->x == 8 ? 0 : f->x == 16 ? 1 : f->x == 32 ? 2 : -1;
    if (width < 0 || f->kind < 0 || f->kind > CHANNEL_FLOAT || (f->kind == CHANNEL_FLOAT && !width))
        return false;
    bool one = !f->y && !f->z && !f->w, two = f->y == f->x && !f->z && !f->w;
    bool four = f->y == f->x && f->z == f->x && f->w == f->x;
    *out = formats[f->kind][width];
    *channels = one ? 1 : two ? 2 : 4;
    return one || two || four;
}

bool cuda_array_is(const struct cuda_array *a) {
    const struct cuda_array *i = arrays;
    while (i && i != a)
        i = i->next;
    return i != NULL;
}

void cuda_array_bytes(const struct cuda_array *a, void **first, size_t *pitch, size_t *height, size_t *element) {
    *first = (void *)(uintptr_t)a->data;
    *element = element_bytes(&a->format);
    *pitch = a->extent.width * *element;
    *height = a->extent.height ? a->extent.height : 1;
}

static enum cuda_error allocate(struct cuda_array **out, const struct channel_format *f, struct extent e,
                                unsigned flags) {
    enum heddle_format format;
    uint32_t channels;
    enum { MOST = 1 << 27 };
    if (!out || !f || !e.width || e.width > MOST || e.height > MOST || e.depth > MOST)
        return CUDA_ErrorInvalidValue;
    if (!format_of(f, &format, &channels))
        return CUDA_ErrorInvalidChannelDescriptor;
    if (flags & ~(unsigned)(ARRAY_LAYERED | ARRAY_SURFACE | ARRAY_CUBE))
        return CUDA_ErrorNotSupported;
    struct cuda_array *a = calloc(1, sizeof *a);
    uint64_t rows = (e.height ? e.height : 1) * (e.depth ? e.depth : 1);
    uint64_t bytes = e.width * element_bytes(f);
    if (a && !__builtin_mul_overflow(bytes, rows, &bytes))
        a->data = heddle_alloc(cuda_runtime.h, bytes);
    if (!a || !a->data) {
        free(a);
        return CUDA_ErrorMemoryAllocation;
    }
    a->format = *f;
    a->extent = e;
    a->flags = flags;
    a->next = arrays;
    *out = arrays = a;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaMallocArray(struct cuda_array **out, const struct channel_format *f, size_t width,
                                         size_t height, unsigned flags) {
    GUARD(allocate(out, f, (struct extent){width, height, 0}, flags & ~(unsigned)(ARRAY_LAYERED | ARRAY_CUBE)));
}
CUDA_API enum cuda_error cudaMalloc3DArray(struct cuda_array **out, const struct channel_format *f, struct extent e,
                                           unsigned flags) {
    GUARD(allocate(out, f, e, flags));
}

static enum cuda_error release(struct cuda_array *a) {
    if (!a)
        return CUDA_Success;
    for (struct cuda_array **i = &arrays; *i; i = &(*i)->next)
        if (*i == a) {
            *i = a->next;
            heddle_free(cuda_runtime.h, a->data);
            free(a);
            return CUDA_Success;
        }
    return CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cudaFreeArray(struct cuda_array *a) { GUARD(release(a)); }

static enum cuda_error info(struct channel_format *f, struct extent *e, unsigned *flags, const struct cuda_array *a) {
    if (!cuda_array_is(a))
        return CUDA_ErrorInvalidResourceHandle;
    if (f)
        *f = a->format;
    if (e)
        *e = a->extent;
    if (flags)
        *flags = a->flags;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaArrayGetInfo(struct channel_format *f, struct extent *e, unsigned *flags,
                                          const struct cuda_array *a) {
    GUARD(info(f, e, flags, a));
}
CUDA_API enum cuda_error cudaGetChannelDesc(struct channel_format *f, const struct cuda_array *a) {
    GUARD(f ? info(f, NULL, NULL, a) : CUDA_ErrorInvalidValue);
}

/* ---- copies ---- */

enum direction { TO_ARRAY, FROM_ARRAY };

/* Rows between an array, from x bytes and y rows on, and memory. */
static enum cuda_error copy_2d(struct cuda_array *a, size_t x, size_t y, void *p, size_t pitch, size_t width,
                               size_t height, enum cuda_copy kind, enum direction d, struct cuda_stream *s) {
    void *first;
    size_t row, rows, element;
    if (!cuda_array_is(a) || !p)
        return CUDA_ErrorInvalidValue;
    cuda_array_bytes(a, &first, &row, &rows, &element);
    if (x > row || width > row - x || y > rows || height > rows - y)
        return CUDA_ErrorInvalidValue;
    if (height > 1 && width > pitch)
        return CUDA_ErrorInvalidPitchValue;
    char *at = (char *)first + y * row + x;
    struct cuda_box b = d == TO_ARRAY ? (struct cuda_box){at, row, 0, p, pitch, 0, width, height, 1, kind}
                                      : (struct cuda_box){p, pitch, 0, at, row, 0, width, height, 1, kind};
    return cuda_capturing(s) ? cuda_capture(s, &(struct cuda_work){NODE_COPY, .box = b})
                             : cuda_copy_box("cudaMemcpy2DToArray", &b);
}

CUDA_API enum cuda_error cudaMemcpy2DToArray(struct cuda_array *a, size_t x, size_t y, const void *p, size_t pitch,
                                             size_t width, size_t height, enum cuda_copy kind) {
    GUARD(copy_2d(a, x, y, (void *)(uintptr_t)p, pitch, width, height, kind, TO_ARRAY, NULL));
}
CUDA_API enum cuda_error cudaMemcpy2DToArrayAsync(struct cuda_array *a, size_t x, size_t y, const void *p, size_t pitch,
                                                  size_t width, size_t height, enum cuda_copy kind,
                                                  struct cuda_stream *s) {
    GUARD(copy_2d(a, x, y, (void *)(uintptr_t)p, pitch, width, height, kind, TO_ARRAY, s));
}
CUDA_API enum cuda_error cudaMemcpy2DFromArray(void *p, size_t pitch, struct cuda_array *a, size_t x, size_t y,
                                               size_t width, size_t height, enum cuda_copy kind) {
    GUARD(copy_2d(a, x, y, p, pitch, width, height, kind, FROM_ARRAY, NULL));
}
CUDA_API enum cuda_error cudaMemcpy2DFromArrayAsync(void *p, size_t pitch, struct cuda_array *a, size_t x, size_t y,
                                                    size_t width, size_t height, enum cuda_copy kind,
                                                    struct cuda_stream *s) {
    GUARD(copy_2d(a, x, y, p, pitch, width, height, kind, FROM_ARRAY, s));
}

/* Bytes in a line, which goes on from row to row: rows have no gaps. */
static enum cuda_error copy_line(struct cuda_array *a, size_t x, size_t y, void *p, size_t bytes, enum cuda_copy kind,
                                 enum direction d, struct cuda_stream *s) {
    void *first;
    size_t row, rows, element;
    if (!cuda_array_is(a) || !p)
        return CUDA_ErrorInvalidValue;
    cuda_array_bytes(a, &first, &row, &rows, &element);
    if (x > row || y >= rows || bytes > (rows - y) * row - x)
        return CUDA_ErrorInvalidValue;
    char *at = (char *)first + y * row + x;
    struct cuda_box b = d == TO_ARRAY ? (struct cuda_box){at, bytes, 0, p, bytes, 0, bytes, 1, 1, kind}
                                      : (struct cuda_box){p, bytes, 0, at, bytes, 0, bytes, 1, 1, kind};
    return cuda_capturing(s) ? cuda_capture(s, &(struct cuda_work){NODE_COPY, .box = b})
                             : cuda_copy_box("cudaMemcpyToArray", &b);
}

CUDA_API enum cuda_error cudaMemcpyToArray(struct cuda_array *a, size_t x, size_t y, const void *p, size_t bytes,
                                           enum cuda_copy kind) {
    GUARD(copy_line(a, x, y, (void *)(uintptr_t)p, bytes, kind, TO_ARRAY, NULL));
}
CUDA_API enum cuda_error cudaMemcpyToArrayAsync(struct cuda_array *a, size_t x, size_t y, const void *p, size_t bytes,
                                                enum cuda_copy kind, struct cuda_stream *s) {
    GUARD(copy_line(a, x, y, (void *)(uintptr_t)p, bytes, kind, TO_ARRAY, s));
}
CUDA_API enum cuda_error cudaMemcpyFromArray(void *p, struct cuda_array *a, size_t x, size_t y, size_t bytes,
                                             enum cuda_copy kind) {
    GUARD(copy_line(a, x, y, p, bytes, kind, FROM_ARRAY, NULL));
}
CUDA_API enum cuda_error cudaMemcpyFromArrayAsync(void *p, struct cuda_array *a, size_t x, size_t y, size_t bytes,
                                                  enum cuda_copy kind, struct cuda_stream *s) {
    GUARD(copy_line(a, x, y, p, bytes, kind, FROM_ARRAY, s));
}

static enum cuda_error copy_arrays(struct cuda_array *to, size_t tx, size_t ty, struct cuda_array *from, size_t fx,
                                   size_t fy, size_t width, size_t height) {
    void *first;
    size_t row, rows, element;
    if (!cuda_array_is(from))
        return CUDA_ErrorInvalidValue;
    cuda_array_bytes(from, &first, &row, &rows, &element);
    if (fx > row || width > row - fx || fy > rows || height > rows - fy)
        return CUDA_ErrorInvalidValue;
    return copy_2d(to, tx, ty, (char *)first + fy * row + fx, row, width, height, COPY_ON_DEVICE, TO_ARRAY, NULL);
}

CUDA_API enum cuda_error cudaMemcpy2DArrayToArray(struct cuda_array *to, size_t tx, size_t ty, struct cuda_array *from,
                                                  size_t fx, size_t fy, size_t width, size_t height,
                                                  enum cuda_copy kind) {
    (void)kind;
    GUARD(copy_arrays(to, tx, ty, from, fx, fy, width, height));
}

/* ---- objects ---- */

struct resource {
    int type;
    union {
        struct cuda_array *array;
        struct {
            void *p;
            struct channel_format format;
            size_t bytes;
        } linear;
        struct {
            void *p;
            struct channel_format format;
            size_t width, height, pitch;
        } pitched;
        int reserved[32];
    };
    unsigned flags;
};
enum { RESOURCE_ARRAY, RESOURCE_MIPMAP, RESOURCE_LINEAR, RESOURCE_PITCHED };

struct texture {
    int address[3], linear, normalized_read, srgb;
    float border[4];
    int normalized_coords;
    unsigned anisotropy;
    int linear_levels;
    float bias, least, most;
    int untrilinear, seamless;
};
_Static_assert(sizeof(struct resource) <= 256 && sizeof(struct texture) <= 128, "room in struct object");

static void array_shape(struct heddle_texture *t, const struct cuda_array *a) {
    uint32_t depth = (uint32_t)a->extent.depth;
    t->data = a->data;
    t->width = (uint32_t)a->extent.width;
    t->height = (uint32_t)a->extent.height;
    t->cube = a->flags & ARRAY_CUBE;
    if (a->flags & ARRAY_LAYERED)
        t->layers = t->cube ? depth / 6 : depth;
    else
        t->depth = t->cube ? 0 : depth;
}

static enum cuda_error shape(struct heddle_texture *t, const struct resource *r) {
    const struct channel_format *f;
    switch (r->type) {
    case RESOURCE_ARRAY:
        if (!cuda_array_is(r->array))
            return CUDA_ErrorInvalidResourceHandle;
        array_shape(t, r->array);
        f = &r->array->format;
        break;
    case RESOURCE_LINEAR:
        f = &r->linear.format;
        t->data = (uintptr_t)r->linear.p;
        if (element_bytes(f))
            t->width = (uint32_t)(r->linear.bytes / element_bytes(f));
        break;
    case RESOURCE_PITCHED:
        f = &r->pitched.format;
        t->data = (uintptr_t)r->pitched.p;
        t->width = (uint32_t)r->pitched.width;
        t->height = (uint32_t)r->pitched.height;
        t->pitch = r->pitched.pitch;
        break;
    default:
        fputs("heddle: a mipmapped array is not simulated as a texture\n", stderr);
        return CUDA_ErrorNotSupported;
    }
    return format_of(f, &t->format, &t->channels) ? CUDA_Success : CUDA_ErrorInvalidChannelDescriptor;
}

static bool remember(uint64_t handle, const struct resource *r, const struct texture *x) {
    struct object *o = calloc(1, sizeof *o);
    if (!o)
        return false;
    o->handle = handle;
    memcpy(o->resource, r, sizeof *r);
    if (x)
        memcpy(o->texture, x, sizeof *x);
    o->surface = !x;
    o->next = objects;
    objects = o;
    return true;
}

static enum cuda_error create(uint64_t *out, const struct resource *r, const struct texture *x, const void *view) {
    struct heddle_texture t = {0};
    enum cuda_error e = out && r && x ? shape(&t, r) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    if (view || x->srgb || x->anisotropy > 1) {
        fputs("heddle: cudaCreateTextureObject: views of another format, sRGB and anisotropic filters are not "
              "simulated\n",
              stderr);
        return CUDA_ErrorNotSupported;
    }
    for (int i = 0; i < 3; i++)
        t.sampler.address[i] = (enum heddle_address_mode)x->address[i];
    t.sampler.linear = x->linear != 0;
    t.sampler.linear_levels = x->linear_levels != 0;
    t.normalized_read = x->normalized_read != 0;
    t.normalized_coords = x->normalized_coords != 0;
    for (int i = 0; i < 3 && !t.normalized_coords; i++) /* wrap and mirror are clamp then, as on a GPU */
        if (t.sampler.address[i] == HEDDLE_WRAP || t.sampler.address[i] == HEDDLE_MIRROR)
            t.sampler.address[i] = HEDDLE_CLAMP;
    *out = heddle_texture_object(cuda_runtime.h, &t);
    if (!*out)
        return cuda_complain("cudaCreateTextureObject", CUDA_ErrorInvalidValue);
    return remember(*out, r, x) ? CUDA_Success : CUDA_ErrorMemoryAllocation;
}

CUDA_API enum cuda_error cudaCreateTextureObject(uint64_t *out, const struct resource *r, const struct texture *x,
                                                 const void *view) {
    GUARD(create(out, r, x, view));
}

static enum cuda_error create_surface(uint64_t *out, const struct resource *r) {
    struct heddle_texture t = {0};
    enum cuda_error e = out && r && r->type == RESOURCE_ARRAY ? shape(&t, r) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    *out = heddle_surface_object(cuda_runtime.h, &t);
    if (!*out)
        return cuda_complain("cudaCreateSurfaceObject", CUDA_ErrorInvalidValue);
    return remember(*out, r, NULL) ? CUDA_Success : CUDA_ErrorMemoryAllocation;
}

CUDA_API enum cuda_error cudaCreateSurfaceObject(uint64_t *out, const struct resource *r) {
    GUARD(create_surface(out, r));
}

static struct object **find(uint64_t handle, bool surface) {
    struct object **o = &objects;
    while (*o && ((*o)->handle != handle || (*o)->surface != surface))
        o = &(*o)->next;
    return o;
}

/* The library keeps its own; a program that uses the number afterwards is not found out. */
static enum cuda_error forget(uint64_t handle, bool surface) {
    struct object **o = find(handle, surface), *gone = *o;
    if (!gone)
        return handle ? CUDA_ErrorInvalidValue : CUDA_Success;
    *o = gone->next;
    free(gone);
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaDestroyTextureObject(uint64_t handle) { GUARD(forget(handle, false)); }
CUDA_API enum cuda_error cudaDestroySurfaceObject(uint64_t handle) { GUARD(forget(handle, true)); }

static enum cuda_error recall(void *out, size_t bytes, uint64_t handle, bool surface, bool texture) {
    const struct object *o = *find(handle, surface);
    if (!o || !out)
        return CUDA_ErrorInvalidValue;
    memcpy(out, texture ? o->texture : o->resource, bytes);
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGetTextureObjectResourceDesc(struct resource *out, uint64_t handle) {
    GUARD(recall(out, sizeof *out, handle, false, false));
}
CUDA_API enum cuda_error cudaGetTextureObjectTextureDesc(struct texture *out, uint64_t handle) {
    GUARD(recall(out, sizeof *out, handle, false, true));
}
CUDA_API enum cuda_error cudaGetSurfaceObjectResourceDesc(struct resource *out, uint64_t handle) {
    GUARD(recall(out, sizeof *out, handle, true, false));
}
