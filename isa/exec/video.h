#ifndef ISA_VIDEO_H
#define ISA_VIDEO_H
/* Operand selectors of the video instructions: "%r1.b0", "-%r2.h1", "%r0.h10". Lowering packs them into one word, the
 * operand e.
 *
 * Scalar instructions (vadd ... vset): a, b and d have a field of 4 bits each: 0 selects the word, 1 to 4 select .b0 to
 * .b3, 5 and 6 select .h0 and .h1. The field of d selects the part of c that the result replaces. The signs of vmad's
 * operands follow.
 *
 * SIMD instructions (vadd2 ... vset4): four fields of 3 bits for a and four for b, the lowest element first: each
 * selects a byte or half of the pair b:a. The mask of the elements to write follows. */
#include "isa/types.h"

enum {
    VIDEO_A = 0,
    VIDEO_B = 4,
    VIDEO_D = 8,
    VIDEO_NEGATE_A = 1 << 12,
    VIDEO_NEGATE_B = 1 << 13,
    VIDEO_NEGATE_C = 1 << 14,
    VIDEO_SIMD_A = 0,
    VIDEO_SIMD_B = 12,
    VIDEO_SIMD_MASK = 24,
};

/* Returns true if operand e of this opcode (enum op_id) is a word of selectors. */
bool video_is(unsigned op);
/* Returns the word for an instruction without selectors. */
uint32_t video_default(unsigned op);
/* Puts selector `text` ("b0", "h10", without the dot) of operand `which` ('d', 'a' or 'b') into `word`. Returns false
 * if `op` has no such selector there. */
bool video_select(unsigned op, char which, const char *text, uint32_t *word);
#endif
