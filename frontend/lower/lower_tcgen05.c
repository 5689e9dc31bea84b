/* Lowers tcgen05. Addresses in tensor memory are registers in brackets, with an offset in columns. The operands:
 *   alloc [shared], n;    dealloc address, n;    relinquish_alloc_permit, wait, fence: none
 *   ld {d}, [t]{, distance};    st [t]{, distance}, {s};    cp [t], descriptor;    commit [mbarrier]
 *   mma [t], descriptor or [t], descriptor, instruction descriptor{, {masks}}, enable-input-d{, scale-input-d} */
#include "isa/group_matrix.h"
#include "isa/tensor_memory.h"
#include "lower.h"
#include <stdio.h>
#include <string.h>

static bool has_word(const struct lower *l, const char *word) {
    const size_t len = strlen(word);
    for (const char *at = opcode_text(l); (at = strchr(at, '.')); at++)
        if (strncmp(at + 1, word, len) == 0 && (at[1 + len] == '.' || at[1 + len] == '\0'))
            return true;
    return false;
}

static bool refuse(struct lower *l, const char *why) {
    diag_error(l->d, l->st->insn.opcode_loc, "'%s': %s", opcode_text(l), why);
    return false;
}

/* Checks that the instruction has the modifiers that its operation requires, and refuses modifiers that Heddle does not
 * support. */
static bool modifiers_are_right(struct lower *l) {
    const unsigned operation = form_get(l->dec->row->form, CAT_MODE2);
    const bool of_group = operation != MODE2_NONE && operation != MODE2_LD && operation != MODE2_ST;
    static const char *const missing[][2] = {
        {"cta_group::2", "pairs of CTAs are not supported; use .cta_group::1"},
        {"sp", "sparse matrices are not supported"},
        {"ws", "products that keep a matrix (.ws) are not supported"},
        {"block_scale", "scaled blocks are not supported"},
        {"ashift", "shifted rows of a are not supported"},
        {"4x256b", "this shape is not supported"},
        {"b8x16", "a copy that expands numbers is not supported"},
        {"multicast::cluster", "an arrival in other CTAs is not supported"},
    };
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
        if (has_word(l, missing[i][0]))
            return refuse(l, missing[i][1]);
    if (form_get(l->dec->row->form, CAT_SYNC) && !(l->dec->hints & HINT_ALIGNED))
        return refuse(l, "it is incomplete; add .aligned after .sync");
    if (of_group && !has_word(l, "cta_group::1"))
        return refuse(l, "it is incomplete; add .cta_group::1");
    return true;
}

/* Finds the word of `words` that the opcode contains. Returns its index, or -1 after reporting an error. */
static int word_of_set(struct lower *l, const char *const *words, int n, const char *what) {
    char why[160];
    for (int i = 0; i < n; i++)
        if (has_word(l, words[i]))
            return i;
    int len = snprintf(why, sizeof why, "%s is missing:", what);
    for (int i = 0; i < n; i++)
        len += snprintf(why + len, sizeof why - (size_t)len, "%s .%s", i ? "," : "", words[i]);
    refuse(l, why);
    return -1;
}

/* Reads an address in tensor memory, [%r + offset]. */
static bool tensor_address(struct lower *l, const struct operand *o, opnd_t *reg, int32_t *offset) {
    if (o->kind != OPD_ADDRESS || !o->sub || o->sub->kind != OPD_NAME) {
        bad_operand(l, o, "an address in tensor memory, [register]");
        return false;
    }
    *reg = source(l, o->sub, T_B32);
    *offset = (int32_t)(uint32_t)o->integer;
    return true;
}

/* Adds registers to the list of the instruction. */
static void add_to_list(struct lower *l, opnd_t reg) {
    struct ir *ir = l->ir;
    ir->lists = IR_ROOM(ir, ir->lists, ir->n_lists, ir->cap_lists);
    ir->lists[ir->n_lists++] = reg;
}

static bool add_vector(struct lower *l, const struct operand *o, unsigned n, bool written) {
    struct operand list[GROUP_MOST_N / 2];
    const unsigned found = o->kind == OPD_VECTOR ? (unsigned)elements(l, o, list, GROUP_MOST_N / 2) : 0;
    if (found != n) {
        diag_error(l->d, o->loc, "'%s' takes a vector of %u register%s here, found %u", opcode_text(l), n,
                   n == 1 ? "" : "s", found);
        return false;
    }
    for (unsigned i = 0; i < n; i++)
        add_to_list(l, written ? dest(l, &list[i], T_B32) : source(l, &list[i], T_B32));
    return true;
}

