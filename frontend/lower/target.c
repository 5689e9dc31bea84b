/* Refuses mma, ldmatrix and stmatrix of small formats that the module's .target does not have, as ptxas does. The files
 * that lower wgmma and tcgen05 check their targets themselves. Every other instruction is accepted for every
 * .target. */
#include "lower_matrix.h"
#include <stdlib.h>
#include <string.h>

/* The targets that have an instruction. NOTHING: all targets; 89: sm_89 and later; 100A: sm_100 and later with a letter
 * (a or f); 120A: sm_120 to sm_129 with a letter. */
enum needs { NEEDS_NOTHING, NEEDS_89, NEEDS_100A, NEEDS_120A };

static bool is_byte_float(unsigned type) { return type == T_E4M3 || type == T_E5M2; }

static enum needs needs_of_mma(const struct isa_row *row) {
    const unsigned kind = form_get(row->form, CAT_KIND), sparse = form_get(row->form, CAT_SPARSE);
    const bool bytes = is_byte_float(row->types[1]) && is_byte_float(row->types[2]);
    const bool narrow = sparse && row->types[0] == T_F16; /* only sm_120a adds products of a sparse matrix in f16 */
    if (kind >= KIND_MXF8F6F4 && kind <= KIND_MXF4NVF4)
        return NEEDS_120A;
    if (kind == KIND_F8F6F4)
        return bytes && !narrow ? NEEDS_100A : NEEDS_120A;
    return !bytes ? NEEDS_NOTHING : narrow ? NEEDS_120A : NEEDS_89;
}

static enum needs needs_of(const struct isa_row *row) {
    const unsigned shape = form_get(row->form, CAT_MODE2);
    if (row->op == OP_MMA)
        return needs_of_mma(row);
    const bool small = shape == MODE2_M8N16 || shape == MODE2_M16N16 || shape == MODE2_M16N8;
    return (row->op == OP_LDMATRIX || row->op == OP_STMATRIX) && small ? NEEDS_100A : NEEDS_NOTHING;
}

static bool has(const char *target, enum needs needs) {
    char *end;
    const unsigned long n = strtoul(target, &end, 10);
    switch (needs) {
    case NEEDS_NOTHING:
        return true;
    case NEEDS_89:
        return n >= 89;
    case NEEDS_100A:
        return n >= 100 && *end;
    default:
        return n >= 120 && n < 130 && *end;
    }
}

bool target_has_instruction(struct lower *l) {
    static const char *const texts[] = {"", "sm_89 or later", "sm_100a or a later target with a letter", "sm_120a"};
    const enum needs needs = needs_of(l->dec->row);
    for (const struct suffix *s = l->module->targets; s; s = s->next)
        if (strncmp(s->word->text, "sm_", 3) == 0 && !has(s->word->text + 3, needs)) {
            diag_error(l->d, l->st->insn.opcode_loc, "'%s' does not exist on .target %s", opcode_text(l),
                       s->word->text);
            diag_help(l->d, "it needs .target %s", texts[needs]);
            return false;
        }
    return true;
}
