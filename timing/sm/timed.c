#include "timed.h"
#include "compound_timing.h"
#include "isa/compound.h"
#include "isa/control_uses.h"
#include "isa/decode.h"
#include "isa/expansions.h"
#include "isa/matrix.h"
#include "isa/paths/control.h"
#include "modern.h"
#include "modern_ports.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    uint8_t pipe, op;
} by_class[N_LATENCIES] = {
    [LAT_INT_ADD] = {PIPE_INT, CLASS_INT},
    [LAT_INT_MINMAX] = {PIPE_INT, CLASS_INT},
    [LAT_INT_MUL] = {PIPE_INT, CLASS_INT_MUL},
    [LAT_INT_MAD] = {PIPE_INT, CLASS_INT_MUL},
    [LAT_INT_DIV] = {PIPE_SFU, CLASS_INT_DIV},
    [LAT_INT_OTHER] = {PIPE_INT, CLASS_INT},
    [LAT_F32_ADD] = {PIPE_SP, CLASS_F32_ADD},
    [LAT_F32_MINMAX] = {PIPE_SP, CLASS_F32_MINMAX},
    [LAT_F32_MUL] = {PIPE_SP, CLASS_F32_MUL},
    [LAT_F32_FMA] = {PIPE_SP, CLASS_F32_FMA},
    [LAT_F32_DIV] = {PIPE_SFU, CLASS_F32_DIV},
    [LAT_F64_ADD] = {PIPE_DP, CLASS_F64},
    [LAT_F64_MINMAX] = {PIPE_DP, CLASS_F64},
    [LAT_F64_MUL] = {PIPE_DP, CLASS_F64},
    [LAT_F64_FMA] = {PIPE_DP, CLASS_F64},
    [LAT_F64_DIV] = {PIPE_DP, CLASS_F64_DIV},
    [LAT_F64_RCP] = {PIPE_DP, CLASS_F64_DIV},
    [LAT_F16] = {PIPE_SP, CLASS_F16},
    [LAT_SFU] = {PIPE_SFU, CLASS_SFU},
    [LAT_SHFL] = {PIPE_INT, CLASS_SHFL},
    [LAT_MMA] = {PIPE_DP, CLASS_MMA},
    [LAT_MEM] = {PIPE_MEM, CLASS_MEM},
    [LAT_CONTROL] = {PIPE_BRANCH, CLASS_CONTROL},
};

/* Returns the pipe that executes the instructions of `pipe`: the same pipe, or another pipe if this pipe has no
 * units. */
static uint8_t existing_pipe(const struct sm_cfg *sm, uint8_t pipe) {
    while (!pipe_exists(sm, pipe) && pipe_rows[pipe].instead != pipe)
        pipe = pipe_rows[pipe].instead;
    return pipe;
}

/* Returns the pipe that executes a latency class on this machine. With core.f32_multiplies, integers and f32 go to the
 * unit for which the compiler writes control bits. */
static uint8_t pipe_of(const struct config *cfg, uint8_t class) {
    const uint8_t of_type = by_class[class].pipe;
    const bool by_unit =
        cfg->core.kind == CORE_MODERN && cfg->core.f32_multiplies && (of_type == PIPE_INT || of_type == PIPE_SP);
    const enum machine_class unit = by_unit ? machine_class_of(class) : N_MACHINE_CLASSES;
    return existing_pipe(&cfg->sm, unit == MACHINE_FMA ? PIPE_SP : unit == MACHINE_ALU ? PIPE_INT : of_type);
}

/* Returns true if the lanes of a path may diverge at the instruction, or if its result depends on the lanes of the
 * path. A direct jump or call moves all lanes to the same PC. A return may not, because lanes in a recursive function
 * can have different call depths. */
static bool must_gather(const struct inst *in) {
    bool guarded = in->guard != NO_GUARD;
    switch (in->kind) {
    case K_BRANCH:
        return guarded && !(in->hints & HINT_UNI);
    case K_CALL:
        return guarded || in->target == UINT32_MAX;
    case K_RET:
    case K_BRX:
    case K_BARRIER:
    case K_WARPSYNC:
        return true;
    case K_LOAD:
    case K_WARP:
    case K_COMPOUND:
        return in->hints & HINT_COLLECTIVE;
    default:
        return false;
    }
}

/* Returns the flags of cp.async and related instructions. A path may have to wait before a wait for copies or an
 * arrival (sm_copies_hold()). A copy waits only for its operands. */
