#ifndef ISA_EXEC_TEX_H
#define ISA_EXEC_TEX_H
/* Operands of K_TEX instructions, for lowering: tex, tld4, txq, suld, sust, sured, suq.
 *   a      the object's handle (texture.h), 64 bits a lane: a register, or the constant that a .texref or .surfref
 *          stands for
 *   b      with TEX_SAMPLER, the handle of a sampler, or of a texture whose sampler is meant
 *   d2     tex and tld4: the predicate of d|p, or OPND_SINK. All texels are resident
 *   imm    tex and tld4: TEX_ bits
 *   list   n_list registers: first msize destinations (tex, tld4, suld: the vector's elements; txq, suq: 1; sust,
 *          sured: 0), then the sources: tex_coordinates() coordinates in the order written, the layer first for arrays,
 *          without the padding of {x, y, z, pad}; then for tex.level and txq.level the level of detail, of the
 *          coordinates' type; for tex.grad tex_dimensions() derivatives by x, then as many by y (f32); with TEX_OFFSET
 *          tex_dimensions() offsets (s32); with TEX_COMPARE the depth to compare (f32); for sust the vector's elements;
 *          for sured the operand
 *   rsize  bytes a lane of a destination, and of an element of sust or sured
 * Coordinates are 32 bits a lane: s32, or f32 where the row's second type says so; for suld, sust, sured the first one
 * is in bytes (.b) or texels (.p). d, c and e are not used. */
#include "isa/decode.h"

enum { TEX_SAMPLER = 1, TEX_OFFSET = 2, TEX_COMPARE = 4 };

/* Coordinates of a geometry (a GEOM_ value). */
static inline unsigned tex_coordinates(unsigned geometry) {
    static const unsigned char n[] = {
        [GEOM_NONE] = 0, [GEOM_1D] = 1,   [GEOM_2D] = 2,    [GEOM_3D] = 3,   [GEOM_A1D] = 2,
        [GEOM_A2D] = 3,  [GEOM_CUBE] = 3, [GEOM_ACUBE] = 4, [GEOM_2DMS] = 3, [GEOM_A2DMS] = 4};
    return n[geometry];
}

/* Returns true if the first coordinate is a layer number. */
static inline bool tex_has_layer(unsigned geometry) {
    return geometry == GEOM_A1D || geometry == GEOM_A2D || geometry == GEOM_ACUBE;
}

/* Coordinates other than the layer. */
static inline unsigned tex_dimensions(unsigned geometry) { return tex_coordinates(geometry) - tex_has_layer(geometry); }
#endif