/* Emits the instruction. Its list begins at index `list` and ends with the register that was added last. */
static struct inst *emit_listed(struct lower *l, uint32_t list, struct tensor_form f) {
    struct inst *in = emit(l, l->dec->row);
    in->list = list;
    in->n_list = (uint8_t)(l->ir->n_lists - list);
    in->rsize = 4;
    in->imm = tensor_pack(f);
    if (form_get(l->dec->row->form, CAT_SYNC))
        in->e = ir_constant(l->ir, RC_32, LANES_ALL, 0);
    return in;
}

static void lower_allocation(struct lower *l, bool alloc) {
    const struct operand *o = l->st->insn.operands;
    struct address a = {.base = OPND_ZERO};
    if (!operand_count(l, 2, 2))
        return;
    const uint64_t n = o->next->kind == OPD_INT ? o->next->integer : 32;
    if (n < 32 || n > TENSOR_COLUMNS || (n & (n - 1)) != 0) {
        bad_operand(l, o->next, "a number of columns, a power of two from 32 to 512");
        return;
    }
    if (alloc && !address_of(l, o, has_word(l, "shared::cta") ? SPACE_SHARED : SPACE_GENERIC, &a))
        return;
    const opnd_t address = alloc ? OPND_ZERO : source(l, o, T_B32), columns = source(l, o->next, T_U32);
    struct inst *in = emit_listed(l, l->ir->n_lists, (struct tensor_form){0});
    in->imm = 0;
    if (alloc) {
        in->msize = 4;
        set_address(l, in, &a);
    } else {
        in->a = address;
    }
    in->b = columns;
    emit_done(l);
}

static void lower_move(struct lower *l, bool load) {
    static const char *const shapes[] = {"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"};
    static const char *const repeats[] = {"x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"};
    const int shape = word_of_set(l, shapes, 5, "a shape"),
              log = shape < 0 ? -1 : word_of_set(l, repeats, 8, "a number of repetitions");
    const struct operand *o = l->st->insn.operands;
    if (log < 0)
        return;
    const unsigned n = tensor_registers((unsigned)shape) << log, extra = shape == TENSOR_16X32BX2;
    struct tensor_form f = {.code = (uint8_t)shape, .flag = has_word(l, load ? "pack::16b" : "unpack::16b")};
    opnd_t at;
    if (n > 128) {
        refuse(l, "the shape has at most 128 registers; use fewer repetitions");
        return;
    }
    if (!operand_count(l, 2 + (int)extra, 2 + (int)extra))
        return;
    const struct operand *address = load ? o->next : o, *distance = address->next,
                         *vector = load    ? o
                                   : extra ? o->next->next
                                           : o->next;
    if (!tensor_address(l, address, &at, &f.offset))
        return;
    if (extra && (distance->kind != OPD_INT || distance->integer >= TENSOR_COLUMNS)) {
        bad_operand(l, distance, "the distance of the halves, a constant from 0 to 511");
        return;
    }
    f.more = extra ? (uint16_t)distance->integer : 0;
    const uint32_t list = l->ir->n_lists;
    if (!add_vector(l, vector, n, load))
        return;
    struct inst *in = emit_listed(l, list, f);
    in->a = at;
    in->msize = (uint8_t)(load ? n : 0);
    emit_done(l);
}

static void lower_cp(struct lower *l) {
    static const char *const shapes[] = {"128x256b", "128x128b", "warpx2::02_13", "warpx2::01_23", "warpx4"};
    const int shape = word_of_set(l, shapes, 5, "a shape");
    const struct operand *o = l->st->insn.operands;
    struct tensor_form f = {.code = (uint8_t)shape};
    opnd_t at;
    if (shape < 0 || !operand_count(l, 2, 2) || !tensor_address(l, o, &at, &f.offset))
        return;
    if (shape >= TENSOR_CP_64X128B_02_13 && !has_word(l, shape == TENSOR_CP_32X128B ? "32x128b" : "64x128b")) {
        refuse(l, "the shape and the warps do not fit: .64x128b goes with .warpx2, .32x128b with .warpx4");
        return;
    }
    const opnd_t matrix = source(l, o->next, T_B64);
    struct inst *in = emit_listed(l, l->ir->n_lists, f);
    in->a = at;
    in->b = matrix;
    emit_done(l);
}

