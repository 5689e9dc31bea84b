/* Operations on the program under construction: registers, constants, properties of instructions. */
#include "ir.h"
#include "isa/arith.h"
#include "isa/compound.h"
#include <stdarg.h>
#include <string.h>

void *ir_grow(struct arena *a, void *array, uint32_t n, uint32_t *cap, size_t size) {
    uint64_t cap_new = *cap ? (uint64_t)*cap * 2 : 64;
    while (cap_new <= n)
        cap_new *= 2;
    if (cap_new > UINT32_MAX)
        cap_new = UINT32_MAX;
    void *bigger = arena_array(a, cap_new, size);
    if (*cap)
        memcpy(bigger, array, (size_t)*cap * size);
    *cap = (uint32_t)cap_new;
    return bigger;
}

unsigned class_bytes(enum reg_class cls) {
    static const uint8_t bytes[N_REG_CLASSES] = {0, 1, 2, 4, 8, 16};
    return bytes[cls];
}

enum reg_class class_of_bytes(unsigned bytes) {
    switch (bytes) {
    case 0:
        return RC_PRED;
    case 1:
        return RC_8;
    case 2:
        return RC_16;
    case 4:
        return RC_32;
    case 8:
        return RC_64;
    default:
        return RC_128;
    }
}

unsigned class_words(enum reg_class cls) {
    static const uint8_t words[N_REG_CLASSES] = {0, 1, 1, 1, 2, 4};
    return words[cls];
}

unsigned vreg_words(const struct vreg *v) { return v->special || v->uniform ? 0 : class_words((enum reg_class)v->cls); }

unsigned class_slot_bytes(enum reg_class cls) { return cls == RC_PRED ? 4 : WARP_LANES * class_bytes(cls); }

uint32_t ir_vreg(struct ir *ir, enum reg_class cls, uint32_t function, const char *name, uint32_t name_len) {
    ir->vregs = IR_ROOM(ir, ir->vregs, ir->n_vregs, ir->cap_vregs);
    ir->vregs[ir->n_vregs] =
        (struct vreg){.cls = (uint8_t)cls, .function = function, .name = name, .name_len = name_len};
    return ir->n_vregs++;
}

struct constant_key {
    uint64_t bits, high;
    uint32_t offset; /* 0: free */
    uint8_t cls;
};

