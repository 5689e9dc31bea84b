/* Orders the instructions of each block for the modern core (core.kind=modern), which issues in order and waits where
 * the order makes it wait. Requires: blocks. Keeps: results and control flow. Makes: another order in blocks.
 *
 * List scheduling: of the instructions whose operands have arrived, the next one is the instruction from which the
 * longest path of latencies begins. An instruction that would make more registers live than the original order ever
 * needs comes later. Loads may pass each other, but no store. Nothing passes a barrier, an atomic, or an instruction
 * that depends on the lanes that execute it. */
#include "control_table.h"
#include "edit.h"
#include "pass.h"
#include <string.h>

enum {
    LOAD_LATENCY = 32,   /* assumed cycles of a load: a hit in the L1 */
    QUEUED_LATENCY = 20, /* assumed cycles of other instructions of variable latency */
    MOST = 256           /* maximum number of instructions that are ordered together */
};

struct task {
    uint32_t inst;
    unsigned waits; /* number of tasks that must come before this one and are not done */
    unsigned latency, path, ready;
    bool done;
};

struct schedule {
    struct ir *ir;
    struct control_latencies latencies;
    uint32_t *left;             /* register -> number of its uses in the tasks that are left */
    unsigned char *dies, *live; /* register -> true if its live range ends in the tasks; register -> true if it holds a
                                 * value now */
    struct task task[MOST];
    uint32_t n, order[MOST];
    unsigned char after[MOST][MOST]; /* [i][k]: task k must come after task i; 2: it reads the result of i */
};

/* Returns true if nothing may pass the instruction. */
static bool is_fence(const struct inst *in) {
    if (in->hints & (HINT_COLLECTIVE | HINT_MEMBERS | HINT_DEQ))
        return true;
    return in->kind != K_LANE && in->kind != K_CVT &&
           ((in->kind != K_LOAD && in->kind != K_STORE) || inst_is_strong(in));
}

static bool is_access(const struct inst *in) {
    return (in->kind == K_LOAD || in->kind == K_STORE) && in->space != SPACE_PARAM && in->space != SPACE_CONST;
}

static bool may_overlap(const struct inst *a, const struct inst *b) {
    bool write = a->kind == K_STORE || b->kind == K_STORE;
    return write && is_access(a) && is_access(b) &&
           (a->space == b->space || a->space == SPACE_GENERIC || b->space == SPACE_GENERIC);
}

/* Returns whether instruction b must come after a: 2 if it reads a result of a. */
static unsigned char depends(const struct ir *ir, uint32_t a, uint32_t b) {
    const struct inst_info *x = &ir->info[a], *y = &ir->info[b];
    const uint32_t *p = ir->regs + x->regs, *q = ir->regs + y->regs;
    unsigned char found = may_overlap(&ir->code[a], &ir->code[b]);
    for (unsigned i = 0; i < (unsigned)x->n_reads + x->n_writes; i++)
        for (unsigned k = 0; k < (unsigned)y->n_reads + y->n_writes; k++) {
            if (p[i] != q[k] || (i < x->n_reads && k < y->n_reads))
                continue;
            if (i >= x->n_reads && k < y->n_reads)
                return 2;
            found = 1;
        }
    return found;
}

static unsigned latency_of(const struct schedule *s, uint32_t i) {
    const struct ir *ir = s->ir;
    const struct inst *in = &ir->code[i];
    const uint8_t expansion = select_expansion(ir, in);
    struct control_timing t = control_timing_of(&s->latencies, in, expansion);
    const unsigned before = control_expansion_cycles(expansion);
    if (t.unit == CONTROL_QUEUED)
        return before + (in->kind == K_LOAD ? LOAD_LATENCY : in->kind == K_STORE ? 1 : QUEUED_LATENCY);
    bool predicate = in->d >> 1 != SINK_VREG && ir->vregs[in->d >> 1].cls == RC_PRED;
    return before + (predicate ? t.guard : t.latency);
}

/* Returns by how many words the live registers grow if the task comes next. With `apply`, also records that it comes
 * next. */
static int words_after(struct schedule *s, const struct task *t, bool apply) {
    const struct ir *ir = s->ir;
    const struct inst_info *info = &ir->info[t->inst];
    int sum = 0;
    for (unsigned k = 0; k < (unsigned)info->n_reads + info->n_writes; k++) {
        uint32_t v = ir->regs[info->regs + k];
        int words = (int)class_words((enum reg_class)ir->vregs[v].cls);
        if (k >= info->n_reads && !s->live[v])
            sum += words;
        if (s->live[v] && s->dies[v] && s->left[v] == 1)
            sum -= words;
        if (!apply)
            continue;
        s->left[v]--;
        s->live[v] = !s->dies[v] || s->left[v];
    }
    return sum;
}

/* Prepares the counts of uses. */
static void begin_words(struct schedule *s) {
    const struct ir *ir = s->ir;
    uint32_t from = 2 * s->task[0].inst, to = 2 * s->task[s->n - 1].inst + 1;
    for (int count = 0; count < 2; count++)
        for (uint32_t i = 0; i < s->n; i++) {
            const struct inst_info *info = &ir->info[s->task[i].inst];
            for (unsigned k = 0; k < (unsigned)info->n_reads + info->n_writes; k++) {
                uint32_t v = ir->regs[info->regs + k];
                s->left[v] = count ? s->left[v] + 1 : 0;
                s->live[v] = ir->intervals[v].begin < from;
                s->dies[v] = ir->intervals[v].end >= from && ir->intervals[v].end <= to;
            }
        }
}

