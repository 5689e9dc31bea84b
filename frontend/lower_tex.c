#include "lower.h"
void lower_texture(struct lower *l) {
    diag_error(l->d, l->st->insn.opcode_loc, "'%s' is not supported yet", opcode_text(l));
}
