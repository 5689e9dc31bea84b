#ifndef ISA_TEXTURE_H
#define ISA_TEXTURE_H
/* Texture, sampler and surface objects (PTX ISA 9.7.9, 9.7.10). A handle is the index of the object plus
 * TEXTURE_HANDLE, in a 64-bit register; a .texref variable's address is its handle. */
#include "types.h"
#define TEXTURE_HANDLE 0x7e500000ull
enum texture_format { TEX_U8, TEX_S8, TEX_U16, TEX_S16, TEX_U32, TEX_S32, TEX_F16, TEX_F32 };
enum texture_address { TEX_WRAP, TEX_CLAMP, TEX_MIRROR, TEX_BORDER };
struct texture {
    uint64_t data;                 /* device address of texel 0 */
    uint32_t width, height, depth; /* texels; height and depth 0 where the geometry has none */
    uint32_t layers;               /* a1d, a2d; 0 for no array */
    uint64_t pitch, slice;         /* bytes from row to row, and from layer or slice to the next */
    uint8_t channels;              /* 1, 2 or 4 */
    uint8_t format;                /* enum texture_format */
    uint8_t address[3];            /* enum texture_address, by dimension */
    bool linear;                   /* filter: linear, else point */
    bool normalized_coords;        /* coordinates in [0, 1) */
    bool normalized_read;          /* integers read as f32 in [0, 1] or [-1, 1] */
    const char *name;              /* of the .texref or .surfref it is bound to, NULL for an object */
};
#endif
