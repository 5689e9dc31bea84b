/* Makes a valid statement for any opcode. The types determine the registers, and the state space determines the
 * addresses. */
#include "test/opcode_text.h"
#include "test/test.h"
#include <stdio.h>

/* Writes the name of register number i of type t. The type selects the family of registers: %p, %h, %r, %d, %q, %f, %g
 * or %b. */
const char *opcode_register(enum type t, int i, char out[16]) {
    unsigned bytes = type_bytes(t);
    const char *family = t == T_PRED ? "%p" : bytes <= 2 ? "%h" : bytes == 4 ? "%r" : bytes == 8 ? "%d" : "%q";
    if (t == T_F32 || t == T_F64 || t == T_E2M1X2)
        family = t == T_F32 ? "%f" : t == T_F64 ? "%g" : "%b";
    snprintf(out, 16, "%s%d", family, i);
    return out;
}

struct line {
    char *at;
    size_t len, size;
};
static void add(struct line *l, const char *text) {
    l->len += (size_t)snprintf(l->at + l->len, l->size - l->len, "%s", text);
    ck_assert_uint_lt(l->len, l->size);
}
static void add_operand(struct line *l, const char *text) {
    add(l, l->at[l->len - 1] == ' ' ? "" : ", ");
    add(l, text);
}
static void add_reg(struct line *l, enum type t, int i) {
    char name[16];
    if (t != T_NONE)
        add_operand(l, opcode_register(t, i, name));
}

/* Appends `n` registers from number `first` on, in braces if n is more than 1. Elements of type b8 are in 16-bit
 * registers. */
static void add_vector(struct line *l, enum type t, int n, int first) {
    char name[16];
    if (n <= 1) {
        add_reg(l, t, first);
        return;
    }
    add_operand(l, "{");
    for (int i = 0; i < n; i++) {
        add(l, i ? ", " : "");
        add(l, opcode_register(t, first + i, name));
    }
    add(l, "}");
}

static void add_by_type(struct line *l, const struct isa_row *row, bool sync) {
    char name[16];
    add_reg(l, row->d, 1);
    if (row->d2 != T_NONE && !form_get(row->form, CAT_CC)) {
        add(l, "|");
        add(l, opcode_register(row->d2, 2, name));
    }
    if (row->op == OP_CVT && form_get(row->form, CAT_RND) == RND_RS && strstr(type_name(row->types[0]), "x4")) {
        add_vector(l, T_F32, 4, 3);
    } else {
        add_reg(l, row->a, 3);
        add_reg(l, row->b, 4);
    }
    add_reg(l, row->c, 5);
    bool carry = row->op == OP_ADDC || row->op == OP_SUBC || row->op == OP_MADC;
    bool mask = row->kind == K_WARP && row->optional_sources;
    if (row->op == OP_LOP3)
        add_operand(l, row->form ? "0x80, %p3" : "0x80");
    else if (!carry && (!mask || sync) && !(row->op >= OP_VABSDIFF && row->op <= OP_VSUB4))
        add_reg(l, row->e, 6);
}

/* Appends the operands of tex.geom and tld4: a handle, and the coordinates that the geometry needs. */
static void add_texture(struct line *l, const struct decoded *d) {
    static const int coordinates[] = {1, 1, 2, 3, 1, 2, 3, 3, 2, 2};
    unsigned geom = form_get(d->form, CAT_GEOM);
    bool array = geom == GEOM_A1D || geom == GEOM_A2D || geom == GEOM_ACUBE;
    enum type from = d->types[1] == T_NONE ? T_S32 : d->types[1];
    char name[16];
    int n = coordinates[geom];
    add_operand(l, "[image, {");
    if (array) {
        add(l, "%r5, ");
    }
    for (int i = 0; i < n; i++) {
        add(l, i ? ", " : "");
        add(l, opcode_register(from, 5 + i, name));
    }
    int padded = n + array > 2 ? 4 : n + array;
    for (int i = n + array; i < padded; i++) {
        add(l, ", ");
        add(l, opcode_register(from, 8, name));
    }
    add(l, "}]");
    if (form_get(d->form, CAT_LEVEL) == LEVEL_LEVEL)
        add_reg(l, from, 4);
    for (int k = 0; k < 2 && form_get(d->form, CAT_LEVEL) == LEVEL_GRAD; k++)
        add_operand(l, n == 1 ? "{%f1}" : n == 2 ? "{%f1, %f2}" : "{%f1, %f2, %f3, %f4}");
}

static void add_surface(struct line *l, const struct decoded *d, bool load) {
    static const char *const places[] = {
        "%r1", "%r1", "{%r1, %r2}", "{%r1, %r2, %r3, %r4}", "{%r1, %r2}", "{%r1, %r2, %r3, %r4}"};
    if (load)
        add_vector(l, d->types[0], d->vec, 1);
    add_operand(l, "[image, ");
    add(l, places[form_get(d->form, CAT_GEOM)]);
    add(l, "]");
    if (!load)
        add_vector(l, d->types[0], d->vec, 1);
}