static int most_words(struct schedule *s) {
    int words = 0, most = 0;
    begin_words(s);
    for (uint32_t i = 0; i < s->n; i++) {
        words += words_after(s, &s->task[i], true);
        most = words > most ? words : most;
    }
    return most;
}

static void prepare(struct schedule *s) {
    for (uint32_t i = s->n; i-- > 0;) {
        struct task *t = &s->task[i];
        t->latency = latency_of(s, t->inst);
        t->path = t->latency;
        t->waits = t->ready = 0;
        t->done = false;
        for (uint32_t k = i + 1; k < s->n; k++) {
            unsigned char d = s->after[i][k] = depends(s->ir, t->inst, s->task[k].inst);
            unsigned path = d ? (d == 2 ? t->latency : 1) + s->task[k].path : 0;
            s->task[k].waits += d != 0;
            t->path = path > t->path ? path : t->path;
        }
    }
}

/* Returns the next task. Tasks whose operands have arrived come first, and of these, the task with the longest path. A
 * task that adds more than `room` words to the live registers comes after all tasks that add at most `room` words. */
static uint32_t next_task(struct schedule *s, unsigned now, int room) {
    uint32_t best = s->n;
    int64_t best_value = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct task *t = &s->task[i];
        if (t->done || t->waits)
            continue;
        int64_t value = t->ready > now ? -(int64_t)(t->ready - now) * (1 << 16) : t->path;
        int over = words_after(s, t, false) - room;
        if (over > 0)
            value -= (int64_t)over * (1ll << 32);
        if (best == s->n || value > best_value) {
            best = i;
            best_value = value;
        }
    }
    return best;
}

/* Orders the tasks, if possible so that the live registers have at most `bound` words more than at the beginning.
 * Returns the maximum number of words that the live registers have in addition to those at the beginning. */
static int order_tasks(struct schedule *s, int bound) {
    int words = 0, most = 0;
    unsigned now = 0;
    prepare(s);
    begin_words(s);
    for (uint32_t n = 0; n < s->n; n++, now++) {
        uint32_t i = next_task(s, now, bound - words);
        struct task *t = &s->task[i];
        words += words_after(s, t, true);
        most = words > most ? words : most;
        now = t->ready > now ? t->ready : now;
        t->done = true;
        s->order[n] = i;
        for (uint32_t k = i + 1; k < s->n; k++) {
            unsigned at = now + (s->after[i][k] == 2 ? t->latency : 1);
            if (!s->after[i][k])
                continue;
            s->task[k].waits--;
            s->task[k].ready = at > s->task[k].ready ? at : s->task[k].ready;
        }
    }
    return most;
}

/* Returns the number of registers that a function may need without a change of occupancy: those of its original order,
 * rounded up to the unit of allocation (sm.register_unit). */
static int registers_allowed(const struct ir *ir, uint32_t function) {
    const uint32_t unit = (uint32_t)pass_option(&ir->context, "sm.register_unit", WARP_LANES) / WARP_LANES;
    const uint32_t pressure = ir->functions[function].pressure, limit = register_limit(ir, NULL);
    const uint32_t most = unit ? (pressure + unit - 1) / unit * unit : pressure;
    return (int)(limit && most > limit ? (pressure > limit ? pressure : limit) : most);
}

/* Orders the tasks so that the function needs no more registers than allowed. Returns false if that is
 * not possible. */
static bool order_within_registers(struct schedule *s) {
    const struct ir *ir = s->ir;
    uint32_t first = s->task[0].inst;
    int limit = most_words(s), room = registers_allowed(ir, ir->info[first].function) - (int)ir->live_at[first];
    limit = room > limit ? room : limit;
    for (int bound = limit; bound > -limit; bound -= 1 + limit / 4)
        if (order_tasks(s, bound) <= limit)
            return true;
    return false;
}

/* Orders the instructions [from, to) of a block, which may pass each other. */
static void order_run(struct schedule *s, struct edit *e, uint32_t from, uint32_t to) {
    uint32_t block = s->ir->info[from].block;
    s->n = to - from;
    for (uint32_t i = 0; i < s->n; i++)
        s->task[i].inst = from + i;
    if (s->n < 2 || !order_within_registers(s))
        return;
    for (uint32_t n = 0; n < s->n; n++) {
        if (to < s->ir->blocks[block].end)
            edit_move_before(e, from + s->order[n], to);
        else
            edit_move_to_end(e, from + s->order[n], block);
        if (s->order[n] < n)
            ir_note(s->ir, from + s->order[n], "later by %u", n - s->order[n]);
        else if (s->order[n] > n)
            ir_note(s->ir, from + s->order[n], "earlier by %u", s->order[n] - n);
    }
}

bool pass_schedule(struct ir *ir) {
    struct schedule *s = arena_alloc(ir->tmp, sizeof *s);
    s->ir = ir;
    control_latencies_read(&s->latencies, &ir->context);
    if (!pass_liveness(ir))
        return false;
    s->left = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *s->left);
    s->dies = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, 1);
    s->live = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, 1);
    struct edit *e = edit_begin(ir);
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        for (uint32_t from = ir->blocks[b].begin, to; from<ir->blocks[b].end; from = to> from ? to : to + 1) {
            for (to = from; to < ir->blocks[b].end && to - from < MOST && !is_fence(&ir->code[to]);)
                to++;
            if (to > from)
                order_run(s, e, from, to);
        }
    return edit_end(e);
}
