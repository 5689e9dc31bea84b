#include "control_table.h"
#include "isa/control_uses.h"
#include "isa/decode.h"
#include "isa/expansions.h"
#include <ctype.h>
#include <stdio.h>

static struct control_timing fixed(enum control_unit unit, unsigned latency) {
    return (struct control_timing){(uint8_t)unit, (uint8_t)latency, CONTROL_GUARD_LATENCY, false};
}
static const struct control_timing queued = {.unit = CONTROL_QUEUED}, flow = {.unit = CONTROL_FLOW};

/* Returns the timing of a conversion. The integer unit executes it if no 64-bit float is involved and no float becomes
 * an integer. */
static struct control_timing conversion(const struct isa_row *row) {
    enum type d = row->d, s = row->a;
    bool from_float = type_class(s) == 'f', to_float = type_class(d) == 'f';
    unsigned to_integral = form_get(row->form, CAT_RND);
    if (from_float ? !to_float || type_bytes(s) == 8 || type_bytes(d) == 8
                   : to_float && (d != T_F32 || type_bytes(s) > 4))
        return queued;
    if (from_float && to_integral >= RND_RNI && to_integral <= RND_RPI)
        return queued;
    return fixed(CONTROL_ALU, !from_float && type_bytes(d) < 8 ? 4 : 5);
}

/* Returns the timing of an instruction of latency class INT_OTHER: logic, shifts, moves, selections, comparisons. */
static struct control_timing other(const struct isa_row *row) {
    unsigned bytes = type_bytes(row->a) > type_bytes(row->d) ? type_bytes(row->a) : type_bytes(row->d);
    bool wide = bytes >= 8;
    struct control_timing t = fixed(CONTROL_ALU, wide ? 5 : 4);
    switch (row->op) {
    case OP_POPC:
    case OP_CLZ:
    case OP_BREV:
    case OP_BFIND:
    case OP_FNS:
        return queued;
    case OP_BFE:
    case OP_BFI:
        t.latency = wide ? CONTROL_MAX_STALL : 8;
        break;
    case OP_SHL:
    case OP_SHR:
        t.latency = wide ? 6 : 4;
        break;
    case OP_SETP:
    case OP_SET:
        if (row->a == T_F64)
            return queued;
        t.latency = wide ? 8 : 4;
        t.guard = wide ? CONTROL_MAX_STALL : CONTROL_GUARD_LATENCY;
        break;
    default:
        break;
    }
    return t;
}

static struct control_timing lane_timing(const struct inst *in, const struct isa_row *row) {
    bool wide = type_bytes(row->d) == 8 || type_bytes(row->a) == 8;
    unsigned part = form_get(row->form, CAT_PART);
    switch (in->latency) {
    case LAT_INT_ADD:
        return fixed(CONTROL_ALU, wide ? 6 : 4);
    case LAT_INT_MINMAX:
        return fixed(CONTROL_ALU, wide ? 13 : 4);
    case LAT_F32_MINMAX:
        return fixed(CONTROL_ALU, 4);
    case LAT_INT_MUL:
    case LAT_INT_MAD:
        if (type_bytes(row->a) == 8)
            return part == PART_HI ? queued : fixed(CONTROL_FMA, CONTROL_MAX_STALL);
        /* both halves of a product: an instruction of 32 bits reads either of them after 4 cycles */
        return fixed(CONTROL_FMA, row->op != OP_HALVES && (wide || part == PART_HI) ? 6 : 4);
    case LAT_F32_ADD:
    case LAT_F32_MUL:
    case LAT_F32_FMA:
        return fixed(CONTROL_FMA, 4);
    case LAT_F16:
        return fixed(CONTROL_FMA, 5);
    case LAT_INT_OTHER:
        return other(row);
    default:
        return queued;
    }
}

/* Returns the latency that the table below assumes for 32-bit instructions of a class with a fixed latency, or 0 for
 * other classes. The preset `ampere` has the same values. */
static unsigned usual_latency(enum latency_class c) {
    switch (c) {
    case LAT_INT_ADD:
    case LAT_INT_MINMAX:
    case LAT_INT_MUL:
    case LAT_INT_MAD:
    case LAT_INT_OTHER:
    case LAT_F32_ADD:
    case LAT_F32_MINMAX:
    case LAT_F32_MUL:
    case LAT_F32_FMA:
        return 4;
    case LAT_F16:
        return 5;
    default:
        return 0;
    }
}