static const char *address(const struct decoded *d) {
    return d->space == SPACE_SHARED ? "[s]" : d->space == SPACE_PARAM ? "[p]" : "[%d8]";
}

static void add_mbarrier(struct line *l, const struct isa_row *row) {
    unsigned mode = form_get(row->form, CAT_MODE);
    bool wait = mode == MODE_TEST_WAIT || mode == MODE_TRY_WAIT;
    if (mode == MODE_ARRIVE || mode == MODE_ARRIVE_DROP)
        add_operand(l, "%d1");
    if (wait)
        add_operand(l, "%p1");
    add_operand(l, "[s]");
    if (mode != MODE_INVAL)
        add_operand(l, wait && !form_get(row->form, CAT_MODE2) ? "%d2" : "%r2");
}

/* Returns the number of registers that a lane needs for a matrix of rows x columns elements of this type. For the
 * matrices a and b of a wmma instruction on f16, the number is always eight. */
static int fragment_registers(const struct isa_row *row, enum type t, int rows, int columns, bool factor) {
    int bytes = rows * columns * (int)type_bytes(t) / WARP_LANES,
        four = row->op == OP_MMA && t == T_F16 && columns == 4;
    if (t == T_F16 && factor && row->op == OP_WMMA)
        return 8;
    return bytes / (t == T_F64 ? 8 : 4) * (four ? 4 : 1);
}

static void add_fragment(struct line *l, const struct isa_row *row, char which, enum type t, int first) {
    static const struct {
        int m, n, k;
    } sizes[] = {
#define X(id, word, m, n, k) [MODE2_##id] = {m, n, k},
        ISA_SHAPES(X)
#undef X
    };
    const unsigned shape = form_get(row->form, CAT_MODE2);
    const bool factor = which == 'a' || which == 'b', old = row->op == OP_MMA && shape == MODE2_M8N8K4 && t != T_F64;
    int n = fragment_registers(row, t, which == 'b' ? sizes[shape].k : sizes[shape].m,
                               which == 'a' ? sizes[shape].k : sizes[shape].n, factor);
    if (old) /* mma.m8n8k4 computes four products in one instruction, so its fragments have these sizes */
        n = factor ? 2 : t == T_F16 ? 4 : 8;
    add_operand(l, "{");
    for (int i = 0; i < n; i++) {
        char name[16];
        add(l, i ? ", " : "");
        add(l, opcode_register(t == T_F64 || (t == T_F32 && !factor) ? t : T_B32, first + i, name));
    }
    add(l, "}");
}

static void add_matrices(struct line *l, const struct decoded *d, const char *at) {
    const struct isa_row *row = d->row;
    const enum type *t = d->types;
    const unsigned opn = form_get(row->form, CAT_OPN), mode = form_get(row->form, CAT_MODE);
    const unsigned num = form_get(row->form, CAT_NUM);
    const int tiles = num == NUM_X4 ? 4 : num == NUM_X2 ? 2 : 1;
    const bool of_f16 = d->n_types == 2;
    if (row->op == OP_MOVMATRIX) {
        add_operand(l, "%r1, %r3");
    } else if (row->op == OP_LDMATRIX || row->op == OP_STMATRIX) {
        if (row->op == OP_STMATRIX)
            add_operand(l, "[s]");
        add_operand(l, tiles == 1 ? "{%r1}" : tiles == 2 ? "{%r1, %r2}" : "{%r1, %r2, %r3, %r4}");
        if (row->op == OP_LDMATRIX)
            add_operand(l, "[s]");
    } else if (opn == OPN_LOAD) {
        add_fragment(l, row, mode == MODE_A ? 'a' : mode == MODE_B ? 'b' : 'c', t[0], 1);
        add_operand(l, at);
    } else if (opn == OPN_STORE) {
        add_operand(l, at);
        add_fragment(l, row, 'd', t[0], 1);
    } else {
        add_fragment(l, row, 'd', t[0], 1);
        add_fragment(l, row, 'a', of_f16 ? T_F16 : t[1], 2);
        add_fragment(l, row, 'b', of_f16 ? T_F16 : t[2], 3);
        add_fragment(l, row, 'c', of_f16 ? t[1] : t[3], 1);
    }
}

static void add_update(struct line *l, const struct decoded *d) {
    const struct isa_row *row = d->row;
    const enum type t = row->types[0];
    if (row->op == OP_MBARRIER) {
        add_mbarrier(l, row);
        return;
    }
    if (row->op == OP_CP) {
        add_operand(l, "[s]");
        return;
    }
    if (row->op == OP_ATOM)
        add_vector(l, t, d->vec, 1);
    add_operand(l, address(d));
    add_vector(l, t, d->vec, 5);
    if (form_get(row->form, CAT_OPN) == OPN_CAS)
        add_reg(l, t, 6);
}

