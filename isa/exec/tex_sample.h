#ifndef ISA_TEX_SAMPLE_H
#define ISA_TEX_SAMPLE_H
/* Texels of texture and surface objects: address modes, filters, formats. Internal to isa/. Rules: CUDA programming
 * guide, appendix "Texture Fetching", and PTX ISA 5.3, 9.7.9. Not modelled: anisotropy, filtering across the edges of
 * cube faces, multi-sample textures. */
#include "isa/decode.h"
#include "isa/machine/memory.h"
#include "isa/machine/texture.h"

/* Bits of up to four channels: f32 where tex_is_float(), else integers extended to 32 bits. */
struct texel {
    uint32_t c[4];
};

/* The memory that a fetch accessed. */
struct tex_access {
    const struct memory *memory;
    uint32_t *hint;   /* see mem_find */
    uint64_t address; /* address of the first texel read; after a failure, address of the texel outside memory */
};

unsigned tex_texel_bytes(const struct texture *t);
bool tex_is_float(const struct texture *t);
/* Returns the number of texels in dimension 0, 1 or 2: at least 1. */
uint32_t tex_extent(const struct texture *t, int dimension);
uint64_t tex_address(const struct texture *t, uint32_t x, uint32_t y, uint32_t z);

/* Reads the four channels at integer coordinates that are inside; absent channels are 0, 0 and 1. Returns false if the
 * texel is outside memory. */
bool tex_load(const struct texture *t, struct tex_access *a, uint32_t x, uint32_t y, uint32_t z, struct texel *out);
bool tex_store(const struct texture *t, const struct tex_access *a, uint32_t x, uint32_t y, uint32_t z,
               const struct texel *from, unsigned channels, bool from_float);

/* Returns the texel for coordinates outside the texture: the border's colour, in the texture's format. With `zero` it
 * is zero, as for tex1Dfetch(). */
struct texel tex_border(const struct texture *t, bool zero);

/* A fetch: the operands of tex and tld4. */
struct tex_fetch {
    unsigned geometry;
    uint32_t layer;    /* layer of an array */
    float at[3];       /* coordinates x, y, z, by geometry */
    int32_t texel[3];  /* integer coordinates, used instead of `at` if `integer` is set; they are never filtered */
    bool integer;      /* true: the fetch has integer coordinates */
    int32_t offset[3]; /* number of texels added to each coordinate */
    float level;       /* level of detail; 0: the largest level */
    bool compare;      /* depth comparison: before filtering, a component becomes 1 if `reference` <= texel, else 0 */
    float reference;
};

/* Performs tex. Returns false if a texel is outside memory, see tex_access. */
bool tex_fetch(const struct texture *t, struct tex_access *a, const struct tex_fetch *f, struct texel *out);
/* Performs tld4: reads channel `c` of the four texels that a linear filter would use. */
bool tex_gather(const struct texture *t, struct tex_access *a, const struct tex_fetch *f, int c, struct texel *out);
/* Returns the level of detail for steps of `dx` and `dy` in the coordinates (tex.grad): at this
 * level, the longer step covers one texel. */
float tex_gradient_level(const struct texture *t, const struct tex_fetch *f, const float dx[3], const float dy[3]);
/* Returns a mipmap level as a texture of its own. `level` is below max(1, t->levels). */
struct texture tex_level(const struct texture *t, unsigned level);
#endif
