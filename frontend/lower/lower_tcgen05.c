/* Lowers tcgen05. Addresses in tensor memory are registers in brackets, with an offset in columns. The operands:
 *   alloc [shared], n;    dealloc address, n;    relinquish_alloc_permit, wait, fence: none
 *   ld {d}{, minimum or maximum}, [t]{, distance};    st [t]{, distance}, {s};    cp [t], descriptor;    shift [t]
 *   commit [mbarrier]{, mask of CTAs}
 *   mma [t], descriptor or [t], descriptor{, [metadata]}, instruction descriptor{, [scales of a], [scales of b]}
 *     {, {masks}}, enable-input-d{, scale-input-d or zero-column mask descriptor} */
#include "isa/group_matrix.h"
#include "isa/tensor_memory.h"
#include "lower.h"
#include <stdio.h>
#include <string.h>

/* Checks that the instruction has the modifiers that its operation requires. */
static bool modifiers_are_right(struct lower *l) {
    const unsigned operation = form_get(l->dec->row->form, CAT_MODE2);
    const bool of_group = operation != MODE2_NONE && operation != MODE2_LD && operation != MODE2_ST;
    if (form_get(l->dec->row->form, CAT_SYNC) && !(l->dec->hints & HINT_ALIGNED))
        return refuse_opcode(l, "it is incomplete; add .aligned after .sync");
    if (of_group && !has_word(l, "cta_group::1") && !has_word(l, "cta_group::2"))
        return refuse_opcode(l, "it is incomplete; add .cta_group::1 or .cta_group::2");
    return true;
}

static uint8_t pair_flag(const struct lower *l) { return has_word(l, "cta_group::2") ? TENSOR_PAIR : 0; }