static void lower_product(struct lower *l) {
    static const char *const kinds[] = {"kind::f16", "kind::tf32", "kind::f8f6f4", "kind::i8"};
    const int kind = word_of_set(l, kinds, 4, "a kind");
    const struct operand *d = l->st->insn.operands;
    struct tensor_form f = {.code = (uint8_t)kind};
    opnd_t at, a;
    if (kind < 0 || !operand_count(l, 5, 7))
        return;
    const struct operand *oa = d->next, *ob = oa->next, *oi = ob->next, *on = oi->next;
    int32_t a_offset = 0;
    f.flag = oa->kind == OPD_ADDRESS;
    f.masks = on->kind == OPD_VECTOR;
    const struct operand *enable = f.masks ? on->next : on, *scale = enable ? enable->next : NULL;
    if (!enable || (scale && scale->next)) {
        refuse(l, "its operands are d, a, b, an instruction descriptor, {masks}, enable-input-d and scale-input-d");
        return;
    }
    if (scale && (scale->kind != OPD_INT || scale->integer > 15 || kind > TENSOR_TF32)) {
        bad_operand(l, scale, "no operand, or with kind::f16 and kind::tf32 a scale-input-d from 0 to 15");
        return;
    }
    f.more = scale ? (uint16_t)scale->integer : 0;
    if (!tensor_address(l, d, &at, &f.offset))
        return;
    if (f.flag) {
        if (!tensor_address(l, oa, &a, &a_offset))
            return;
        if (a_offset) {
            bad_operand(l, oa, "an address without offset for a");
            return;
        }
    } else {
        a = source(l, oa, T_B64);
    }
    const opnd_t b = source(l, ob, T_B64), what = source(l, oi, T_B32);
    const opnd_t adds = enable->kind != OPD_INT ? source(l, enable, T_PRED)
                        : enable->integer       ? ir_constant(l->ir, RC_PRED, 1, 0)
                                                : OPND_ZERO;
    const uint32_t list = l->ir->n_lists;
    add_to_list(l, what);
    if (f.masks && !add_vector(l, on, 4, false))
        return;
    struct inst *in = emit_listed(l, list, f);
    in->a = at;
    in->b = a;
    in->c = b;
    in->e = adds;
    emit_done(l);
}

static void lower_commit(struct lower *l) {
    struct address a;
    if (!has_word(l, "mbarrier::arrive::one")) {
        refuse(l, "it is incomplete; add .mbarrier::arrive::one");
        return;
    }
    if (!operand_count(l, 1, 1) ||
        !address_of(l, l->st->insn.operands, has_word(l, "shared::cluster") ? SPACE_SHARED : SPACE_GENERIC, &a))
        return;
    struct inst *in = emit(l, l->dec->row);
    in->dsize = in->d2size = 0;
    in->b = ir_constant(l->ir, RC_32, 1, 0); /* arrivals */
    in->msize = in->rsize = 8;
    set_address(l, in, &a);
    emit_done(l);
}

void lower_tcgen05(struct lower *l) {
    if (!modifiers_are_right(l))
        return;
    const unsigned operation = form_get(l->dec->row->form, CAT_MODE2);
    switch (operation) {
    case MODE2_ALLOC:
    case MODE2_DEALLOC:
        lower_allocation(l, operation == MODE2_ALLOC);
        break;
    case MODE2_LD:
    case MODE2_ST:
        lower_move(l, operation == MODE2_LD);
        break;
    case MODE2_CP:
        lower_cp(l);
        break;
    case MODE2_MULTIPLY:
        lower_product(l);
        break;
    case MODE2_COMMIT:
        lower_commit(l);
        break;
    default:
        if (operation == MODE2_NONE && !has_word(l, "wait::ld") && !has_word(l, "wait::st") &&
            !has_word(l, "fence::before_thread_sync") && !has_word(l, "fence::after_thread_sync"))
            refuse(l, has_word(l, "down") ? "shift is not supported" : "an operation is missing, such as .mma");
        else if ((has_word(l, "wait::ld") || has_word(l, "wait::st")) && !form_get(l->dec->row->form, CAT_SYNC))
            refuse(l, "it is incomplete; add .sync.aligned");
        else if (operand_count(l, 0, 0)) {
            emit_listed(l, l->ir->n_lists, (struct tensor_form){0});
            emit_done(l);
        }
    }
}
