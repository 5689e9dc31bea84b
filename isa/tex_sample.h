#ifndef ISA_TEX_SAMPLE_H
#define ISA_TEX_SAMPLE_H
/* Texels of texture and surface objects: address modes, filters, formats. Internal to isa/. Rules: CUDA programming
 * guide, appendix "Texture Fetching", and PTX ISA 5.3, 9.7.9. Not modelled: mip levels (there is one), anisotropy,
 * filtering across the edges of cube faces. */
#include "decode.h"
#include "memory.h"
#include "texture.h"

/* Bits of up to four channels: f32 where tex_is_float(), else integers extended to 32 bits. */
struct texel {
    uint32_t c[4];
};

/* Where a fetch went. */
struct tex_access {
    const struct memory *memory;
    uint32_t *hint;   /* see mem_find */
    uint64_t address; /* of the first texel read; of the one that is outside memory after a failure */
};

unsigned tex_texel_bytes(const struct texture *t);
bool tex_is_float(const struct texture *t);
/* Texels along dimension 0, 1, 2: at least 1. */
uint32_t tex_extent(const struct texture *t, int dimension);
uint64_t tex_address(const struct texture *t, uint32_t x, uint32_t y, uint32_t z);

/* The four channels at integer coordinates that are inside; absent ones are 0, 0 and 1. False: outside memory. */
bool tex_load(const struct texture *t, struct tex_access *a, uint32_t x, uint32_t y, uint32_t z, struct texel *out);
bool tex_store(const struct texture *t, const struct tex_access *a, uint32_t x, uint32_t y, uint32_t z,
               const struct texel *from, unsigned channels, bool from_float);

/* tex with f32 coordinates: x, y, z by geometry; layer for arrays. */
bool tex_fetch(const struct texture *t, struct tex_access *a, unsigned geometry, const float at[3], uint32_t layer,
               struct texel *out);
/* tex with s32 coordinates: texel numbers, never filtered. */
bool tex_fetch_integer(const struct texture *t, struct tex_access *a, unsigned geometry, const int32_t at[3],
                       uint32_t layer, struct texel *out);
/* tld4: channel `c` of the four texels that a linear filter would mix. */
bool tex_gather(const struct texture *t, struct tex_access *a, const float at[2], int c, struct texel *out);
#endif