/* Finds the word of `words` that the opcode contains. Returns its index, or -1 after reporting an error. */
static int word_of_set(struct lower *l, const char *const *words, int n, const char *what) {
    char why[160];
    for (int i = 0; i < n; i++)
        if (has_word(l, words[i]))
            return i;
    int len = snprintf(why, sizeof why, "%s is missing:", what);
    for (int i = 0; i < n; i++)
        len += snprintf(why + len, sizeof why - (size_t)len, "%s .%s", i ? "," : "", words[i]);
    refuse_opcode(l, why);
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

static bool add_vector(struct lower *l, const struct operand *o, unsigned n, bool written, enum type t) {
    struct operand list[GROUP_MOST_N / 2];
    const unsigned found = o->kind == OPD_VECTOR ? (unsigned)elements(l, o, list, GROUP_MOST_N / 2) : 0;
    if (found != n) {
        diag_error(l->d, o->loc, "'%s' takes a vector of %u register%s here, found %u", opcode_text(l), n,
                   n == 1 ? "" : "s", found);
        return false;
    }
    for (unsigned i = 0; i < n; i++)
        add_to_list(l, written ? dest(l, &list[i], t) : source(l, &list[i], t));
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

/* Lowers alloc to a loop: the instruction sets a predicate, and is executed again until columns are free. */
static void lower_alloc(struct lower *l, const struct address *a, opnd_t columns) {
    const uint32_t done = temp_reg(l, RC_PRED), label = new_label(l), guard = pause_guard(l);
    const bool guard_not = l->guard_not;
    emit_move(l, done << 1, ir_constant(l->ir, RC_PRED, 1, 0), RC_PRED);
    bind_label(l, label);
    l->guard = guard;
    struct inst *in = emit_listed(l, l->ir->n_lists, (struct tensor_form){0});
    in->imm = 0;
    in->msize = 4;
    in->d = done << 1;
    in->b = columns;
    in->c = pair_flag(l) ? ir_constant(l->ir, RC_32, 1, 0) : OPND_ZERO;
    set_address(l, in, a);
    emit_done(l);
    l->guard = done;
    l->guard_not = true;
    in = emit_op(l, OP_BRA, T_NONE, T_NONE, 0);
    in->target = label;
    in->rpc = PC_EXIT;
    emit_done(l);
    l->guard = guard;
    l->guard_not = guard_not;
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
    if (alloc && has_word(l, "shared::cluster")) {
        refuse_opcode(l, "it writes to the shared memory of its own CTA: use .shared::cta");
        return;
    }
    if (alloc && !address_of(l, o, has_word(l, "shared::cta") ? SPACE_SHARED : SPACE_GENERIC, &a))
        return;
    const opnd_t address = alloc ? OPND_ZERO : source(l, o, T_B32), columns = source(l, o->next, T_U32);
    if (alloc) {
        lower_alloc(l, &a, columns);
        return;
    }
    struct inst *in = emit_listed(l, l->ir->n_lists, (struct tensor_form){0});
    in->a = address;
    in->b = columns;
    emit_done(l);
}

/* Checks the modifiers of a load with a reduction, and adds them to the flags. */
static bool reduction_flags(struct lower *l, unsigned shape, int log, struct tensor_form *f) {
    const unsigned type = l->dec->row->types[0];
    const bool red = has_word(l, "red"), min = has_word(l, "min"), max = has_word(l, "max");
    const bool abs = has_word(l, "abs"), nan = has_word(l, "NaN");
    if (!red && (min || max || abs || nan || type != T_B32))
        return refuse_opcode(l, "it needs the type .b32, or .red");
    if (!red)
        return true;
    if (shape != TENSOR_32X32B && shape != TENSOR_16X32BX2)
        return refuse_opcode(l, ".red goes with the shapes .32x32b and .16x32bx2");
    if (log == 0 || min == max || type == T_B32 || ((abs || nan) && type != T_F32) || has_word(l, "pack::16b"))
        return refuse_opcode(
            l, ".red needs .x2 or more, .min or .max, and the type .u32, .s32 or .f32; .abs and .NaN need .f32");
    f->flags |= (uint8_t)(TENSOR_RED | (max ? TENSOR_MAX : 0) | (abs ? TENSOR_ABS : 0) | (nan ? TENSOR_NAN : 0));
    return true;
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
    struct tensor_form f = {.code = (uint8_t)shape,
                            .flags = has_word(l, load ? "pack::16b" : "unpack::16b") ? TENSOR_PACK : 0};
    opnd_t at;
    if (n > 128) {
        refuse_opcode(l, "the shape has at most 128 registers; use fewer repetitions");
        return;
    }
    if (has_word(l, load ? "unpack::16b" : "pack::16b")) {
        refuse_opcode(l, "a load packs (.pack::16b), and a store unpacks (.unpack::16b)");
        return;
    }
    if (!reduction_flags(l, (unsigned)shape, log, &f))
        return;
    const unsigned result = f.flags & TENSOR_RED ? 1 : 0;
    if (!operand_count(l, 2 + (int)(extra + result), 2 + (int)(extra + result)))
        return;
    const struct operand *address = load ? (result ? o->next->next : o->next) : o, *distance = address->next,
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
    if (!add_vector(l, vector, n, load, l->dec->row->types[0]))
        return;
    if (result)
        add_to_list(l, dest(l, o->next, l->dec->row->types[0]));
    struct inst *in = emit_listed(l, list, f);
    in->a = at;
    in->msize = (uint8_t)(load ? n + result : 0);
    emit_done(l);
}

static void lower_cp(struct lower *l) {
    static const char *const shapes[] = {"128x256b", "128x128b", "64x128b", "64x128b", "32x128b", "4x256b"};
    static const char *const warps[] = {NULL, NULL, "warpx2::02_13", "warpx2::01_23", "warpx4", NULL};
    const struct operand *o = l->st->insn.operands;
    struct tensor_form f = {.flags = pair_flag(l),
                            .more = has_word(l, "b4x16_p64")   ? TENSOR_B4X16_P64
                                    : has_word(l, "b6x16_p32") ? TENSOR_B6X16_P32
                                                               : TENSOR_BYTES};
    int shape = word_of_set(l, shapes, 6, "a shape");
    opnd_t at;
    if (shape < 0)
        return;
    if (shape == TENSOR_CP_64X128B_02_13 && has_word(l, warps[TENSOR_CP_64X128B_01_23]))
        shape = TENSOR_CP_64X128B_01_23;
    bool right = true;
    for (int i = TENSOR_CP_64X128B_02_13; i <= TENSOR_CP_32X128B; i++)
        right &= has_word(l, warps[i]) == (i == shape);
    if (!right) {
        refuse_opcode(l, "the shape and the warps do not fit: .64x128b goes with .warpx2, .32x128b with .warpx4");
        return;
    }
    if (has_word(l, "b8x16") != (f.more != TENSOR_BYTES)) {
        refuse_opcode(l, ".b8x16 goes with .b6x16_p32 or .b4x16_p64");
        return;
    }
    f.code = (uint8_t)shape;
    if (!operand_count(l, 2, 2) || !tensor_address(l, o, &at, &f.offset))
        return;
    const opnd_t matrix = source(l, o->next, T_B64);
    struct inst *in = emit_listed(l, l->ir->n_lists, f);
    in->a = at;
    in->b = matrix;
    emit_done(l);
}

static void lower_shift(struct lower *l) {
    struct tensor_form f = {.flags = pair_flag(l)};
    opnd_t at;
    if (!has_word(l, "down")) {
        refuse_opcode(l, "it is incomplete; add .down");
        return;
    }
    if (!operand_count(l, 1, 1) || !tensor_address(l, l->st->insn.operands, &at, &f.offset))
        return;
    struct inst *in = emit_listed(l, l->ir->n_lists, f);
    in->a = at;
    emit_done(l);
}

/* ---- mma ---- */

/* Finds the number of scales along K of a kind that scales blocks. */
static bool scales_of(struct lower *l, struct tensor_form *f) {
    const bool one = has_word(l, "scale_vec::1X"), two = has_word(l, "scale_vec::2X"),
               four = has_word(l, "scale_vec::4X");
    const bool block16 = has_word(l, "block16"), block32 = has_word(l, "block32"), any = one || two || four || block16;
    const bool is_mixed = f->code == TENSOR_MXF8F6F4, nvidia = f->code == TENSOR_MXF4NVF4;
    if (f->code < TENSOR_MXF8F6F4)
        return any || block32 || has_word(l, "block_scale") ? refuse_opcode(l, "this kind does not scale blocks")
                                                            : true;
    if (!has_word(l, "block_scale"))
        return refuse_opcode(l, "it is incomplete; add .block_scale");
    if (one + two + four + block16 + block32 > 1 || (one && !is_mixed) || (two && is_mixed) ||
        ((four || block16) && !nvidia))
        return refuse_opcode(
            l, "kind::mxf8f6f4 has .scale_vec::1X or .block32, kind::mxf4 has .scale_vec::2X or .block32, and "
               "kind::mxf4nvf4 has .scale_vec::2X, .scale_vec::4X, .block16 or .block32");
    if (nvidia && !any && !block32)
        return refuse_opcode(l, "it is incomplete; add .scale_vec::2X, .scale_vec::4X, .block16 or .block32");
    f->more = is_mixed ? 1 : four || block16 ? 4 : 2;
    return true;
}

/* Checks .ws, .ashift and the modifiers of collector buffers. The latter have no effect. */
static bool modes_are_right(struct lower *l, const struct tensor_form *f, bool in_tensor) {
    const bool ws = f->flags & TENSOR_WEIGHTS, of_a = strstr(opcode_text(l), ".collector::a::"),
               of_b = strstr(opcode_text(l), ".collector::b");
    if (ws && (f->flags & TENSOR_PAIR || f->code > TENSOR_I8))
        return refuse_opcode(l, ".ws needs .cta_group::1 and a kind without scales");
    if (ws ? of_a : of_b)
        return refuse_opcode(l, ws ? "with .ws, the collector buffers are b0 to b3"
                                   : "without .ws, the collector buffer is a");
    if (!(f->flags & TENSOR_SHIFT))
        return true;
    if (ws || f->code > TENSOR_I8 || !in_tensor)
        return refuse_opcode(l, ".ashift needs matrix a in tensor memory, and neither .ws nor scales");
    return has_word(l, "collector::a::fill") || has_word(l, "collector::a::use")
               ? refuse_opcode(l, ".ashift excludes .collector::a::fill and .collector::a::use")
               : true;
}

/* Adds the address of an operand in tensor memory to the list. */
static bool add_place(struct lower *l, const struct operand *o) {
    opnd_t reg;
    int32_t offset;
    if (!tensor_address(l, o, &reg, &offset))
        return false;
    if (offset) {
        bad_operand(l, o, "an address in tensor memory without offset");
        return false;
    }
    add_to_list(l, reg);
    return true;
}

/* Lowers the operands behind the instruction descriptor: masks, enable-input-d, and scale-input-d or the zero-column
 * mask descriptor. Returns enable-input-d, or NULL after an error. */
static const struct operand *add_rest(struct lower *l, const struct operand *o, struct tensor_form *f) {
    const bool plain = !(f->flags & TENSOR_WEIGHTS) && f->code <= TENSOR_I8;
    if (o && o->kind == OPD_VECTOR && plain) {
        f->flags |= TENSOR_MASKS;
        if (!add_vector(l, o, f->flags & TENSOR_PAIR ? 8 : 4, false, T_B32))
            return NULL;
        o = o->next;
    }
    const struct operand *last = o ? o->next : NULL;
    if (!o || (last && (last->next || f->code > TENSOR_I8))) {
        refuse_opcode(
            l, "its operands are d, a, b, {[metadata],} an instruction descriptor, then {masks}, enable-input-d and "
               "scale-input-d, or with scales [scales of a], [scales of b] and enable-input-d");
        return NULL;
    }
    if (last && f->flags & TENSOR_WEIGHTS) {
        f->flags |= TENSOR_ZEROS;
        add_to_list(l, source(l, last, T_B64));
    } else if (last) {
        if (last->kind != OPD_INT || last->integer > 15 || f->code > TENSOR_TF32) {
            bad_operand(l, last, "no operand, or with kind::f16 and kind::tf32 a scale-input-d from 0 to 15");
            return NULL;
        }
        if (!form_exists(l, "tcgen05.mma.scale-input-d"))
            return NULL;
        f->more = (uint16_t)last->integer;
    }
    return o;
}

static void lower_product(struct lower *l) {
    static const char *const kinds[] = {"kind::f16",      "kind::tf32", "kind::f8f6f4",  "kind::i8",
                                        "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"};
    const int kind = word_of_set(l, kinds, 7, "a kind");
    const struct operand *d = l->st->insn.operands, *oa = d ? d->next : NULL, *ob = oa ? oa->next : NULL;
    const bool sparse = has_word(l, "sp"), in_tensor = oa && oa->kind == OPD_ADDRESS;
    struct tensor_form f = {.code = (uint8_t)kind,
                            .flags = (uint8_t)(pair_flag(l) | (in_tensor ? TENSOR_A : 0) |
                                               (sparse ? TENSOR_SPARSE : 0) | (has_word(l, "ws") ? TENSOR_WEIGHTS : 0) |
                                               (has_word(l, "ashift") ? TENSOR_SHIFT : 0))};
    opnd_t at, a;
    int32_t a_offset = 0;
    if (kind < 0 || !scales_of(l, &f) || !modes_are_right(l, &f, in_tensor) || !operand_count(l, 5, 8) ||
        !tensor_address(l, d, &at, &f.offset))
        return;
    if (in_tensor ? !tensor_address(l, oa, &a, &a_offset) : (a = source(l, oa, T_B64), false))
        return;
    if (a_offset) {
        bad_operand(l, oa, "an address without offset for a");
        return;
    }
    const opnd_t b = source(l, ob, T_B64);
    const struct operand *metadata = ob->next, *what = sparse ? metadata->next : metadata;
    const uint32_t list = l->ir->n_lists;
    add_to_list(l, source(l, what, T_B32));
    const struct operand *rest = what->next;
    if (sparse && !add_place(l, metadata))
        return;
    for (int i = 0; i < 2 && f.code > TENSOR_I8; i++, rest = rest->next)
        if (!rest || !rest->next || !add_place(l, rest)) {
            if (!rest || !rest->next)
                refuse_opcode(l, "it needs the scales of a and of b in tensor memory before enable-input-d");
            return;
        }
    const struct operand *enable = add_rest(l, rest, &f);
    if (!enable)
        return;
    const opnd_t adds = enable->kind != OPD_INT ? source(l, enable, T_PRED)
                        : enable->integer       ? ir_constant(l->ir, RC_PRED, 1, 0)
                                                : OPND_ZERO;
    struct inst *in = emit_listed(l, list, f);
    in->a = at;
    in->b = a;
    in->c = b;
    in->e = adds;
    emit_done(l);
}

/* Lowers commit. A commit that may arrive in another CTA becomes the row COMMIT_FAR. */
static void lower_commit(struct lower *l) {
    const bool multicast = has_word(l, "multicast::cluster"), far = multicast || pair_flag(l);
    const struct operand *o = l->st->insn.operands;
    struct address a;
    if (!has_word(l, "mbarrier::arrive::one")) {
        refuse_opcode(l, "it is incomplete; add .mbarrier::arrive::one");
        return;
    }
    if (has_word(l, "shared::cta")) {
        refuse_opcode(l, "the space of its mbarrier is .shared::cluster");
        return;
    }
    if (!operand_count(l, 1 + multicast, 1 + multicast) ||
        !address_of(l, o, has_word(l, "shared::cluster") ? SPACE_SHARED : SPACE_GENERIC, &a))
        return;
    const opnd_t mask = multicast ? source(l, o->next, T_B16) : OPND_ZERO;
    struct inst *in =
        far ? emit_op(l, OP_TCGEN05, T_B64, T_NONE, form_put(CAT_MODE2, MODE2_COMMIT_FAR)) : emit(l, l->dec->row);
    in->dsize = in->d2size = 0;
    in->b = far ? mask : ir_constant(l->ir, RC_32, 1, 0); /* far: mask of the CTAs; else the number of arrivals */
    if (multicast)
        in->c = ir_constant(l->ir, RC_32, 1, 0);
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
    case MODE2_SHIFT:
        lower_shift(l);
        break;
    default:
        if (operation == MODE2_NONE && !has_word(l, "wait::ld") && !has_word(l, "wait::st") &&
            !has_word(l, "fence::before_thread_sync") && !has_word(l, "fence::after_thread_sync"))
            refuse_opcode(l, "an operation is missing, such as .mma");
        else if (operation == MODE2_NONE &&
                 (has_word(l, "wait::ld") || has_word(l, "wait::st")) != form_get(l->dec->row->form, CAT_SYNC))
            refuse_opcode(l, "a wait has .sync.aligned, and a fence has not");
        else if (operand_count(l, 0, 0)) {
            emit_listed(l, l->ir->n_lists, (struct tensor_form){0});
            emit_done(l);
        }
    }
}