static uint32_t copy_flags(const struct inst *in) {
    uint32_t n;
    switch (in->kind) {
    case K_COPY:
        return TIMED_COPY | TIMED_MEMORY;
    case K_COMMIT:
        return TIMED_COPY;
    case K_COLLECT:
        return TIMED_COPY | TIMED_FENCE;
    default:
        return in->kind == K_ATOM && isa_rows(&n)[in->row].op == OP_CP ? TIMED_COPY | TIMED_FENCE : 0;
    }
}

/* Returns the flags of wgmma, and of mma and commit of tcgen05. A path may have to wait before a product or before a
 * wait for groups (sm_tensor_hold()). */
static uint32_t tensor_flags(const struct inst *in) {
    uint32_t n;
    const struct isa_row *row = &isa_rows(&n)[in->row];
    const unsigned operation = form_get(row->form, CAT_MODE2);
    if (row->op == OP_TCGEN05)
        return operation == MODE2_MULTIPLY || operation == MODE2_COMMIT || operation == MODE2_COMMIT_FAR
                   ? TIMED_TENSOR | TIMED_FENCE
                   : 0;
    if (row->op != OP_WGMMA || operation == MODE2_NONE)
        return 0;
    return operation == MODE2_COMMIT_GROUP ? TIMED_TENSOR : TIMED_TENSOR | TIMED_FENCE;
}

/* Returns true if a thread that reaches `pc` only exits there, or only returns. (A return may end the thread, too.) */
static bool may_end(const struct program *p, uint32_t pc) {
    return pc >= p->n || (p->info && (p->info[pc].only_exits || p->info[pc].only_returns));
}

static uint32_t jump_flags(const struct program *p, uint32_t pc) {
    if (p->code[pc].kind != K_BRANCH)
        return 0;
    return (may_end(p, p->code[pc].target) ? 0 : TIMED_TAKEN) | (may_end(p, pc + 1) ? 0 : TIMED_NOT_TAKEN);
}

static uint32_t flags_of(const struct inst *in) {
    unsigned f = 0;
    uint32_t n;
    if (in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM || in->kind == K_TEX || in->kind == K_PREFETCH)
        f |= TIMED_MEMORY | TIMED_LOAD;
    if (in->kind >= K_BRANCH)
        f |= TIMED_CONTROL;
    if (in->ends_block)
        f |= TIMED_ENDS;
    if (in->kind == K_FENCE)
        f |= TIMED_FENCE;
    if (kind_is_convergence(in->kind) || in->hints & HINT_APART)
        f |= TIMED_FREE;
    if (inst_is_ordered(in)) /* all SMs must see these accesses in the same order */
        f |= TIMED_ORDERED;
    bool near = in->space == SPACE_SHARED || in->space == SPACE_CONST || in->space == SPACE_PARAM;
    if (in->kind == K_TEX || ((in->kind == K_LOAD || in->kind == K_ATOM) && !near))
        f |= TIMED_LONG;
    if (in->hints & HINT_MEMBERS)
        f |= TIMED_MEMBERS;
    if (in->hints & HINT_DEQ)
        f |= TIMED_DEQ;
    if (in->kind == K_COMPOUND)
        f |= TIMED_COMPOUND;
    if (must_gather(in))
        f |= TIMED_GATHER;
    if (in->kind == K_WARP && isa_rows(&n)[in->row].op == OP_NANOSLEEP)
        f |= TIMED_SLEEP;
    return f | copy_flags(in) | tensor_flags(in);
}

/* Returns true for slow arithmetic, for which a processing block or an SM has only few units. f64 is slow if its
 * throughput is at most a quarter of the throughput of f32. */
static bool is_slow(const struct config *cfg, uint8_t class) {
    switch (class) {
    case LAT_SFU:
    case LAT_INT_DIV:
    case LAT_F32_DIV:
    case LAT_F64_DIV:
        return true;
    case LAT_F64_ADD:
    case LAT_F64_MINMAX:
    case LAT_F64_MUL:
    case LAT_F64_FMA:
        return cfg->latency[class].initiation >= 4 * cfg->latency[LAT_F32_FMA].initiation;
    default:
        return false;
    }
}

static uint32_t bank_of(const struct program *p, uint32_t reg) { return p->reg_bank ? p->reg_bank[reg] : reg; }

