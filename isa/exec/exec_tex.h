#ifndef ISA_EXEC_TEX_H
#define ISA_EXEC_TEX_H
/* Operands of K_TEX instructions: tex, tld4, txq, suld, sust, sured, suq.
 *   a      handle of the object (texture.h), 64 bits per lane: a register, or the constant for a .texref or .surfref
 *   b      with TEX_SAMPLER: handle of a sampler, or of a texture whose sampler is used
 *   d2     tex, tld4: predicate of d|p, or OPND_SINK. The predicate is always true, since all texels are resident
 *   imm    tex, tld4: TEX_ bits
 *   list   n_list registers. The first msize registers are destinations (tex, tld4, suld: the vector's elements; txq,
 *          suq: 1; sust, sured: 0). The sources that the instruction has follow, in this order:
 *          - tex_coordinates() coordinates in the order written: in arrays the layer is first; without the padding of
 *            {x, y, z, pad}
 *          - tex.level, txq.level: level of detail, of the coordinates' type
 *          - tex.grad: tex_dimensions() derivatives by x, then as many by y (f32)
 *          - TEX_OFFSET: tex_dimensions() offsets (s32)
 *          - TEX_COMPARE: depth to compare (f32)
 *          - sust: the vector's elements; sured: the operand
 *   rsize  bytes per lane of a destination, and of an element of sust or sured
 * Coordinates are 32 bits per lane: f32 if the row's second type is f32, else s32. In suld, sust and sured, the first
 * coordinate is in bytes (.b) or texels (.p). d, c and e are not used. */
#include "isa/decode.h"

enum { TEX_SAMPLER = 1, TEX_OFFSET = 2, TEX_COMPARE = 4 };

/* Returns the number of coordinates of a geometry (a GEOM_ value). */
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

/* Returns the number of coordinates other than the layer. */
static inline unsigned tex_dimensions(unsigned geometry) { return tex_coordinates(geometry) - tex_has_layer(geometry); }
#endif
