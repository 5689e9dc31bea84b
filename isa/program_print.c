/* Prints one instruction as text, for dumps, traces and reports. */
#include "compound.h"
#include "control_uses.h"
#include "decode.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A line of text. Text that does not fit is truncated. */
struct line {
    char *out;
    size_t size, len;
    const struct program *p;
    bool listed; /* true after the first operand has been printed */
};

static void put(struct line *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct line *t, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int n = t->len < t->size ? vsnprintf(t->out + t->len, t->size - t->len, fmt, ap) : 0;
    va_end(ap);
    if (n > 0)
        t->len += (size_t)n;
}

static void comma(struct line *t) {
    put(t, "%s", t->listed ? ", " : " ");
    t->listed = true;
}

/* Prints a constant by the value of its first lane. Floating-point values print exactly enough to be read back. */
static void put_constant(struct line *t, uint32_t offset, enum type type) {
    const unsigned bytes = type_bytes(type);
    uint64_t bits = 0;
    if (offset + (bytes ? bytes : 4) > t->p->constant_bytes) {
        put(t, "?");
        return;
    }
    memcpy(&bits, t->p->constants + offset, bytes == 0 ? 4 : bytes < 8 ? bytes : 8);
    float f;
    double g;
    memcpy(&f, &bits, sizeof f);
    memcpy(&g, &bits, sizeof g);
    if (type == T_F32)
        put(t, "%.9g", (double)f);
    else if (type == T_F64)
        put(t, "%.17g", g);
    else if (type == T_PRED)
        put(t, "%s", bits == 0 ? "false" : bits == LANES_ALL ? "true" : "lanes");
    else if (type_class(type) == 's')
        put(t, "%" PRId64, (int64_t)(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    else
        put(t, "%" PRIu64, bits);
}

/* Prints an operand. Registers of one size share a letter; the number is the byte offset in the bank divided by the
 * register's size. */
static void put_operand(struct line *t, opnd_t o, enum type type, unsigned bytes) {
    const uint32_t offset = o >> 1;
    if (o & 1)
        put_constant(t, offset, type);
    else if (o == OPND_SINK)
        put(t, "_");
    else if (bytes == 0)
        put(t, "p%u", offset / (unsigned)sizeof(rowmask_t));
    else
        put(t, "%c%u",
            bytes == 1   ? 'b'
            : bytes == 2 ? 'h'
            : bytes == 4 ? 'r'
            : bytes == 8 ? 'd'
                         : 'q',
            offset / (bytes * WARP_LANES));
}

static void put_listed(struct line *t, opnd_t o, enum type type, unsigned bytes) {
    comma(t);
    put_operand(t, o, type, bytes);
}

/* Prints `single`, or the vector {lists[from], ...}. */
static void put_vector(struct line *t, const struct inst *in, opnd_t single, uint32_t from, uint32_t n,
                       enum type type) {
    if (n == 0) {
        put_listed(t, single, type, in->rsize);
        return;
    }
    comma(t);
    for (uint32_t i = 0; i < n; i++) {
        put(t, i ? ", " : "{");
        put_operand(t, t->p->lists[from + i], type, in->rsize);
    }
    put(t, "}");
}

static void put_address(struct line *t, const struct inst *in) {
    comma(t);
    put(t, "[");
    if (in->hints & HINT_DEQ && in->a != OPND_SINK && in->a == t->p->deq_address)
        put(t, in->kind == K_LOAD ? "deq.data" : "deq.addr");
    else
        put_operand(t, in->a, in->asize == 4 ? T_U32 : T_U64, in->asize);
    if (in->imm)
        put(t, "%+" PRId64, in->imm);
    put(t, "]");
}

static void put_memory(struct line *t, const struct inst *in, const struct isa_row *row) {
    const enum type type = row->types[0];
    if (in->kind == K_LOAD) {
        put_vector(t, in, in->d, in->list, in->n_list, type);
        put_address(t, in);
    } else if (in->kind == K_STORE) {
        put_address(t, in);
        put_vector(t, in, in->b, in->list, in->n_list, type);
    } else if (in->kind == K_ATOM) {
        const uint32_t n = in->n_list / 2;
        if (n || in->d != OPND_SINK)
            put_vector(t, in, in->d, in->list, n, type);
        put_address(t, in);
        if (row->op == OP_CP)
            return;
        put_vector(t, in, in->b, in->list + n, n, type);
        if (form_get(row->form, CAT_OPN) == OPN_CAS)
            put_listed(t, in->c, type, in->rsize);
    } else if (in->kind == K_COPY) {
        comma(t);
        put(t, "[");
        put_operand(t, in->b, in->rsize == 4 ? T_U32 : T_U64, in->rsize);
        put(t, in->e == OPND_ZERO ? "]" : "+");
        if (in->e != OPND_ZERO) {
            put_operand(t, in->e, T_S64, 8);
            put(t, "]");
        }
        put_address(t, in);
        put(t, ", %u", in->msize);
        put_listed(t, in->c, in->dsize ? T_U32 : T_PRED, in->dsize);
    } else {
        put_address(t, in);
    }
}

/* Prints the operands of a bulk instruction, without constants of 0. */
static void put_bulk(struct line *t, const struct inst *in) {
    for (unsigned i = 0; i < in->n_list; i++) {
        const opnd_t o = t->p->lists[in->list + i];
        if (o != OPND_ZERO)
            put_listed(t, o, T_B64, control_register_bytes(t->p, o >> 1));
    }
}

static void put_by_type(struct line *t, const struct inst *in, const struct isa_row *row) {
    const bool cvt = in->kind == K_CVT;
    if (row->op == OP_BULK) {
        put_bulk(t, in);
        return;
    }
    if (row->op == OP_BULK_WAIT) {
        comma(t);
        put(t, "%" PRId64, in->imm);
        return;
    }
    if (in->kind == K_WARP && in->n_list) { /* mma: a vector of all destinations, and a vector of all sources */
        const enum type type = in->rsize == 8 ? T_B64 : T_B32;
        put_vector(t, in, OPND_SINK, in->list, in->msize, type);
        if (in->n_list > in->msize)
            put_vector(t, in, OPND_SINK, in->list + in->msize, in->n_list - in->msize, type);
    }
    if (row->d != T_NONE)
        put_listed(t, in->d, row->d, cvt ? in->rsize : type_bytes(row->d));
    if (row->d2 != T_NONE && !(row->d2_optional && in->d2 == OPND_SINK))
        put_listed(t, in->d2, row->d2, type_bytes(row->d2));
    const uint8_t types[] = {row->a, row->b, row->c, row->e};
    const opnd_t sources[] = {in->a, in->b, in->c, in->e};
    for (int i = 0; i < 4; i++) {
        if (i == 3 && row->op == OP_LOP3 && row->kind == K_WARP)
            put(t, ", 0x%02x", (unsigned)in->imm & 0xff);
        if (types[i] != T_NONE)
            put_listed(t, sources[i], types[i], cvt && i == 0 ? in->asize : type_bytes(types[i]));
    }
}

/* Prints the row's mnemonic, completed by the instruction's state space and vector size if the row does not fix
 * them. */
static void put_opcode(struct line *t, const struct inst *in, const struct isa_row *row) {
    char name[128];
    isa_row_name(row, name, sizeof name);
    const size_t mnemonic = strlen(isa_ops[row->op].mnemonic);
    const bool memory = in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM || in->kind == K_PREFETCH;
    put(t, "%.*s", (int)mnemonic, name);
    if (memory && in->space != SPACE_GENERIC && form_get(row->form, CAT_SPACE) == 0)
        put(t, ".%s", space_name(in->space));
    if (memory && in->n_list && form_get(row->form, CAT_VEC) == 0 && form_get(row->form, CAT_NUM) == 0)
        put(t, ".v%u", in->kind == K_ATOM ? in->n_list / 2 : in->n_list);
    put(t, "%s", name + mnemonic);
}

static void put_compound_text(void *ctx, const char *s) { put(ctx, "%s", s); }

static void put_compound_operand(void *ctx, opnd_t o, enum type type) { put_operand(ctx, o, type, type_bytes(type)); }

static void put_compound(struct line *t, const struct inst *in) {
    if ((uint64_t)in->imm >= t->p->n_compounds)
        return;
    const struct program_compound *c = compound_of(t->p, in);
    const struct compound_printer p = {put_compound_text, put_compound_operand, t->p->lists + in->list, t};
    put(t, "%s", c->ops->name);
    c->ops->print(&p, in, c->what);
}

void program_print_inst(const struct program *p, uint32_t pc, char *out, size_t size) {
    const struct inst *in = &p->code[pc];
    struct line t = {out, size, 0, p, false};
    uint32_t n_rows;
    const struct isa_row *rows = isa_rows(&n_rows);
    if (in->guard != NO_GUARD && in->hints & HINT_DEQ && in->guard == p->deq_predicate)
        put(&t, "@%sdeq.pred ", in->guard_not ? "!" : "");
    else if (in->guard != NO_GUARD)
        put(&t, "@%sp%u ", in->guard_not ? "!" : "", in->guard / (unsigned)sizeof(rowmask_t));
    if (in->row >= n_rows) {
        put(&t, "?");
        return;
    }
    if (in->kind != K_COMPOUND)
        put_opcode(&t, in, &rows[in->row]);
    switch ((enum inst_kind)in->kind) {
    case K_LOAD:
    case K_STORE:
    case K_ATOM:
    case K_PREFETCH:
    case K_COPY:
    case K_ENQ_DATA:
    case K_ENQ_ADDR:
        put_memory(&t, in, &rows[in->row]);
        break;
    case K_COMPOUND:
        put_compound(&t, in);
        break;
    case K_BRANCH:
        put(&t, in->target == PC_EXIT ? " exit" : " %u", in->target);
        break;
    case K_BSSY:
        put(&t, " %u, %u", in->rpc, in->target);
        break;
    case K_COLLECT:
        if (in->imm >= 0)
            put(&t, " %" PRId64, in->imm);
        break;
    case K_BSYNC:
    case K_BREAK:
        put(&t, " %" PRId64, in->imm);
        if (in->msize)
            put(&t, ", %u", in->msize);
        break;
    default:
        put_by_type(&t, in, &rows[in->row]);
    }
}
