/* Finds the row of the instruction table that the words of an opcode select. */
#include "decode_parts.h"

static uint64_t category_mask(enum category c) { return (((uint64_t)1 << category_bits(c)) - 1) << category_first(c); }

uint64_t parts_free(const struct isa_op *op) {
    return (op->takes & TAKES_SPACE ? category_mask(CAT_SPACE) : 0) |
           (op->takes & TAKES_VEC ? category_mask(CAT_VEC) : 0) |
           (op->takes & TAKES_SYNC ? category_mask(CAT_SYNC) : 0);
}

const struct isa_row *parts_match(const struct isa_op *op, const uint8_t types[MAX_TYPES], uint64_t form) {
    unsigned id = (unsigned)(op - isa_ops);
    const struct isa_row *row = row_find(id, types, form);
    if (row || !(form & parts_free(op)))
        return row;
    static const enum category drop[] = {CAT_SYNC, CAT_VEC, CAT_SPACE};
    for (unsigned set = 1; set < 8 && !row; set++) {
        uint64_t dropped = 0;
        for (int i = 0; i < 3; i++)
            if (set >> i & 1)
                dropped |= category_mask(drop[i]);
        row = row_find(id, types, form & ~(dropped & parts_free(op)));
    }
    return row;
}