static uint32_t constant_hash(enum reg_class cls, uint64_t bits, uint64_t high) {
    uint64_t h = (bits + (uint64_t)cls * 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;
    h = (h ^ (h >> 32) ^ high) * 0xc4ceb9fe1a85ec53ull;
    return (uint32_t)(h >> 32);
}

static struct constant_key *constant_find(struct constant_key *keys, uint32_t cap, enum reg_class cls, uint64_t bits,
                                          uint64_t high) {
    uint32_t i = constant_hash(cls, bits, high) & (cap - 1);
    while (keys[i].offset && !(keys[i].cls == cls && keys[i].bits == bits && keys[i].high == high))
        i = (i + 1) & (cap - 1);
    return &keys[i];
}

static void constant_rehash(struct ir *ir) {
    uint32_t cap = ir->cap_constant_keys ? ir->cap_constant_keys * 2 : 64;
    struct constant_key *keys = arena_array(ir->tmp, cap, sizeof *keys);
    for (uint32_t i = 0; i < ir->cap_constant_keys; i++) {
        struct constant_key *k = &ir->constant_keys[i];
        if (k->offset)
            *constant_find(keys, cap, k->cls, k->bits, k->high) = *k;
    }
    ir->constant_keys = keys;
    ir->cap_constant_keys = cap;
}

/* Extends the constants by `bytes` zeroed bytes and returns the new part. */
static unsigned char *constant_room(struct ir *ir, uint32_t bytes) {
    uint64_t need = (uint64_t)ir->constant_bytes + bytes;
    if (need > ir->cap_constants) {
        uint64_t cap = need * 2;
        if (cap > UINT32_MAX / 2)
            cap = UINT32_MAX / 2;
        unsigned char *bigger = arena_array(ir->tmp, cap < need ? SIZE_MAX : cap, 1);
        if (ir->constant_bytes)
            memcpy(bigger, ir->constants, ir->constant_bytes);
        ir->constants = bigger;
        ir->cap_constants = (uint32_t)cap;
    }
    ir->constant_bytes = (uint32_t)need;
    return ir->constants + need - bytes;
}

void ir_list_add(struct ir *ir, opnd_t o) {
    ir->lists = IR_ROOM(ir, ir->lists, ir->n_lists, ir->cap_lists);
    ir->lists[ir->n_lists++] = o;
}

opnd_t ir_constant(struct ir *ir, enum reg_class cls, uint64_t bits, uint64_t high) {
    unsigned bytes = class_bytes(cls);
    if (bytes && bytes < 8)
        bits &= (1ull << (8 * bytes)) - 1;
    if (ir->constant_bytes == 0)
        constant_room(ir, ZERO_BYTES);
    if (bits == 0 && high == 0)
        return OPND_ZERO;
    if (ir->n_constant_keys * 2 >= ir->cap_constant_keys)
        constant_rehash(ir);
    struct constant_key *k = constant_find(ir->constant_keys, ir->cap_constant_keys, cls, bits, high);
    if (!k->offset) {
        uint32_t slot = class_slot_bytes(cls);
        unsigned char *to = constant_room(ir, (uint32_t)round_up(slot, 64));
        *k = (struct constant_key){bits, high, (uint32_t)(to - ir->constants), (uint8_t)cls};
        ir->n_constant_keys++;
        if (cls == RC_PRED)
            memset(to, 0xff, slot);
        for (unsigned lane = 0; bytes && lane < WARP_LANES; lane++) {
            uint64_t value[2] = {bits, high};
            memcpy(to + lane * bytes, value, bytes);
        }
    }
    return k->offset << 1 | 1;
}

unsigned inst_list_writes(const struct inst *in) {
    switch (in->kind) {
    case K_LOAD:
        return in->n_list;
    case K_ATOM:
        return in->n_list / 2u;
    case K_TEX:  /* isa/exec/exec_tex.h */
    case K_WARP: /* mma */
        return in->msize;
    default:
        return 0;
    }
}

void ir_operands(const struct ir *ir, struct inst *in, operand_fn *fn, void *ctx) {
    if (in->guard != NO_GUARD) {
        opnd_t guard = in->guard << 1;
        fn(ctx, &guard, OPERAND_GUARD);
        in->guard = guard >> 1;
    }
    fn(ctx, &in->d, OPERAND_WRITE);
    fn(ctx, &in->d2, OPERAND_WRITE);
    fn(ctx, &in->a, OPERAND_READ);
    fn(ctx, &in->b, OPERAND_READ);
    fn(ctx, &in->c, OPERAND_READ);
    fn(ctx, &in->e, OPERAND_READ);
    for (unsigned i = 0; i < in->n_list; i++)
        fn(ctx, &ir->lists[in->list + i], i < inst_list_writes(in) ? OPERAND_WRITE : OPERAND_READ);
}

struct finder {
    const struct ir *ir;
    struct inst_regs *out;
};

static void find_operand(void *ctx, opnd_t *o, enum operand_role role) {
    const struct finder *f = ctx;
    struct inst_regs *r = f->out;
    uint32_t v = *o >> 1;
    if ((*o & 1) || v == SINK_VREG || r->n_reads + r->n_writes == MAX_INST_REGS)
        return;
    if (role == OPERAND_WRITE) {
        r->writes[r->n_writes++] = v;
        return;
    }
    for (unsigned i = 0; i < r->n_reads; i++)
        if (r->reads[i] == v)
            return;
    if (!f->ir->vregs[v].special)
        r->reads[r->n_reads++] = v;
}

void ir_find_regs(const struct ir *ir, struct inst *in, struct inst_regs *out) {
    struct finder f = {ir, out};
    out->n_reads = out->n_writes = 0;
    ir_operands(ir, in, find_operand, &f);
}

void ir_note_regs(struct ir *ir, uint32_t inst) {
    struct inst_info *info = &ir->info[inst];
    struct inst_regs r;
    ir_find_regs(ir, &ir->code[inst], &r);
    uint32_t n = r.n_reads + r.n_writes;
    info->regs = ir->n_regs;
    info->n_reads = (uint8_t)r.n_reads;
    info->n_writes = (uint8_t)r.n_writes;
    if (!n)
        return; /* returns before memcpy(), because ir->regs may be NULL */
    while (ir->n_regs + n > ir->cap_regs)
        ir->regs = ir_grow(ir->tmp, ir->regs, ir->n_regs + n, &ir->cap_regs, sizeof *ir->regs);
    memcpy(ir->regs + ir->n_regs, r.reads, r.n_reads * sizeof *r.reads);
    memcpy(ir->regs + ir->n_regs + r.n_reads, r.writes, r.n_writes * sizeof *r.writes);
    ir->n_regs += n;
}

void inst_set_row(struct inst *in, const struct isa_row *row) {
    in->row = isa_row_index(row);
    in->kind = row->kind;
    in->latency = row->latency;
    in->dsize = (uint8_t)type_bytes(row->d);
    in->d2size = (uint8_t)type_bytes(row->d2);
    memcpy(&in->fn, &row->fn, sizeof in->fn);
}

uint32_t ir_special(struct ir *ir, enum special s, bool wide) {
    const uint16_t bytes = wide ? 8 : 4;
    for (uint32_t i = 0; i < ir->n_specials; i++)
        if (ir->specials[i].id == s && ir->specials[i].bytes == bytes)
            return ir->specials[i].offset;
    const uint32_t v = ir_vreg(ir, wide ? RC_64 : RC_32, 0, special_name(s), (uint32_t)strlen(special_name(s)));
    ir->vregs[v].special = true;
    ir->specials = IR_ROOM(ir, ir->specials, ir->n_specials, ir->cap_specials);
    ir->specials[ir->n_specials++] = (struct special_init){.id = (uint16_t)s, .bytes = bytes, .offset = v};
    return v;
}

struct inst inst_of_row(const struct isa_row *row) {
    struct inst in = {.a = OPND_ZERO, .b = OPND_ZERO, .c = OPND_ZERO, .e = OPND_ZERO, .guard = NO_GUARD};
    inst_set_row(&in, row);
    return in;
}

struct inst ir_compound(struct ir *ir, const struct program_compound *c) {
    struct inst in = inst_of_row(isa_find_row(OP_COMPOUND, T_NONE, T_NONE, 0));
    in.fn.warp = c->ops->execute;
    in.latency = (uint8_t)c->ops->latency;
    in.dsize = in.rsize = 4;
    ir->compounds = IR_ROOM(ir, ir->compounds, ir->n_compounds, ir->cap_compounds);
    in.imm = ir->n_compounds;
    ir->compounds[ir->n_compounds++] = *c;
    return in;
}

const struct program_compound *ir_compound_of(const struct ir *ir, const struct inst *in) {
    return in->kind == K_COMPOUND ? &ir->compounds[in->imm] : NULL;
}

bool ir_is_lane_wise(const struct ir *ir, const struct inst *in) {
    const struct program_compound *c = ir_compound_of(ir, in);
    return c && compound_is_lane_wise(c);
}

bool inst_never_falls_through(const struct inst *in) {
    if (in->guard != NO_GUARD)
        return false;
    return in->kind == K_BRANCH || in->kind == K_BRX || in->kind == K_RET || in->kind == K_EXIT || in->kind == K_TRAP;
}

/* Returns true for a wgmma that adds to its destination, which it therefore reads, too. The accumulators are in the
 * list of the instruction only once, as destinations. */
static bool accumulates(const struct inst *in) {
    uint32_t n;
    return in->kind == K_WARP && in->n_list && in->c != OPND_ZERO && isa_rows(&n)[in->row].op == OP_WGMMA;
}

bool inst_writes_all(const struct ir *ir, uint32_t i) {
    const struct inst *in = &ir->code[i];
    const struct program_compound *c = ir_compound_of(ir, in);
    return (in->guard == NO_GUARD || ir->info[i].others_dead) && !(c && c->selects && in->d2 != OPND_SINK) &&
           !accumulates(in);
}

bool inst_keeps_sources(const struct ir *ir, const struct inst *in, const struct inst_info *info) {
    if (in->kind == K_LOAD)
        return false;
    /* a lane-wise instruction computes all its results before it writes the first one, so a result may have a source's
     * register */
    if (ir_is_lane_wise(ir, in))
        return false;
    return in->kind != K_LANE || info->n_writes > 1;
}

void ir_count(struct ir *ir, const char *name, double more) {
    for (uint32_t i = 0; i < ir->n_counts; i++)
        if (strcmp(ir->counts[i].name, name) == 0) {
            ir->counts[i].value += more;
            return;
        }
    ir->counts = IR_ROOM(ir, ir->counts, ir->n_counts, ir->cap_counts);
    ir->counts[ir->n_counts++] = (struct program_count){name, more};
}

uint32_t *ir_add_fact(struct ir *ir, const char *name) {
    uint32_t *of_block = arena_array(ir->keep, (size_t)ir->n_blocks + 1, sizeof *of_block);
    ir->facts = IR_ROOM(ir, ir->facts, ir->n_facts, ir->cap_facts);
    ir->facts[ir->n_facts++] = (struct program_fact){name, of_block};
    return of_block;
}

void ir_note(struct ir *ir, uint32_t inst, const char *fmt, ...) {
    char text[256];
    va_list args;
    if (!ir->noting)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ir->notes = IR_ROOM(ir, ir->notes, ir->n_notes, ir->cap_notes);
    ir->notes[ir->n_notes++] = (struct ir_note){ir->info[inst].line, arena_strndup(ir->tmp, text, strlen(text))};
}

uint32_t ir_add_stream(struct ir *ir, uint32_t function, const char *name) {
    ir->streams = IR_ROOM(ir, ir->streams, ir->n_streams, ir->cap_streams);
    ir->streams[ir->n_streams++] = (struct ir_stream){arena_strndup(ir->keep, name, strlen(name)), function};
    return ir->n_streams; /* stream 0 is the kernel */
}

uint16_t ir_add_site(struct ir *ir, enum site_kind kind, uint32_t line) {
    ir->sites = IR_ROOM(ir, ir->sites, ir->n_sites, ir->cap_sites);
    ir->sites[ir->n_sites++] =
        (struct program_site){.enq_pc = NO_INST, .deq_pc = NO_INST, .line = line, .kind = (uint8_t)kind};
    return (uint16_t)ir->n_sites;
}

void ir_mark_callers(const struct ir *ir, unsigned char *flags) {
    for (bool fresh = true; fresh;) {
        fresh = false;
        for (uint32_t c = 0; c < ir->n_calls; c++) {
            const struct ir_call *call = &ir->calls[c];
            if (call->inst != NO_INST && call->callee < ir->n_functions && flags[call->callee] &&
                !flags[call->caller]) {
                flags[call->caller] = 1;
                fresh = true;
            }
        }
    }
}
