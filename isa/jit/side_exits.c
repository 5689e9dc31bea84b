/* Side exits: jumps out of a block before an instruction, and the code that stores dirty lines there and returns. */
#include "compile.h"
#include <stdlib.h>
#include <string.h>

struct side_exit *side_exit_new(struct compiler *c, uint32_t reason) {
    if (c->n_exits == c->cap_exits) {
        uint32_t cap = c->cap_exits ? 2 * c->cap_exits : 16;
        struct side_exit *exits = realloc(c->exits, cap * sizeof *exits);
        if (!exits) {
            c->e.full = true;
            return NULL;
        }
        c->exits = exits;
        c->cap_exits = cap;
    }
    struct side_exit *out = &c->exits[c->n_exits++];
    *out = (struct side_exit){.index = c->at, .reason = reason, .done = c->done};
    memcpy(out->held, c->held, sizeof out->held);
    return out;
}

void exit_if(struct compiler *c, struct side_exit *out, unsigned condition) {
    jump_t j = emit_jump_if(&c->e, condition);
    if (!out || out->n_jumps == MAX_JUMPS)
        c->e.full = true;
    else
        out->jumps[out->n_jumps++] = j;
}

void compile_exits(struct compiler *c, size_t finish) {
    struct emit *e = &c->e;
    for (uint32_t i = 0; i < c->n_exits && !e->full; i++) {
        struct side_exit *out = &c->exits[i];
        for (unsigned k = 0; k < out->n_jumps; k++)
            emit_land(e, out->jumps[k]);
        for (unsigned v = 0; v < N_VECTORS; v++)
            if (out->held[v].key != NO_LINE && out->held[v].dirty)
                line_store(c, &out->held[v], v);
        count_done(c, &out->done);
        if (out->reason == JIT_STOPPED) /* at this point RAX holds the reason that step() returned */
            emit_alu_imm(e, ALU_OR, false, RAX, (int32_t)out->index);
        else
            emit_constant(e, RAX, out->index | out->reason);
        emit_jump_to(e, finish);
    }
}
