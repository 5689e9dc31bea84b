/* Says which instructions become several machine instructions of the modern core (isa/expansions.def), for the pass
 * `select` and for the passes that need the length of the code. */
#include "control_table.h"
#include "isa/expansions.h"
#include "pass.h"
#include "select.h"

static bool is_wide(const struct isa_row *row) { return type_bytes(row->a) == 8 || type_bytes(row->d) == 8; }
static bool is_integer(enum type t) { return t != T_NONE && type_class(t) != 'f'; }
static bool is_signed(enum type t) { return type_class(t) == 's'; }

static enum expansion_id division_by_constant(const struct isa_row *row) {
    if (row->op == OP_REM)
        return is_signed(row->d) ? EXPANSION_REM_S32_BY : EXPANSION_REM_U32_BY;
    return is_signed(row->d) ? EXPANSION_DIV_S32_BY : EXPANSION_DIV_U32_BY;
}

/* Returns the expansion of a division of f32. The reciprocal of a constant is a constant. */
static enum expansion_id division_f32(const struct inst *in, const struct isa_row *row) {
    const unsigned approx = form_get(row->form, CAT_APPROX), ftz = form_get(row->form, CAT_FTZ);
    if (approx == APPROX_NONE)
        return in->b & 1 ? EXPANSION_DIV_F32_BY : EXPANSION_DIV_F32;
    if (in->b & 1)
        return EXPANSION_SCALE;
    if (approx == APPROX_FULL)
        return ftz ? EXPANSION_DIV_APPROX : EXPANSION_DIV_FULL;
    return ftz ? EXPANSION_QUOTIENT : EXPANSION_DIV_APPROX;
}

static enum expansion_id division(const struct inst *in, const struct isa_row *row) {
    if (row->d == T_F64)
        return EXPANSION_DIV_F64;
    if (row->d == T_F32)
        return division_f32(in, row);
    if (type_bytes(row->d) == 8 && row->op == OP_REM)
        return is_signed(row->d) ? EXPANSION_REM_S64 : EXPANSION_REM_U64;
    if (type_bytes(row->d) == 8)
        return is_signed(row->d) ? EXPANSION_DIV_S64 : EXPANSION_DIV_U64;
    if (in->b & 1)
        return division_by_constant(row);
    if (row->op == OP_REM)
        return is_signed(row->d) ? EXPANSION_REM_S32 : EXPANSION_REM_U32;
    return is_signed(row->d) ? EXPANSION_DIV_S32 : EXPANSION_DIV_U32;
}

/* Returns the expansion of a function of one float, which the special function units approximate. With .ftz, the unit
 * alone computes an approximation; without, the operand is scaled, so that subnormal numbers are right. */
static enum expansion_id special_function(const struct isa_row *row) {
    const bool approximate = form_get(row->form, CAT_APPROX) != APPROX_NONE, ftz = form_get(row->form, CAT_FTZ);
    if (row->op == OP_SIN || row->op == OP_COS)
        return EXPANSION_SINE;
    if (row->d == T_F64 && row->op == OP_RSQRT)
        return ftz ? EXPANSION_NONE : EXPANSION_RSQRT_F64;
    if (row->d == T_F64)
        return approximate || ftz ? EXPANSION_NONE : row->op == OP_RCP ? EXPANSION_RCP_F64 : EXPANSION_SQRT_F64;
    if (row->d != T_F32 || (approximate && ftz))
        return EXPANSION_NONE;
    if (row->op == OP_RCP)
        return approximate ? EXPANSION_RCP_APPROX : EXPANSION_RCP_F32;
    return row->op == OP_SQRT && !approximate ? EXPANSION_SQRT_F32 : EXPANSION_SCALED;
}

/* Returns true if a factor is a constant of 32 bits, or the negative of one: its upper half needs no product. */
static bool is_short_factor(const struct ir *ir, opnd_t o) {
    const int64_t upper = o & 1 ? select_constant(ir, o, 8) >> 32 : 1;
    return upper == 0 || upper == -1;
}

static enum expansion_id product(const struct ir *ir, const struct inst *in, const struct isa_row *row) {
    if (type_bytes(row->a) != 8 || !is_integer(row->a))
        return EXPANSION_NONE;
    if (form_get(row->form, CAT_PART) != PART_HI)
        return is_short_factor(ir, in->a) || is_short_factor(ir, in->b) ? EXPANSION_MUL_64_BY : EXPANSION_MUL_64;
    return is_signed(row->a) ? EXPANSION_MULHI_S64 : EXPANSION_MULHI_U64;
}

/* Returns the expansion of a bit field at a known place. One instruction reads or inserts a field of 32 bits that
 * begins at bit 0 or consists of whole bytes. An inserted field may also extend from a byte to the end of the word. */
static enum expansion_id known_field(const struct ir *ir, const struct isa_row *row, opnd_t place, opnd_t length) {
    const unsigned at = select_constant(ir, place, 4) & 0xff, n = select_constant(ir, length, 4) & 0xff;
    const bool inserts = row->op == OP_BFI, ends = inserts ? at + n >= 32 : n >= 32;
    const bool bytes = at % 8 == 0 && (n % 8 == 0 || ends) && !is_signed(row->d);
    return type_bytes(row->d) == 4 && (!at || bytes || (ends && !inserts)) ? EXPANSION_FIELD_ONE : EXPANSION_FIELD;
}

