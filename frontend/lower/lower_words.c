/* What the instructions share whose opcodes are read word by word: wgmma, tcgen05, clusterlaunchcontrol. */
#include "lower.h"
#include <string.h>

bool has_word(const struct lower *l, const char *word) {
    const size_t len = strlen(word);
    for (const char *at = opcode_text(l); (at = strchr(at, '.')); at++)
        if (strncmp(at + 1, word, len) == 0 && (at[1 + len] == '.' || at[1 + len] == '\0'))
            return true;
    return false;
}

bool refuse_opcode(struct lower *l, const char *why) {
    diag_error(l->d, l->st->insn.opcode_loc, "'%s': %s", opcode_text(l), why);
    return false;
}

void add_to_list(struct lower *l, opnd_t reg) {
    struct ir *ir = l->ir;
    ir_list_add(ir, reg);
}
