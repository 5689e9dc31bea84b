/* Adds instructions to the program under construction. */
#include "lower.h"
#include <string.h>

/* Sets info->line and info->column to the position of byte `at` of the PTX text. The search starts at the line of the
 * last call, because offsets mostly ascend; after a large step, it is a binary search. */
static void locate(struct lower *l, uint32_t at, struct inst_info *info) {
    const struct scope *s = l->img->names;
    uint32_t k = l->line;
    if (at < s->lines[k] || at - s->lines[k] > 4096) {
        uint32_t low = 0, high = s->n_lines;
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            if (s->lines[middle] <= at)
                low = middle;
            else
                high = middle;
        }
        k = low;
    }
    while (at >= s->lines[k + 1])
        k++;
    l->line = k;
    info->line = k + 1;
    info->column = at - s->lines[k] + 1;
}

struct inst *emit(struct lower *l, const struct isa_row *row) {
    struct ir *ir = l->ir;
    if (ir->n == ir->cap) {
        uint32_t cap = ir->cap;
        ir->code = ir_grow(ir->tmp, ir->code, ir->n, &cap, sizeof *ir->code);
        ir->info = ir_grow(ir->tmp, ir->info, ir->n, &ir->cap, sizeof *ir->info);
    }
    struct inst *in = &ir->code[ir->n];
    *in = inst_of_row(row);
    in->guard = l->guard;
    in->guard_not = l->guard_not;
    struct inst_info *info = &ir->info[ir->n++];
    *info = (struct inst_info){.src_file = l->src_file, .src_line = l->src_line, .function = l->fn};
    info->order = l->dec ? l->dec->order : 0;
    locate(l, l->st ? l->st->loc.begin : 0, info);
    return in;
}

struct inst *emit_op(struct lower *l, enum op_id op, enum type t0, enum type t1, uint64_t form) {
    const struct isa_row *row = isa_find_row(op, t0, t1, form);
    static const struct isa_row nothing = {.kind = K_NOP};
    if (!row) {
        char name[64];
        snprintf(name, sizeof name, "%s%s%s", isa_ops[op].mnemonic, type_name(t0), type_name(t1));
        diag_error(l->d, l->st ? l->st->loc : (struct loc){0, 0},
                   "this instruction needs '%s', which Heddle does not implement", name);
        uint32_t n;
        struct inst *in = emit(l, isa_rows(&n));
        in->kind = nothing.kind;
        return in;
    }
    return emit(l, row);
}

void emit_done(struct lower *l) { ir_note_regs(l->ir, l->ir->n - 1); }

void emit_fixup(struct lower *l, unsigned what, uint64_t offset) {
    struct ir *ir = l->ir;
    ir->fixups = IR_ROOM(ir, ir->fixups, ir->n_fixups, ir->cap_fixups);
    ir->fixups[ir->n_fixups++] = (struct ir_fixup){.inst = ir->n - 1, .what = what, .offset = offset};
}

uint32_t pause_guard(struct lower *l) {
    uint32_t guard = l->guard;
    l->guard = NO_GUARD;
    return guard;
}

uint32_t temp_reg(struct lower *l, enum reg_class cls) { return ir_vreg(l->ir, cls, l->fn, NULL, 0); }

static enum type bits_type(unsigned bytes) {
    switch (bytes) {
    case 0:
        return T_PRED;
    case 1:
        return T_B8;
    case 2:
        return T_B16;
    case 4:
        return T_B32;
    case 8:
        return T_B64;
    default:
        return T_B128;
    }
}

void emit_move(struct lower *l, opnd_t d, opnd_t a, enum reg_class cls) {
    const struct isa_row *written = l->dec ? l->dec->row : NULL; /* a mov keeps its own opcode-table row */
    struct inst *in = written && written->op == OP_MOV && type_bytes(written->d) == class_bytes(cls)
                          ? emit(l, written)
                          : emit_op(l, OP_MOV, bits_type(class_bytes(cls)), T_NONE, 0);
    in->d = d;
    in->a = a;
    in->dsize = (uint8_t)class_bytes(cls);
    emit_done(l);
}

void emit_resize(struct lower *l, opnd_t d, unsigned dbytes, opnd_t a, unsigned abytes, bool is_signed) {
    static const enum type of[2][9] = {{[1] = T_U8, [2] = T_U16, [4] = T_U32, [8] = T_U64},
                                       {[1] = T_S8, [2] = T_S16, [4] = T_S32, [8] = T_S64}};
    struct inst *in = emit_op(l, OP_CVT, of[is_signed][dbytes], of[is_signed][abytes], 0);
    in->d = d;
    in->a = a;
    in->dsize = in->rsize = (uint8_t)dbytes;
    in->msize = in->asize = (uint8_t)abytes;
    if (in->kind == K_CVT)
        in->kind = K_LANE;
    emit_done(l);
}

void emit_frame_load(struct lower *l, opnd_t d, unsigned bytes, uint64_t offset) {
    struct inst *in = emit_op(l, OP_LD, bits_type(bytes), T_NONE, 0);
    in->d = d;
    in->dsize = in->msize = in->rsize = (uint8_t)bytes;
    in->asize = 8;
    in->space = SPACE_LOCAL;
    in->imm = (int64_t)offset;
    emit_fixup(l, FIX_FRAME, offset);
    emit_done(l);
}

void emit_frame_store(struct lower *l, uint64_t offset, unsigned bytes, opnd_t value) {
    struct inst *in = emit_op(l, OP_ST, bits_type(bytes), T_NONE, 0);
    in->b = value;
    in->msize = in->rsize = (uint8_t)bytes;
    in->asize = 8;
    in->space = SPACE_LOCAL;
    in->imm = (int64_t)offset;
    emit_fixup(l, FIX_FRAME, offset);
    emit_done(l);
}