static void add_image(struct line *l, const struct decoded *d) {
    const struct isa_row *row = d->row;
    const enum type t = row->types[0];
    if (row->op == OP_TEX || row->op == OP_TLD4) {
        add_vector(l, t, t == T_F16X2 ? 2 : 4, 1);
        add_texture(l, d);
    } else if (row->op == OP_TXQ || row->op == OP_SUQ) {
        add_operand(l, form_get(d->form, CAT_LEVEL) ? "%r1, [image], 1" : "%r1, [image]");
    } else {
        add_surface(l, d, row->op == OP_SULD);
    }
}

static void add_barrier(struct line *l, const struct isa_row *row) {
    if (form_get(row->form, CAT_MODE) == MODE_RED)
        add_operand(l, row->types[0] == T_U32 ? "%r1, 0, %p1" : "%p1, 0, %p2");
    else if (form_get(row->form, CAT_MODE2) != MODE2_CLUSTER)
        add_operand(l, form_get(row->form, CAT_MODE) == MODE_ARRIVE ? "1, 64" : "0");
}

/* Appends the operands that the instruction's kind needs. */
static void add_operands(struct line *l, const char *opcode, const struct decoded *d) {
    const struct isa_row *row = d->row;
    enum type t = row->types[0];
    bool policy = strstr(opcode, ".L2::cache_hint") != NULL;
    if (d->op->takes & TAKES_MATRIX) {
        add_matrices(l, d, address(d));
        return;
    }
    switch (row->kind) {
    case K_LOAD:
        add_vector(l, t, d->vec, 1);
        add_operand(l, address(d));
        break;
    case K_STORE:
        add_operand(l, d->space == SPACE_PARAM ? "[callee]" : address(d));
        add_vector(l, t, d->vec, 1);
        break;
    case K_ATOM:
        add_update(l, d);
        break;
    case K_COPY:
        add_operand(l, form_get(row->form, CAT_MODE2) == MODE2_CG ? "[s], [%d8], 16" : "[s], [%d8], 8, 4");
        break;
    case K_COLLECT:
        if (form_get(row->form, CAT_MODE2) == MODE2_WAIT_GROUP)
            add_operand(l, "1");
        break;
    case K_PREFETCH:
        add_operand(l, address(d));
        if (row->op == OP_APPLYPRIORITY || row->op == OP_DISCARD)
            add_operand(l, "128");
        break;
    case K_TEX:
        add_image(l, d);
        break;
    case K_BRANCH:
        add_operand(l, "END");
        break;
    case K_BRX:
        add_operand(l, "%r1, targets");
        break;
    case K_CALL:
        add_operand(l, "callee_function");
        break;
    case K_BARRIER:
        add_barrier(l, row);
        break;
    case K_WARPSYNC:
        add_operand(l, "0xffffffff");
        break;
    case K_LANE:
    case K_CVT:
    case K_WARP:
        if (row->op == OP_MOV && d->vec > 1) {
            add_vector(l, t, d->vec, 1);
            add_vector(l, t, d->vec, 1);
        } else {
            add_by_type(l, row, strstr(opcode, ".sync") != NULL);
        }
        break;
    default: /* no operands */
        if (row->op == OP_PMEVENT)
            add_operand(l, "1");
        if (row->op == OP_SETMAXNREG)
            add_operand(l, "64");
        if (row->op == OP_CREATEPOLICY)
            add_operand(l, "%d1");
    }
    if (policy)
        add_operand(l, "%d7");
}

const char *const opcode_module =
    ".func callee_function() { ret; }\n.const .align 64 .b8 constants[64] = {1, 2, 3, 4, 5, 6, 7, 8};\n";
const char *const opcode_registers =
    ".reg .pred %p<12>; .reg .b16 %h<13>; .reg .b32 %r<12>; .reg .b64 %d<12>; .reg .f32 %f<12>; .reg .f64 %g<12>; "
    ".reg .b128 %q<12>; .reg .b8 %b<12>;\n.shared .align 64 .b8 s[64]; .param .align 64 .b8 callee[64];\n"
    "targets: .branchtargets END;\n";

const char *opcode_image(const char *opcode) {
    return strncmp(opcode, "su", 2) == 0 && strncmp(opcode, "sub", 3) != 0 ? ".surfref" : ".texref";
}

void opcode_statement(const char *opcode, const struct decoded *d, char *out, size_t size) {
    struct line l = {.at = out, .size = size};
    add(&l, opcode);
    add(&l, " ");
    add_operands(&l, opcode, d);
}