/* Fills in the banks of the register operands. Predicates are omitted, because they are not in the banks. A register of
 * a warp of 64 lanes fills two rows of one bank. The bank reads or writes one row at a time. */
static void fill_banks(struct timed_inst *t, const struct program *p, uint32_t banks, unsigned rows, uint8_t *out) {
    const struct sb_regs *r = &t->regs;
    t->banks.bank = out;
    for (unsigned i = 0; i < r->n_read; i++)
        if (p->reg_words[r->read[i]]) {
            for (unsigned row = 0; row < rows; row++)
                out[t->banks.n_reads++] = (uint8_t)(bank_of(p, r->read[i]) % banks);
            t->read_words = (uint8_t)(t->read_words + p->reg_words[r->read[i]]);
        }
    for (unsigned i = 0; i < r->n_write; i++)
        if (p->reg_words[r->write[i]]) {
            for (unsigned row = 0; row < rows; row++)
                out[t->banks.n_reads + t->banks.n_writes++] = (uint8_t)(bank_of(p, r->write[i]) % banks);
            t->write_words = (uint8_t)(t->write_words + p->reg_words[r->write[i]]);
        }
}

/* Fills in the time of a compound instruction, which the mechanism's operations compute. */
static void fill_compound(struct timed_program *t, struct timed_inst *ti, const struct config *cfg,
                          const struct inst *in) {
    const struct program_compound *c = compound_of(t->program, in);
    if (!c->ops->timing || !c->ops->timing->time)
        return;
    struct compound_time time = {.latency = ti->latency, .initiation = ti->initiation};
    c->ops->timing->time(c->what, cfg, &time);
    ti->latency = (uint16_t)time.latency;
    ti->initiation = (uint16_t)time.initiation;
    ti->banks.more = time.read_ports;
    if (!time.fallback_latency && !time.fallback_initiation)
        return;
    ti->flags |= TIMED_FALLBACK;
    struct timed_inst *fallback = &t->fallback[in->imm];
    *fallback = *ti;
    fallback->latency = (uint16_t)time.fallback_latency;
    fallback->initiation = (uint16_t)time.fallback_initiation;
}

/* Fills in the time of a matrix instruction. A matrix unit computes `at_once` products of a type in parallel; the
 * option initiation.mma is for 1024 products of f16. For a smaller type, the unit computes more products, in proportion
 * to the number of elements in a register. A sparse matrix has half the products of a dense one. Larger matrices go
 * through the unit in parts. f64 uses the FMA units of the lanes. */
static void fill_matrix(struct timed_inst *t, const struct config *cfg, const struct inst *in) {
    uint32_t n;
    const struct isa_row *row = &isa_rows(&n)[in->row];
    const struct matrix_size s = matrix_size(form_get(row->form, CAT_MODE2));
    const unsigned a = row->types[1], groups = matrix_groups(s, a);
    const struct latency_cfg *c = &cfg->latency[a == T_F64 ? LAT_F64_FMA : LAT_MMA];
    const uint32_t at_once = a == T_F64 ? WARP_LANES : 512u * matrix_elements_of(a, row->form);
    const uint32_t products = groups * s.m * s.n * s.k / (form_get(row->form, CAT_SPARSE) ? 2 : 1);
    const uint32_t initiation = (c->initiation * products + at_once - 1) / at_once;
    t->latency = (uint16_t)(c->latency + (initiation > c->initiation ? initiation - c->initiation : 0));
    t->initiation = (uint16_t)initiation;
}

struct timed_part timed_part_of(const struct config *cfg, uint8_t class) {
    return (struct timed_part){.pipe = pipe_of(cfg, class),
                               .op = by_class[class].op,
                               .latency = (uint16_t)cfg->latency[class].latency,
                               .initiation = (uint16_t)sm_pipe_cycles(&cfg->sm, cfg->latency[class].initiation)};
}

/* Returns true if an instruction computes the upper half of a product of 32-bit factors, or both halves. */
static bool is_wide_product(const struct inst *in, const struct isa_row *row) {
    return (in->latency == LAT_INT_MUL || in->latency == LAT_INT_MAD) && type_bytes(row->a) == 4 &&
           (type_bytes(row->d) == 8 || form_get(row->form, CAT_PART) == PART_HI || row->op == OP_HALVES);
}

/* Sets how long an integer product holds the multiplier. If f32 instructions have further lanes, only products wait for
 * it (modern_execute.c), else all instructions of the pipe. */
