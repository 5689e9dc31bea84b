#ifndef CUDA_ARRAY_H
#define CUDA_ARRAY_H
/* Arrays and textures, for the runtime's functions (array.c, texture.c) and the driver's (driver_array.c,
 * driver_texture.c). Layouts are those of the runtime's interface. All of it under the lock. */
#include "host/cuda/core/core.h"
#include "host/cuda/core/core_graph_parts.h"

enum { ARRAY_LAYERED = 1, ARRAY_SURFACE = 2, ARRAY_CUBE = 4, ARRAY_GATHER = 8 };
enum channel_kind { CHANNEL_SIGNED, CHANNEL_UNSIGNED, CHANNEL_FLOAT, CHANNEL_NONE };

struct channel_format {
    int x, y, z, w, kind; /* bits of each channel */
};

/* Memory in rows without gaps. */
struct cuda_array {
    struct cuda_array *next;
    struct channel_format format;
    struct cuda_extent extent; /* as it was asked for; height and depth may be 0 */
    unsigned flags;
    uint64_t data;
    bool part; /* a level of a mipmap, whose memory it is */
};
struct cuda_mipmap;

size_t cuda_element_bytes(const struct channel_format *f);
/* The format of a channel and how many there are; false for what no GPU has. */
bool cuda_format_of(const struct channel_format *f, enum heddle_format *out, uint32_t *channels);
enum cuda_error cuda_array_new(struct cuda_array **out, const struct channel_format *f, struct cuda_extent e,
                               unsigned flags);
enum cuda_error cuda_array_free(struct cuda_array *a);
/* Whether there can be an array of this kind, and its bytes. */
enum cuda_error cuda_array_check(const struct channel_format *f, struct cuda_extent e, unsigned flags);
uint64_t cuda_array_size(const struct channel_format *f, struct cuda_extent e);
/* A level of a mipmap, over memory of the mipmap's, and its end; NULL without memory. */
struct cuda_array *cuda_array_view(const struct channel_format *f, struct cuda_extent e, unsigned flags, uint64_t data);
void cuda_array_forget(struct cuda_array *a);
/* runtime_mipmap.c. In cuda_enter(): a new mipmap of at most `n` levels; one of its levels; its end. */
enum cuda_error cuda_mipmap_new(struct cuda_mipmap **out, const struct channel_format *f, struct cuda_extent e,
                                unsigned n, unsigned flags);
enum cuda_error cuda_mipmap_level(struct cuda_array **out, const struct cuda_mipmap *m, unsigned level);
enum cuda_error cuda_mipmap_free(struct cuda_mipmap *m);
/* The first level, and how many there are; NULL: no mipmap. */
const struct cuda_array *cuda_mipmap_base(const struct cuda_mipmap *m, unsigned *levels);
/* Bytes between an array, from byte x of row y on, and memory; the line goes on from row to row. */
enum cuda_direction { TO_ARRAY, FROM_ARRAY };
enum cuda_error cuda_array_copy_line(struct cuda_array *a, size_t x, size_t y, void *p, size_t bytes,
                                     enum cuda_copy kind, enum cuda_direction d, struct cuda_stream *s);

/* What a texture is of, and how it is read. */
struct cuda_resource {
    int type;
    union {
        struct cuda_array *array;
        struct cuda_mipmap *mipmap;
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
/* What it was made of, for those who ask; CUDA_ErrorInvalidValue for no such object. */
enum cuda_error cuda_object_resource(struct cuda_resource *out, uint64_t handle, bool surface);
enum cuda_error cuda_object_texture(struct cuda_texture *out, uint64_t handle);
/* A texture of another format than its memory's is not simulated: says so after the name of the caller. */
enum cuda_error cuda_refuse_view(const char *who);
/* The library's description; `x` NULL for a surface. */
enum cuda_error cuda_texture_describe(struct heddle_texture *out, const struct cuda_resource *r,
                                      const struct cuda_texture *x);
#endif
