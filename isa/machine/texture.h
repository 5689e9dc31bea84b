#ifndef ISA_TEXTURE_H
#define ISA_TEXTURE_H
/* Texture, sampler and surface objects (PTX ISA 9.7.9, 9.7.10). A handle is the object's index plus TEXTURE_HANDLE, in
 * a 64-bit register. The address of a .texref, .samplerref or .surfref variable is its handle. */
#include "isa/types.h"
#define TEXTURE_HANDLE 0x7e500000ull
enum texture_format { TEX_U8, TEX_S8, TEX_U16, TEX_S16, TEX_U32, TEX_S32, TEX_F16, TEX_F32 };
enum texture_address { TEX_WRAP, TEX_CLAMP, TEX_MIRROR, TEX_BORDER };
enum texture_kind { TEXTURE_TEXTURE, TEXTURE_SURFACE, TEXTURE_SAMPLER };
enum { TEX_MAX_LEVELS = 17 };
struct texture {
    uint64_t data;                 /* device address of texel 0 */
    uint32_t width, height, depth; /* size in texels; height and depth are 0 if the geometry lacks them */
    uint32_t layers;               /* a1d, a2d: number of elements; acube: number of cubes; 0 if not an array */
    uint64_t pitch, slice;         /* bytes from one row to the next; bytes from one layer, face or slice to the next */
    uint8_t kind;                  /* enum texture_kind; an object of kind sampler uses only the sampler fields */
    uint8_t channels;              /* 1, 2 or 4 */
    uint8_t format;                /* enum texture_format */
    /* Number of mipmap levels; 0 means 1. Each level has half the texels of the previous level in each dimension, at
     * least one, and follows it in memory without gaps between rows or slices. */
    uint8_t levels;
    bool cube;            /* each layer has six faces */
    bool normalized_read; /* integers are read as f32 in [0, 1] or [-1, 1] */
    /* sampler */
    uint8_t address[3];     /* enum texture_address, by dimension */
    bool linear;            /* linear filter, else point */
    bool linear_levels;     /* interpolate between two mipmap levels, else use the nearer one */
    bool normalized_coords; /* coordinates in [0, 1); unused in samplers */
    float border[4];        /* border colour for TEX_BORDER, by channel */
    bool texel_coords;      /* samplers: coordinates are always in texels (force_unnormalized_coords) */
    const char *name;       /* name of the variable bound to the texture; NULL for an object */
};
#endif