static void fill_product(struct timed_inst *ti, const struct config *cfg, const struct inst *in) {
    uint32_t n;
    const bool wide = is_wide_product(in, &isa_rows(&n)[in->row]);
    const bool apart = cfg->latency[LAT_F32_FMA].initiation < cfg->latency[LAT_INT_MUL].initiation;
    if (cfg->core.kind != CORE_MODERN || ti->op != CLASS_INT_MUL || cfg->core.wide_products == 1)
        return;
    if (apart)
        ti->flags |= TIMED_PRODUCT | (wide ? TIMED_WIDE : 0);
    else if (wide)
        ti->initiation = (uint16_t)(ti->initiation * cfg->core.wide_products);
}

/* Sets the time of an instruction of the uniform datapath, which is the affine unit of the sub-core. The scoreboard,
 * which does not tell readers apart, makes all readers wait as long as other units must. */
static void fill_uniform(struct timed_inst *ti, const struct config *cfg) {
    ti->flags = (ti->flags & ~(uint32_t)(TIMED_PRODUCT | TIMED_WIDE)) | TIMED_UNIFORM;
    ti->pipe = existing_pipe(&cfg->sm, PIPE_AFFINE);
    ti->latency = cfg->core.control_bits ? UNIFORM_LATENCY : UNIFORM_TO_VECTOR;
    ti->initiation = ti->whole = 1;
}

void timed_count_expansion(uint8_t expansion, uint64_t lanes, uint64_t out[N_OP_CLASSES]) {
    for (const struct expansion_step *s = expansion_of(expansion)->step; s <= expansion_last(expansion); s++)
        out[by_class[s->latency].op] += s->count * lanes;
}

/* Adds the words of registers of a machine instruction of a class of operations, if no operand is immediate. */
static void add_words(uint8_t op, unsigned count, unsigned *reads, unsigned *writes) {
    static const uint8_t operands[N_OP_CLASSES] = {
        [CLASS_INT] = 2,     [CLASS_INT_MUL] = 3, [CLASS_F32_ADD] = 2, [CLASS_F32_MUL] = 2,
        [CLASS_F32_FMA] = 3, [CLASS_F64] = 3,     [CLASS_SFU] = 1};
    const unsigned words = op == CLASS_F64 ? 2 : 1;
    *reads += operands[op] * words * count;
    *writes += operands[op] ? words * count : 0;
}

/* Sets the words that the machine reads and writes: no operands that are constants or in uniform registers. Control
 * bits have at most 4 words of an operand, so instructions with longer lists of registers keep their words. */
static void fill_words(struct timed_inst *ti, const struct inst *in, const struct control_bits *c) {
    unsigned reads = 0, writes = 0;
    if (in->n_list > 4 || in->kind == K_COMPOUND)
        return;
    ti->read_words = 0;
    for (unsigned i = 0; i < CONTROL_OPERANDS; i++) { /* a register that two operands name is read once */
        bool again = false;
        for (unsigned k = 0; k < i; k++)
            again |= c->read_words[k] && c->read[k] == c->read[i];
        ti->read_words = (uint16_t)(ti->read_words + (again ? 0 : c->read_words[i]));
    }
    ti->write_words = c->write_words;
    if (!ti->expansion || expansion_is_halves(ti->expansion))
        return;
    for (const struct expansion_step *s = expansion_of(ti->expansion)->step; s <= expansion_last(ti->expansion); s++)
        add_words(by_class[s->latency].op, s->count, &reads, &writes);
    ti->read_words = (uint16_t)reads;
    ti->write_words = (uint16_t)writes;
}

uint16_t timed_release(const struct config *cfg, const struct program *p, uint32_t pc, uint16_t latency) {
    uint32_t n;
    if (cfg->core.control_bits || !p->control)
        return latency;
    const struct control_timing t = p->control[pc].timing;
    const uint16_t release = isa_rows(&n)[p->code[pc].row].d == T_PRED ? t.guard : t.latency;
    return (t.unit == CONTROL_ALU || t.unit == CONTROL_FMA) && release > latency ? release : latency;
}

/* Sets the pipe of an instruction with an expansion: the pipe of its first machine instruction. If there are no others,
 * sets the latency and operation, too. */