void control_latencies_read(struct control_latencies *l, const struct pass_context *context) {
    for (int c = 0; c < N_LATENCIES; c++) {
        char key[48];
        const unsigned usual = usual_latency((enum latency_class)c);
        int n = snprintf(key, sizeof key, "latency.%s", latency_name((enum latency_class)c));
        for (int k = 0; k < n; k++)
            key[k] = (char)tolower((unsigned char)key[k]);
        l->more[c] = usual ? (int)pass_option(context, key, usual) - (int)usual : 0;
    }
    l->guard = (int)pass_option(context, "core.guard_latency", CONTROL_GUARD_LATENCY) - CONTROL_GUARD_LATENCY;
}

/* Adapts a fixed latency to the machine. If no stall count is large enough, the instruction raises a counter, which
 * falls after latency.* cycles. `predicate`: the result is a predicate. */
static struct control_timing on_machine(const struct control_latencies *l, struct control_timing t, int more,
                                        bool predicate) {
    if (t.guard == CONTROL_GUARD_LATENCY)
        t.guard = (uint8_t)(t.guard + l->guard);
    if (!more || (t.unit != CONTROL_ALU && t.unit != CONTROL_FMA))
        return t;
    const int latency = t.latency + more, guard = t.guard + more;
    if (latency >= CONTROL_MAX_STALL || /* a consumer in another unit needs a cycle more */
        (predicate && guard > CONTROL_MAX_STALL))
        return queued;
    t.latency = (uint8_t)(latency > 1 ? latency : 1);
    if (predicate)
        t.guard = (uint8_t)(guard > 1 ? guard : 1);
    return t;
}

bool control_converts_apart(const struct isa_row *row) {
    return row->op == OP_CVT && conversion(row).unit == CONTROL_QUEUED;
}

static struct control_timing usual_timing(const struct inst *in, const struct isa_row *row) {
    switch (in->kind) {
    case K_LANE:
        return lane_timing(in, row);
    case K_CVT:
        return in->latency == LAT_INT_OTHER || in->latency == LAT_F16 ? conversion(row) : queued;
    case K_WARP:
        return row->op == OP_VOTE || row->op == OP_ACTIVEMASK || row->op == OP_LOP3 ? fixed(CONTROL_ALU, 4) : queued;
    case K_LOAD:
    case K_STORE:
    case K_ATOM:
    case K_TEX:
    case K_PREFETCH:
    case K_COPY:
    case K_COMPOUND:
    case K_ENQ_DATA:
    case K_ENQ_ADDR:
    case K_ENQ_PRED:
        return queued;
    case K_BARRIER:
        return in->d == OPND_SINK ? flow : queued;
    default:
        return flow;
    }
}

/* Returns the timing of a machine instruction of an expansion. */
static struct control_timing step_timing(const struct expansion_step *step) {
    switch (machine_class_of(step->latency)) {
    case MACHINE_ALU:
        return fixed(CONTROL_ALU, 4);
    case MACHINE_FMA:
        return fixed(CONTROL_FMA, 4);
    default:
        return queued;
    }
}

/* Returns the timing of an expansion: that of its last machine instruction, which writes the result. */
static struct control_timing expansion_timing(const struct control_latencies *l, uint8_t expansion, bool predicate) {
    const struct expansion_step *last = expansion_last(expansion);
    struct control_timing t = on_machine(l, step_timing(last), l->more[last->latency], predicate);
    t.mixed = step_timing(expansion_of(expansion)->step).unit != t.unit;
    return t;
}

struct control_timing control_timing_of(const struct control_latencies *l, const struct inst *in, uint8_t expansion) {
    uint32_t n;
    const struct isa_row *row = &isa_rows(&n)[in->row];
    if (expansion)
        return expansion_timing(l, expansion, row->d == T_PRED);
    return on_machine(l, usual_timing(in, row), l->more[in->latency], row->d == T_PRED);
}

/* Returns the cycles from a machine instruction of an expansion to the next one. */
static unsigned step_cycles(const struct control_latencies *l, const struct expansion_step *s) {
    const struct control_timing t = on_machine(l, step_timing(s), l->more[s->latency], false);
    return s->gap ? s->gap : t.unit == CONTROL_QUEUED ? QUEUED_LATENCY : t.latency;
}

struct control_timing control_uniform_timing(void) {
    return fixed(CONTROL_UNIFORM, UNIFORM_LATENCY);
}

unsigned control_expansion_cycles(const struct control_latencies *l, uint8_t expansion) {
    unsigned cycles = 0;
    if (!expansion)
        return 0;
    const struct expansion_step *last = expansion_last(expansion);
    for (const struct expansion_step *s = expansion_of(expansion)->step; s <= last; s++)
        cycles += (s->count - (s == last)) * step_cycles(l, s);
    return cycles;
}
