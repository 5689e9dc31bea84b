/* Sets the control bits of a finished program for the modern core (core.kind=modern), which has no scoreboard.
 * Requires: ir->program. Keeps: everything. Makes: ir->program->control. */
#include "control_pass.h"
#include "control_table.h"
#include "isa/expansions.h"
#include "pass.h"
#include <string.h>

static void add_use(void *ctx, uint32_t offset, enum control_use use, unsigned position) {
    struct control *c = ctx;
    uint32_t n = c->first[0];
    (void)position;
    if (c->board[offset / 4] == NO_BOARD)
        return;
    c->uses = IR_ROOM(c->ir, c->uses, n, c->cap_uses);
    c->uses[n] = (struct control_operand){c->board[offset / 4], (uint8_t)use};
    c->first[0]++;
}

/* Lists the registers that each instruction uses. Special registers are left out: no instruction writes them, so no
 * instruction waits for them. */
static void find_uses(struct control *c) {
    struct ir *ir = c->ir;
    struct control_latencies latencies;
    control_latencies_read(&latencies, &ir->context);
    c->n_regs = ir->n_boards;
    c->words = arena_array(ir->tmp, (size_t)ir->n_boards + 1, 1);
    c->uniform = arena_array(ir->tmp, (size_t)ir->n_boards + 1, sizeof *c->uniform);
    c->board = arena_array(ir->tmp, (size_t)ir->reg_bytes / 4 + 1, sizeof *c->board);
    memset(c->board, 0xff, ((size_t)ir->reg_bytes / 4 + 1) * sizeof *c->board);
    for (uint32_t v = 1; v < ir->n_vregs; v++)
        if (ir->vregs[v].written && !ir->vregs[v].special) {
            c->board[ir->vregs[v].offset / 4] = ir->board[v];
            c->words[ir->board[v]] = (uint8_t)class_words((enum reg_class)ir->vregs[v].cls);
            c->uniform[ir->board[v]] = ir->vregs[v].uniform;
        }
    c->first = arena_array(ir->tmp, (size_t)c->p->n + 1, sizeof *c->first);
    for (uint32_t pc = 0; pc < c->p->n; pc++) {
        c->bits[pc].expansion = select_expansion(ir, &c->p->code[pc]);
        c->bits[pc].timing = control_timing_of(&latencies, &c->p->code[pc], c->bits[pc].expansion);
        control_uses(c->p, &c->p->code[pc], add_use, c);
        if (c->p->code[pc].d != OPND_SINK && control_is_uniform(c, c->p->code[pc].d >> 1)) {
            c->bits[pc].datapath = true;
            c->bits[pc].expansion = EXPANSION_NONE;
            c->bits[pc].timing = control_uniform_timing();
        }
        c->first[pc + 1] = c->first[0];
    }
    c->first[0] = 0;
}

bool pass_control(struct ir *ir) {
    struct control c = {.ir = ir, .p = ir->program};
    if (ir->n_boards + CONTROL_COUNTERS >= UINT16_MAX) {
        snprintf(ir->failure, sizeof ir->failure, "kernel '%s' has too many registers for control bits: %u", ir->kernel,
                 ir->n_boards);
        return false;
    }
    c.bits = arena_array(ir->keep, (size_t)ir->program->n + 1, sizeof *c.bits);
    for (uint32_t pc = 0; pc < ir->program->n; pc++)
        c.bits[pc] = CONTROL_NONE;
    find_uses(&c);
    control_counters(&c);
    control_stalls(&c);
    control_places(&c);
    ir->program->control = c.bits;
    return true;
}

static void print_wait(uint8_t wait, char *out) {
    for (unsigned k = 0; k < CONTROL_COUNTERS; k++)
        out[k] = wait >> k & 1 ? (char)('0' + k) : '-';
    out[CONTROL_COUNTERS] = 0;
}

static char counter_name(uint8_t counter) { return counter == CONTROL_NO_COUNTER ? '-' : (char)('0' + counter); }

static void print_registers(const struct control_bits *b, FILE *out) {
    static const char position[CONTROL_OPERANDS] = {'a', 'b', 'c'};
    if (b->write_words)
        fprintf(out, " d=R%u", b->write);
    for (unsigned i = 0; i < CONTROL_OPERANDS; i++)
        if (b->read_words[i])
            fprintf(out, " %c=R%u%s", position[i], b->read[i], b->reuse >> i & 1 ? ".reuse" : "");
    if (b->constant != CONTROL_NO_CONSTANT)
        fprintf(out, " constant 0x%x", b->constant);
    if (expansion_count(b->expansion) > 1)
        fprintf(out, " %u machine instructions", expansion_count(b->expansion));
    if (b->uniform)
        fputs(" uniform", out);
    if (b->datapath)
        fputs(" uniform datapath", out);
}

/* Returns the class of an instruction that is one machine instruction. */
static enum machine_class class_of(const struct inst *in, enum control_unit unit) {
    switch (unit) {
    case CONTROL_UNIFORM:
        return MACHINE_UNIFORM;
    case CONTROL_ALU:
        return MACHINE_ALU;
    case CONTROL_FMA:
        return MACHINE_FMA;
    case CONTROL_FLOW:
        return machine_class_of(in->latency) == MACHINE_MEMORY && in->kind == K_NOP ? MACHINE_MEMORY : MACHINE_FLOW;
    default:
        break;
    }
    if (in->kind == K_BARRIER)
        return MACHINE_FLOW;
    if (in->kind == K_WARP && in->latency != LAT_SHFL && in->latency != LAT_MEM && in->latency != LAT_MMA)
        return MACHINE_ALU;
    return machine_class_of(in->latency);
}

void control_count(const struct program *p, uint32_t count[N_MACHINE_CLASSES]) {
    memset(count, 0, N_MACHINE_CLASSES * sizeof *count);
    for (uint32_t pc = 0; pc < p->n; pc++) {
        const struct control_bits *b = &p->control[pc];
        if (!b->expansion) {
            count[class_of(&p->code[pc], b->timing.unit)]++;
            continue;
        }
        const struct expansion_step *s = expansion_of(b->expansion)->step, *last = expansion_last(b->expansion);
        for (; s <= last; s++)
            count[machine_class_of(s->latency)] += s->count;
    }
}

static void print_count(const struct program *p, FILE *out) {
    uint32_t count[N_MACHINE_CLASSES];
    control_count(p, count);
    fputs("machine instructions:", out);
    for (int c = 0; c < N_MACHINE_CLASSES; c++)
        fprintf(out, " %u %s%s", count[c], machine_class_name((enum machine_class)c),
                c + 1 < N_MACHINE_CLASSES ? "," : "\n");
}

void dump_control(const struct ir *ir, FILE *out) {
    const struct program *p = ir->program;
    char wait[CONTROL_COUNTERS + 1], text[512];
    fprintf(out, "kernel %s: stall count, yield, counter until read, counter until written, counters awaited\n",
            p->name);
    for (uint32_t pc = 0; pc < p->n; pc++) {
        const struct control_bits *b = &p->control[pc];
        if (p->blocks[p->info[pc].block].begin == pc)
            fprintf(out, "B%u:\n", p->info[pc].block);
        print_wait(b->wait, wait);
        program_print_inst(p, pc, text, sizeof text);
        fprintf(out, "%6u  S%02u %c R%c W%c %s  %s  //", pc, b->stall, b->yields ? 'Y' : '-',
                counter_name(b->raise_read), counter_name(b->raise_write), wait, text);
        print_registers(b, out);
        fputc('\n', out);
    }
    print_count(p, out);
}