static void fill_expansion(struct timed_inst *ti, const struct config *cfg, const struct control_bits *c) {
    if (c && c->datapath)
        fill_uniform(ti, cfg);
    if (!c || !c->expansion)
        return;
    const struct timed_part first = timed_part_of(cfg, expansion_of(c->expansion)->step[0].latency);
    ti->pipe = first.pipe;
    ti->initiation = first.initiation;
    ti->op = expansion_is_several(c->expansion) ? CLASS_EXPANDED : first.op;
    if (expansion_is_several(c->expansion))
        ti->expansion = c->expansion;
    else
        ti->latency = first.latency;
}

/* Returns the number of instructions that one fetch at `pc` brings: the fetch width, but no instructions beyond the end
 * of the program and, without peer.fetch_crosses_lines, beyond the end of the cache line. */
static uint8_t fetch_count(const struct timed_program *t, const struct config *cfg, uint32_t pc) {
    uint32_t line = cfg->l0i.size ? cfg->l0i.line : cfg->l1i.line, bytes = cfg->sm.inst_bytes;
    uint32_t in_line = (line - (uint32_t)((t->code_address + (uint64_t)pc * bytes) % line)) / bytes;
    uint32_t left = t->program->n - pc;
    uint32_t n = in_line < cfg->sm.fetch_width && !cfg->sm.fetch_crosses_lines ? in_line : cfg->sm.fetch_width;
    n = left < n ? left : n;
    return (uint8_t)(n ? n : 1);
}

uint64_t timed_limits_of(const struct control_bits *c) {
    enum { NO_LIMIT = 127 }; /* above every value of a counter */
    uint64_t limits = 0;
    for (unsigned i = 0; i < CONTROL_COUNTERS; i++) {
        uint64_t most = c->limit_counter == i ? c->limit : CONTROL_MAX_COUNT;
        if (c->raise_read == i || c->raise_write == i)
            most = most < CONTROL_MAX_COUNT ? most : CONTROL_MAX_COUNT - 1;
        if (c->wait >> i & 1)
            most = 0;
        limits |= (most < CONTROL_MAX_COUNT ? most : NO_LIMIT) << 8 * i;
    }
    return limits;
}

uint32_t timed_plain_of(const struct timed_inst *ti, const struct control_bits *c) {
    const uint32_t others = TIMED_MEMORY | TIMED_CONTROL | TIMED_ENDS | TIMED_FENCE | TIMED_RARE | TIMED_FALLBACK |
                            TIMED_UNIFORM | TIMED_PRODUCT;
    const bool raises = c->raise_read < CONTROL_COUNTERS || c->raise_write < CONTROL_COUNTERS;
    if (!ti->regs.n_write || modern_is_variable(ti) || ti->flags & others || raises)
        return 0;
    return c->constant == CONTROL_NO_CONSTANT && !expansion_is_several(c->expansion) ? TIMED_PLAIN : 0;
}

/* Sets the places of the instructions in the code, and of its end. */
static void set_places(struct timed_program *t) {
    uint32_t place = 0;
    for (uint32_t pc = 0; pc < t->program->n; pc++) {
        t->inst[pc].place = place;
        t->inst[pc].limits = t->program->control ? timed_limits_of(&t->program->control[pc]) : 0;
        if (t->program->control)
            t->inst[pc].flags |= timed_plain_of(&t->inst[pc], &t->program->control[pc]);
        place += expansion_count(t->program->control ? t->program->control[pc].expansion : EXPANSION_NONE);
    }
    t->inst[t->program->n].place = place;
}

/* Returns the flags of an instruction of latency class `class`. */
static uint32_t all_flags(const struct program *p, const struct config *cfg, uint32_t pc, uint8_t class) {
    const struct inst *in = &p->code[pc];
    const struct inst_info *info = &p->info[pc];
    uint32_t flags = flags_of(in);
    if (is_slow(cfg, class) && !(flags & TIMED_MEMORY))
        flags |= TIMED_SLOW;
    flags |= jump_flags(p, pc);
    if (info->spilled)
        flags |= TIMED_SPILLED;
    if (exec_is_cluster_arrive(in) && !(info->order & ORDER_RELAXED))
        flags |= TIMED_FENCE; /* this arrival is a release: it waits for the warp's earlier accesses */
    if (info->yields)
        flags |= TIMED_YIELD;
    return flags;
}

/* Returns the registers that an instruction reads and writes. */
static struct sb_regs registers_of(const struct program *p, uint32_t pc) {
    const struct inst *in = &p->code[pc];
    const struct inst_info *info = &p->info[pc];
    /* the accumulators of a wgmma are never pending: wgmma.wait_group waits for them */
    const uint8_t writes = tensor_flags(in) && in->kind == K_WARP ? 0 : info->n_writes;
    return sb_regs_of(p->regs + info->regs, info->n_reads, p->regs + info->regs + info->n_reads, writes, NO_COUNTER);
}

