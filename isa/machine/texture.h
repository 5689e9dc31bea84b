#ifndef ISA_TEXTURE_H
#define ISA_TEXTURE_H
/* Texture, sampler and surface objects (PTX ISA 9.7.9, 9.7.10). A handle is the index of the object plus
 * TEXTURE_HANDLE, in a 64-bit register; the address of a .texref, .samplerref or .surfref variable is its handle. */
#include "isa/types.h"
#define TEXTURE_HANDLE 0x7e500000ull
enum texture_format { TEX_U8, TEX_S8, TEX_U16, TEX_S16, TEX_U32, TEX_S32, TEX_F16, TEX_F32 };
enum texture_address { TEX_WRAP, TEX_CLAMP, TEX_MIRROR, TEX_BORDER };
enum texture_kind { TEXTURE_TEXTURE, TEXTURE_SURFACE, TEXTURE_SAMPLER };
enum { TEX_MAX_LEVELS = 17 };
struct texture {
    uint64_t data;                 /* device address of texel 0 */
    uint32_t width, height, depth; /* texels; height and depth 0 where the geometry has none */
    uint32_t layers;               /* a1d, a2d: elements; acube: cubes; 0 for no array */
    uint64_t pitch, slice;         /* bytes from row to row, and from layer, face or slice to the next */
    uint8_t kind;                  /* enum texture_kind; samplers use what the sampler fields say, and nothing else */
    uint8_t channels;              /* 1, 2 or 4 */
    uint8_t format;                /* enum texture_format */
    uint8_t levels; /* mipmap levels, 0: 1. Level k has half the texels of level k - 1 in each dimension, at least one,
                       and follows it without gaps between rows or slices */
    bool cube;      /* each layer is six faces */
    bool normalized_read; /* integers read as f32 in [0, 1] or [-1, 1] */
    /* sampler */
    uint8_t address[3];     /* enum texture_address, by dimension */
    bool linear;            /* filter: linear, else point */
    bool linear_levels;     /* between two mipmap levels, else the nearer one */
    bool normalized_coords; /* coordinates in [0, 1); of samplers not used */
    float border[4];        /* what TEX_BORDER reads outside, by channel */
    bool texel_coords; /* samplers: coordinates are texels, whatever the texture says (force_unnormalized_coords) */
    const char *name;  /* of the variable it is bound to, NULL for an object */
};
#endif
