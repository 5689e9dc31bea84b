#ifndef CUDA_CORE_TEXTURE_H
#define CUDA_CORE_TEXTURE_H
/* Arrays, mipmaps, texture objects and surface objects. Layouts are those of the runtime's interface. */
#include "core_memory.h"

enum { ARRAY_LAYERED = 1, ARRAY_SURFACE = 2, ARRAY_CUBE = 4, ARRAY_GATHER = 8 };
enum channel_kind { CHANNEL_SIGNED, CHANNEL_UNSIGNED, CHANNEL_FLOAT, CHANNEL_NONE };

struct channel_format {
    int x, y, z, w, kind; /* bits of each channel */
};

/* An array: memory in rows without gaps. */
struct cuda_array {
    struct cuda_array *next;
    struct channel_format format;
    struct cuda_extent extent; /* the size as the program specified it; height and depth may be 0 */
    unsigned flags;
    uint64_t data;
    bool part; /* true for a level of a mipmap; it uses the mipmap's memory */
};
struct cuda_mipmap;
enum cuda_direction { TO_ARRAY, FROM_ARRAY };

/* Bytes of an element. */
size_t cuda_element_bytes(const struct channel_format *f);
/* Returns the format and the number of channels. Returns false if no GPU has this format. */
bool cuda_format_of(const struct channel_format *f, enum heddle_format *out, uint32_t *channels);
/* Check whether an array of this format and size can exist, and return its size in bytes (UINT64_MAX on overflow). */
enum cuda_error cuda_array_check(const struct channel_format *f, struct cuda_extent e, unsigned flags);
uint64_t cuda_array_size(const struct channel_format *f, struct cuda_extent e);
/* Return whether a handle is an array, and an array's first byte, pitch, rows per plane, and bytes per element. */
bool cuda_array_is(const struct cuda_array *a);
void cuda_array_bytes(const struct cuda_array *a, void **first, size_t *pitch, size_t *height, size_t *element);
/* Create and free an array. cuda_array_new() returns CUDA_ErrorNotSupported for flags that are not simulated. */
enum cuda_error cuda_array_new(struct cuda_array **out, const struct channel_format *f, struct cuda_extent e,
                               unsigned flags);
enum cuda_error cuda_array_free(struct cuda_array *a);
/* Returns the parameters with which an array was created. Each result pointer may be NULL. */
enum cuda_error cuda_array_info(struct channel_format *f, struct cuda_extent *e, unsigned *flags,
                                const struct cuda_array *a);
/* Copies rows between memory and an array. The array rows begin at byte x of row y. */
enum cuda_error cuda_array_copy_rows(struct cuda_array *a, size_t x, size_t y, void *p, size_t pitch, size_t width,
                                     size_t height, enum cuda_copy kind, enum cuda_direction d, struct cuda_stream *s);
/* Copies a contiguous range of bytes between memory and an array. In the array, the range continues from row to row. */
enum cuda_error cuda_array_copy_line(struct cuda_array *a, size_t x, size_t y, void *p, size_t bytes,
                                     enum cuda_copy kind, enum cuda_direction d, struct cuda_stream *s);
/* Copies rows from one array to another. */
enum cuda_error cuda_array_copy_rows_between(struct cuda_array *to, size_t tx, size_t ty, struct cuda_array *from,
                                             size_t fx, size_t fy, size_t width, size_t height);
/* Copies a contiguous range of bytes from one array to another. */
enum cuda_error cuda_array_copy_line_between(struct cuda_array *to, size_t at, struct cuda_array *from, size_t from_at,
                                             size_t bytes);
/* Create and remove the array for a level, in the memory of a mipmap. NULL means that the host is out of memory. */
struct cuda_array *cuda_array_view(const struct channel_format *f, struct cuda_extent e, unsigned flags, uint64_t data);
void cuda_array_forget(struct cuda_array *a);

/* Returns the first level, and the number of levels; NULL if the handle is not a mipmap. */
const struct cuda_array *cuda_mipmap_base(const struct cuda_mipmap *m, unsigned *levels);
/* Creates a mipmap of at most `n` levels. */
enum cuda_error cuda_mipmap_new(struct cuda_mipmap **out, const struct channel_format *f, struct cuda_extent e,
                                unsigned n, unsigned flags);
/* Returns a level of the mipmap, which is an array. */
enum cuda_error cuda_mipmap_level(struct cuda_array **out, const struct cuda_mipmap *m, unsigned level);
enum cuda_error cuda_mipmap_free(struct cuda_mipmap *m);

/* The memory of a texture or a surface. */
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
/* The read mode of a texture: addressing, filtering and coordinates. */
struct cuda_texture {
    int address[3], linear, normalized_read, srgb;
    float border[4];
    int normalized_coords;
    unsigned anisotropy;
    int linear_levels;
    float bias, least, most;
    int untrilinear, seamless;
};

/* Create and destroy a texture object, or a surface object if `x` is NULL. */
enum cuda_error cuda_object_new(uint64_t *out, const struct cuda_resource *r, const struct cuda_texture *x);
enum cuda_error cuda_object_free(uint64_t handle, bool surface);
/* Return the descriptions from which an object was created. CUDA_ErrorInvalidValue means that there is no such
 * object. */
enum cuda_error cuda_object_resource(struct cuda_resource *out, uint64_t handle, bool surface);
enum cuda_error cuda_object_texture(struct cuda_texture *out, uint64_t handle);
/* Returns an error for a resource view, because a view can read memory in another format, which is not simulated. The
 * message names the caller. */
enum cuda_error cuda_refuse_view(const char *who);
/* Describes a texture for the simulator library. If `x` is NULL, describes a surface. */
enum cuda_error cuda_texture_describe(struct heddle_texture *out, const struct cuda_resource *r,
                                      const struct cuda_texture *x);
#endif