/* Sets the pipe, the latency and the initiation interval of an instruction, whose flags and registers are known. */
static void fill_times(struct timed_program *t, const struct config *cfg, uint32_t pc, uint8_t class) {
    const struct program *p = t->program;
    const struct inst *in = &p->code[pc];
    struct timed_inst *ti = &t->inst[pc];
    ti->latency = (uint16_t)cfg->latency[class].latency;
    ti->initiation = (uint16_t)cfg->latency[class].initiation;
    ti->op = by_class[class].op;
    ti->pipe = ti->flags & TIMED_MEMORY ? PIPE_MEM : pipe_of(cfg, class);
    if (ti->pipe == PIPE_MEM && !(ti->flags & TIMED_MEMORY))
        /* the instruction has the latency class of memory, but makes no access */
        ti->pipe = existing_pipe(&cfg->sm, PIPE_INT);
    if (in->kind == K_COMPOUND)
        fill_compound(t, ti, cfg, in);
    else if (ti->flags & TIMED_TENSOR && in->kind == K_WARP)
        ti->latency = ti->initiation = 1; /* the time of the issue; tensor.c computes the time of the product */
    else if (class == LAT_MMA && in->kind == K_WARP)
        fill_matrix(ti, cfg, in);
    if (in->kind == K_LANE)
        fill_product(ti, cfg, in);
    ti->whole = ti->initiation;
    ti->initiation = (uint16_t)sm_pipe_cycles(&cfg->sm, ti->initiation);
    fill_expansion(ti, cfg, p->control ? &p->control[pc] : NULL);
    ti->latency = timed_release(cfg, p, pc, ti->latency);
}

bool timed_init(struct timed_program *t, const struct program *p, const struct config *cfg, uint64_t code_address) {
    const struct sm_cfg *sm = &cfg->sm;
    uint32_t banks = sm->subcores ? sm->banks / sm->schedulers : sm->banks;
    const unsigned rows = sm->warp_size > WARP_LANES ? 2 : 1;
    *t = (struct timed_program){.program = p, .code_address = code_address};
    t->inst = calloc((size_t)p->n + 1, sizeof *t->inst); /* one entry more: the SM reads one instruction ahead */
    t->bank = calloc((size_t)p->n_regs_list * rows + 1, 1);
    t->fallback = calloc((size_t)p->n_compounds + 1, sizeof *t->fallback);
    if (!t->inst || !t->bank || !t->fallback) {
        timed_free(t);
        return false;
    }
    uint32_t loads = 0;
    for (uint32_t pc = 0; pc < p->n; pc++) {
        const struct inst *in = &p->code[pc];
        const struct inst_info *info = &p->info[pc];
        struct timed_inst *ti = &t->inst[pc];
        const uint8_t class = in->kind == K_FENCE ? LAT_CONTROL : in->latency;
        ti->kind = in->kind;
        ti->regs = registers_of(p, pc);
        t->copies |= in->kind == K_COPY;
        t->tensor |= tensor_flags(in) != 0;
        ti->fetch = fetch_count(t, cfg, pc);
        ti->flags = all_flags(p, cfg, pc, class);
        /* loads use the counters in rotation; for hardware, the compiler would choose the counters */
        if (ti->flags & TIMED_LOAD && info->n_writes)
            ti->regs.counter = (uint8_t)(loads++ % N_COUNTERS);
        fill_banks(ti, p, banks, rows, t->bank + (size_t)info->regs * rows);
        fill_times(t, cfg, pc, class);
        if (cfg->core.kind == CORE_MODERN)
            ti->ports = modern_ports_of(p, &cfg->core, &ti->regs, pc);
        if (p->control)
            fill_words(ti, in, &p->control[pc]);
    }
    set_places(t);
    for (uint32_t i = 0; i < p->n_compounds; i++)
        t->fallback[i].initiation = (uint16_t)sm_pipe_cycles(sm, t->fallback[i].initiation);
    return true;
}

void timed_free(struct timed_program *t) {
    free(t->inst);
    free(t->bank);
    free(t->fallback);
    t->fallback = NULL;
    t->inst = NULL;
    t->bank = NULL;
}