static enum expansion_id bit_field(const struct ir *ir, const struct inst *in, const struct isa_row *row) {
    const opnd_t place = row->op == OP_BFI ? in->c : in->b, length = row->op == OP_BFI ? in->e : in->c;
    if (place & 1 && length & 1)
        return known_field(ir, row, place, length);
    return row->op == OP_BFI ? EXPANSION_INSERT_ANY : EXPANSION_FIELD_ANY;
}

/* Returns the expansion of an addition or subtraction. */
static enum expansion_id sum(const struct isa_row *row) {
    if (form_get(row->form, CAT_SAT) && row->d == T_S32)
        return EXPANSION_ADD_SAT;
    return is_wide(row) && is_integer(row->d) ? EXPANSION_ADD_64 : EXPANSION_NONE;
}

static enum expansion_id minimum(const struct isa_row *row) {
    if (row->d == T_F64)
        return EXPANSION_MIN_F64;
    return is_wide(row) && is_integer(row->d) ? EXPANSION_MINMAX_64 : EXPANSION_NONE;
}

static enum expansion_id expansion_for(const struct ir *ir, const struct inst *in, const struct isa_row *row) {
    if (control_converts_apart(row))
        return EXPANSION_CONVERT;
    if (in->kind != K_LANE)
        return EXPANSION_NONE;
    switch (row->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_NEG:
    case OP_ADD3:
    case OP_ADD_SUB:
    case OP_SUB_SUB:
        return sum(row);
    case OP_LEA:
        return EXPANSION_ADD_64;
    case OP_ABS:
        return is_wide(row) && is_integer(row->d) ? EXPANSION_ABS_64 : EXPANSION_NONE;
    case OP_MUL:
    case OP_MAD:
        return product(ir, in, row);
    case OP_DIV:
    case OP_REM:
        return division(in, row);
    case OP_RCP:
    case OP_SQRT:
    case OP_RSQRT:
    case OP_SIN:
    case OP_COS:
    case OP_LG2:
    case OP_EX2:
        return special_function(row);
    case OP_MIN:
    case OP_MAX:
        return minimum(row);
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_MOV:
    case OP_SELP:
    case OP_LOGIC3:
    case OP_SHL:
    case OP_SHR:
        return type_bytes(row->d) == 8 ? EXPANSION_PAIR : EXPANSION_NONE;
    case OP_SET:
    case OP_SETP:
        return type_bytes(row->a) == 8 && is_integer(row->a) ? EXPANSION_COMPARE_64 : EXPANSION_NONE;
    case OP_POPC:
        return type_bytes(row->a) == 8 ? EXPANSION_POPC_64 : EXPANSION_BITS;
    case OP_BREV:
        return type_bytes(row->a) == 8 ? EXPANSION_BREV_64 : EXPANSION_BITS;
    case OP_BFIND:
        return type_bytes(row->a) == 8 ? EXPANSION_NONE : EXPANSION_BITS;
    case OP_CLZ:
        return type_bytes(row->a) == 8 ? EXPANSION_CLZ_64 : EXPANSION_CLZ;
    case OP_MUL24:
    case OP_MAD24:
        return form_get(row->form, CAT_PART) == PART_LO ? EXPANSION_PRODUCT_24 : EXPANSION_NONE;
    case OP_CNOT:
        return type_bytes(row->d) == 4 ? EXPANSION_CNOT : EXPANSION_NONE;
    case OP_SLCT:
        return type_bytes(row->d) == 4 ? EXPANSION_CHOICE : EXPANSION_NONE;
    case OP_BFE:
    case OP_BFI:
        return bit_field(ir, in, row);
    default:
        return EXPANSION_NONE;
    }
}

bool selects(const struct ir *ir) { return pass_option(&ir->context, "core.select", 1) != 0; }

/* Returns true for a conversion of an integer to f32 on a machine whose special function units execute it. */
static bool converts_integer_apart(const struct ir *ir, const struct isa_row *row) {
    return row->op == OP_CVT && row->d == T_F32 && is_integer(row->a) &&
           pass_option(&ir->context, "core.convert_sfu", 0) != 0;
}

/* Returns true for a minimum or maximum of 32-bit integers on a machine that has none. */
static bool lacks_minimum(const struct ir *ir, const struct inst *in, const struct isa_row *row) {
    return (row->op == OP_MIN || row->op == OP_MAX) && in->kind == K_LANE && !row->form &&
           (row->d == T_S32 || row->d == T_U32) && !pass_option(&ir->context, "core.int_minmax", 1);
}

uint8_t select_expansion(const struct ir *ir, const struct inst *in) {
    const struct isa_row *row = select_row(in);
    if (!selects(ir))
        return EXPANSION_NONE;
    if (lacks_minimum(ir, in, row))
        return EXPANSION_MINMAX_32;
    return (uint8_t)(converts_integer_apart(ir, row) ? EXPANSION_CONVERT : expansion_for(ir, in, row));
}
