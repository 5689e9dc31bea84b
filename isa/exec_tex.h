#ifndef ISA_EXEC_TEX_H
#define ISA_EXEC_TEX_H
/* Operands of K_TEX instructions, for lowering: tex, tld4, txq, suld, sust, sured, suq.
 *   a      the object's handle (texture.h), 64 bits a lane: a register, or the constant that a .texref or .surfref
 * stands for. A separate sampler operand (tex d, [t, s, {c}]) is left out: samplers are part of the texture. list
 * n_list registers: first msize destinations (tex, tld4, suld: the vector's elements; txq, suq: 1; sust, sured: 0),
 * then the sources: tex_coordinates() coordinates in the order written, the layer first for arrays, without the padding
 * of {x, y, z, pad}; then for tex.level the level of detail (f32); for sust the vector's elements; for sured the
 * operand. rsize  bytes a lane of a destination, and of an element of sust or sured Coordinates are 32 bits a lane:
 * s32, or f32 where the row's second type says so; for suld, sust, sured the first one is in bytes (.b) or texels (.p).
 * d, b, c and e are not used. */
#include "decode.h"

/* Coordinates of a geometry (a GEOM_ value). */
static inline unsigned tex_coordinates(unsigned geometry) {
    static const unsigned char n[] = {
        [GEOM_NONE] = 0, [GEOM_1D] = 1,   [GEOM_2D] = 2,    [GEOM_3D] = 3,   [GEOM_A1D] = 2,
        [GEOM_A2D] = 3,  [GEOM_CUBE] = 3, [GEOM_ACUBE] = 4, [GEOM_2DMS] = 3, [GEOM_A2DMS] = 4};
    return n[geometry];
}
#endif
