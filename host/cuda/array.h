#ifndef CUDA_ARRAY_H
#define CUDA_ARRAY_H
/* Arrays and textures, for the runtime's functions (array.c, texture.c) and the driver's (driver_array.c,
 * driver_texture.c). Layouts are those of the runtime's interface. All of it under the lock. */
#include "graph.h"

enum { ARRAY_LAYERED = 1, ARRAY_SURFACE = 2, ARRAY_CUBE = 4 };
enum channel_kind { CHANNEL_SIGNED, CHANNEL_UNSIGNED, CHANNEL_FLOAT, CHANNEL_NONE };

struct channel_format {
    int x, y, z, w, kind; /* bits of each channel */
};
struct extent {
    size_t width, height, depth;
};

/* Memory in rows without gaps. */
struct cuda_array {
    struct cuda_array *next;
    struct channel_format format;
    struct extent extent; /* as it was asked for; height and depth may be 0 */
    unsigned flags;
    uint64_t data;
};

size_t cuda_element_bytes(const struct channel_format *f);
/* The format of a channel and how many there are; false for what no GPU has. */
bool cuda_format_of(const struct channel_format *f, enum heddle_format *out, uint32_t *channels);
enum cuda_error cuda_array_new(struct cuda_array **out, const struct channel_format *f, struct extent e,
                               unsigned flags);
enum cuda_error cuda_array_free(struct cuda_array *a);
/* Bytes between an array, from byte x of row y on, and memory; the line goes on from row to row. */
enum cuda_direction { TO_ARRAY, FROM_ARRAY };
enum cuda_error cuda_array_copy_line(struct cuda_array *a, size_t x, size_t y, void *p, size_t bytes,
                                     enum cuda_copy kind, enum cuda_direction d, struct cuda_stream *s);

/* What a texture is of, and how it is read. */
struct cuda_resource {
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

struct cuda_texture {
    int address[3], linear, normalized_read, srgb;
    float border[4];
    int normalized_coords;
    unsigned anisotropy;
    int linear_levels;
    float bias, least, most;
    int untrilinear, seamless;
};

/* A texture object, a surface object (`x` NULL), and its end. */
enum cuda_error cuda_object_new(uint64_t *out, const struct cuda_resource *r, const struct cuda_texture *x);
enum cuda_error cuda_object_free(uint64_t handle, bool surface);
/* What it was made of, for those who ask; NULL: no such object. */
const struct cuda_resource *cuda_object_resource(uint64_t handle, bool surface);
const struct cuda_texture *cuda_object_texture(uint64_t handle);
/* The library's description; `x` NULL for a surface. */
enum cuda_error cuda_texture_describe(struct heddle_texture *out, const struct cuda_resource *r,
                                      const struct cuda_texture *x);
#endif
