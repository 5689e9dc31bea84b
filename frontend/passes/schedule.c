/* Orders the instructions of each block for the modern core (core.kind=modern), which issues in order and waits where
 * the order makes it wait. Requires: blocks. Keeps: results and control flow. Makes: another order in blocks.
 *
 * List scheduling: of the instructions whose operands have arrived, the next one is the instruction from which the
 * longest path of latencies begins. That instruction waits if the rest of the run, in its original order, would then
 * need more registers than the occupancy leaves, or more predicates than a thread has. It also waits if it takes a
 * register long before its result is read. The occupancy is the highest that any order allows. A run whose original
 * order needs too many registers first gets an order that needs few. Source: ptxas 13 for sm_75 to sm_120 takes as few
 * registers for 4 to 150 live words (test/frontend/passes/numbers.c).
 * Loads may pass each other, but no store. Nothing passes a barrier, an atomic, a slow path, or an instruction that
 * depends on the lanes that execute it. */
#include "control_table.h"
#include "edit.h"
#include "isa/control_uses.h"
#include "needed.h"
#include "pass.h"
#include <limits.h>
#include <string.h>

enum {
    CONSTANT_LATENCY = 48, /* cycles of a load from constant memory, in the order of ptxas */
    FAR_LATENCY = 200,     /* assumed cycles of a load from global memory: a hit in the L2 */
    ACCESS_GAP = 4,        /* cycles from one access to the next, as in ptxas' code */
    AHEAD = 16,            /* assumed cycles by which a result may be early */
    TRIES = 8,             /* number of tasks that are tried in each place */
    PREDICATES = 7,        /* of a thread: P0 to P6 */
    MOST = 256             /* maximum number of instructions that are ordered together */
};

struct task {
    uint32_t inst;
    unsigned waits; /* number of tasks that must come before this one and are not done */
    unsigned latency, path, ready;
    unsigned soonest; /* cycle in which it could issue if only latencies mattered */
    unsigned latest;  /* last cycle in which its result is in time for the instructions that read it */
    bool done, rejected;
};

/* A value that a register holds while the tasks execute. */
struct value {
    uint32_t vreg, left; /* number of its reads and writes in the tasks that are left */
    uint32_t uses;       /* number of all of them */
    unsigned words;
    bool predicate;
    bool live, was_live; /* true if the register holds it now; before the tasks */
    bool dies;           /* true if no instruction after the tasks needs it */
};

/* Registers that hold values: words of 32 bits, and predicates. */
struct room {
    int words, predicates;
};

struct schedule {
    struct ir *ir;
    struct control_latencies latencies;
    const unsigned char *needed; /* of find_needed() */
    uint32_t *current;           /* register -> its value while find_values() walks the tasks; 0: none */
    uint32_t *value_of;          /* element of ir.regs -> value; 0: an operand before it has the same value */
    struct value *value, *saved;
    uint32_t n_values;
    int *allowed; /* function -> the number of registers that it should need at most */
    struct task task[MOST];
    uint32_t n, order[MOST];
    unsigned next_access;            /* first cycle in which the next access may issue */
    unsigned next_constant;          /* the same for loads from constant memory */
    unsigned shared_gap;             /* cycles from a load of 16 bytes from shared memory to the next access */
    unsigned char after[MOST][MOST]; /* [i][k]: task k must come after task i; 2: it reads the result of i */
};

/* Returns true if nothing may pass the instruction. A slow path divides the code into blocks. */
static bool is_fence(const struct ir *ir, const struct inst *in) {
    if (in->hints & (HINT_COLLECTIVE | HINT_MEMBERS | HINT_DEQ) || expansion_branches(select_expansion(ir, in)))
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

static unsigned load_latency(int space) {
    if (space == SPACE_GLOBAL || space == SPACE_GENERIC)
        return FAR_LATENCY;
    return space == SPACE_CONST ? CONSTANT_LATENCY : LOAD_LATENCY;
}

static unsigned latency_of(const struct schedule *s, uint32_t i) {
    const struct ir *ir = s->ir;
    const struct inst *in = &ir->code[i];
    if (in->d >> 1 != SINK_VREG && ir->vregs[in->d >> 1].uniform)
        return UNIFORM_TO_VECTOR;
    const uint8_t expansion = select_expansion(ir, in);
    struct control_timing t = control_timing_of(&s->latencies, in, expansion);
    const unsigned before = control_expansion_cycles(&s->latencies, expansion);
    if (t.unit == CONTROL_QUEUED)
        return before + (in->kind == K_LOAD ? load_latency(in->space) : in->kind == K_STORE ? 1 : QUEUED_LATENCY);
    bool predicate = in->d >> 1 != SINK_VREG && ir->vregs[in->d >> 1].cls == RC_PRED;
    return before + (predicate ? t.guard : t.latency);
}

/* Returns by how much the live registers grow if the task comes next. With `apply`, also records that it comes next. */
static struct room growth(struct schedule *s, const struct task *t, bool apply) {
    const struct inst_info *info = &s->ir->info[t->inst];
    struct room all = {0, 0};
    for (unsigned k = 0; k < (unsigned)info->n_reads + info->n_writes; k++) {
        struct value *v = &s->value[s->value_of[info->regs + k]];
        if (!v->uses)
            continue;
        const int more = !v->live - (v->dies && v->left == 1);
        all.words += more * (int)v->words;
        all.predicates += more * v->predicate;
        if (!apply)
            continue;
        v->left--;
        v->live = !v->dies || v->left;
    }
    return all;
}

static struct room sum(struct room a, struct room b) {
    return (struct room){a.words + b.words, a.predicates + b.predicates};
}

/* Adds the growth that a task brings to `used`. */
static void add_growth(struct schedule *s, const struct task *t, struct room *used) {
    *used = sum(*used, growth(s, t, true));
}

static bool fits(struct room used, struct room bound) {
    return used.words <= bound.words && used.predicates <= bound.predicates;
}

static void begin_words(struct schedule *s) {
    for (uint32_t k = 1; k <= s->n_values; k++) {
        s->value[k].left = s->value[k].uses;
        s->value[k].live = s->value[k].was_live;
    }
}

/* Records a read or write of a register, element `at` of ir.regs. Unless `begins`, the value may be an older one. */
static void note_use(struct schedule *s, uint32_t at, bool begins, bool was_live, uint32_t first) {
    const uint32_t v = s->ir->regs[at];
    if (begins || !s->current[v]) {
        if (s->current[v])
            s->value[s->current[v]].dies = true;
        s->current[v] = ++s->n_values;
        const struct vreg *r = &s->ir->vregs[v];
        s->value[s->n_values] = (struct value){.vreg = v,
                                               .was_live = was_live,
                                               .words = vreg_words(r),
                                               .predicate = r->cls == RC_PRED && !r->special && !r->uniform};
    }
    s->value_of[at] = s->current[v];
    s->value[s->current[v]].dies = !s->needed[at];
    for (uint32_t k = first; k < at; k++)
        if (s->value_of[k] == s->current[v])
            s->value_of[at] = 0;
    if (s->value_of[at])
        s->value[s->current[v]].uses++;
}

/* Finds the values of the tasks. A write under a guard does not end the old value. */
static void find_values(struct schedule *s) {
    const struct ir *ir = s->ir;
    s->n_values = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t inst = s->task[i].inst;
        const struct inst_info *info = &ir->info[inst];
        const bool all = inst_writes_all(ir, inst);
        for (uint32_t k = info->regs; k < info->regs + info->n_reads; k++)
            note_use(s, k, false, true, info->regs);
        for (uint32_t k = info->regs + info->n_reads; k < info->regs + info->n_reads + info->n_writes; k++)
            note_use(s, k, all, !all && s->needed[k], info->regs);
    }
    for (uint32_t k = 1; k <= s->n_values; k++)
        s->current[s->value[k].vreg] = 0;
}

/* Returns by how much the live registers grow at most in the original order. */
static struct room most_growth(struct schedule *s) {
    struct room used = {0, 0}, most = {0, 0};
    find_values(s);
    begin_words(s);
    for (uint32_t i = 0; i < s->n; i++) {
        add_growth(s, &s->task[i], &used);
        most.words = used.words > most.words ? used.words : most.words;
        most.predicates = used.predicates > most.predicates ? used.predicates : most.predicates;
    }
    return most;
}

/* Finds the soonest and the latest cycle of each task. The latest cycle of a load is its soonest: loads are not put
 * off. */
static void find_times(struct schedule *s) {
    unsigned end = 0;
    for (uint32_t i = 0; i < s->n; i++)
        s->task[i].soonest = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct task *t = &s->task[i];
        for (uint32_t k = i + 1; k < s->n; k++) {
            const unsigned at = t->soonest + (s->after[i][k] == 2 ? t->latency : 1);
            if (s->after[i][k] && at > s->task[k].soonest)
                s->task[k].soonest = at;
        }
        end = t->soonest > end ? t->soonest : end;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        struct task *t = &s->task[i];
        const struct inst *in = &s->ir->code[t->inst];
        t->latest = in->kind == K_LOAD ? t->soonest : end;
        for (uint32_t k = i + 1; k < s->n; k++)
            if (s->after[i][k] == 2 && s->task[k].soonest - t->latency < t->latest)
                t->latest = s->task[k].soonest - t->latency;
    }
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
    find_times(s);
}

/* Returns true if the live registers grow at most by `bound` since the beginning when task `next` comes next and the
 * others that are left follow in their original order. They have grown by `used` now. */
static bool rest_fits(struct schedule *s, uint32_t next, struct room used, struct room bound) {
    const size_t size = (s->n_values + 1) * sizeof *s->value;
    memcpy(s->saved, s->value, size);
    add_growth(s, &s->task[next], &used);
    for (uint32_t i = 0; i < s->n && fits(used, bound); i++)
        if (!s->task[i].done && i != next)
            add_growth(s, &s->task[i], &used);
    memcpy(s->value, s->saved, size);
    return fits(used, bound);
}

/* Returns the first cycle in which the task can issue: its operands have arrived, and so has the turn of an access. */
static unsigned ready_at(const struct schedule *s, const struct task *t) {
    const struct inst *in = &s->ir->code[t->inst];
    const unsigned turn = is_access(in) ? s->next_access : control_loads_constant(in) ? s->next_constant : 0;
    return turn > t->ready ? turn : t->ready;
}

/* Returns the next cycle, from `now` on, in which the operands of a task that is not put off arrive. */
static unsigned next_event(struct schedule *s, unsigned now) {
    unsigned next = UINT_MAX;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct task *t = &s->task[i];
        const unsigned ready = ready_at(s, t), at = ready > now ? ready : now;
        if (!t->done && !t->waits && at < next && (t->latest <= at + AHEAD || growth(s, t, false).words <= 0))
            next = at;
    }
    return next == UINT_MAX ? now : next;
}

/* Returns the best task that can come next, fits in `bound` and is not rejected. Tasks whose operands have arrived come
 * first, and of these, the task with the longest path. A task that needs another register is put off while the
 * instructions that read its result wait for others. */
static uint32_t best_task(struct schedule *s, unsigned now, struct room used, struct room bound) {
    uint32_t best = s->n;
    unsigned least = 0;
    const unsigned event = next_event(s, now);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct task *t = &s->task[i];
        if (t->done || t->waits || t->rejected)
            continue;
        const struct room more = growth(s, t, false);
        if ((t->latest > event + AHEAD && more.words > 0) || !fits(sum(used, more), bound))
            continue;
        const unsigned ready = ready_at(s, t);
        const unsigned wait = ready > now ? ready - now : 0;
        if (best == s->n || wait < least || (wait == least && t->path > s->task[best].path)) {
            best = i;
            least = wait;
        }
    }
    return best;
}

/* Returns the next task. Of the TRIES best tasks, it is the first one after which the remaining tasks fit in `bound`.
 * If none fits, it is the first remaining task of the original order. */
static uint32_t next_task(struct schedule *s, unsigned now, struct room used, struct room bound) {
    uint32_t first = 0;
    for (uint32_t i = 0; i < s->n; i++)
        s->task[i].rejected = false;
    for (int k = 0; k < TRIES; k++) {
        const uint32_t i = best_task(s, now, used, bound);
        if (i == s->n)
            break;
        if (rest_fits(s, i, used, bound))
            return i;
        s->task[i].rejected = true;
    }
    while (s->task[first].done)
        first++;
    return first;
}

/* Returns the number of cycles from an access to the next one. */
static unsigned access_gap(const struct schedule *s, const struct inst *in) {
    return in->kind == K_LOAD && in->space == SPACE_SHARED && inst_bytes(in) == 16 ? s->shared_gap : ACCESS_GAP;
}

/* Orders the tasks so that the live registers grow at most by `bound`. Their original order must do with that. */
static void order_tasks(struct schedule *s, struct room bound) {
    struct room used = {0, 0};
    unsigned now = 0;
    prepare(s);
    begin_words(s);
    s->next_access = s->next_constant = 0;
    for (uint32_t n = 0; n < s->n; n++, now++) {
        uint32_t i = next_task(s, now, used, bound);
        struct task *t = &s->task[i];
        add_growth(s, t, &used);
        now = ready_at(s, t) > now ? ready_at(s, t) : now;
        s->next_access = is_access(&s->ir->code[t->inst]) ? now + access_gap(s, &s->ir->code[t->inst]) : s->next_access;
        if (control_loads_constant(&s->ir->code[t->inst]))
            s->next_constant = now + CONTROL_CONSTANT_GAP;
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
}

/* Exchanges the values that live before the tasks with the values that live after them. Then growth() describes the
 * tasks in reverse order. */
static void reverse_values(struct schedule *s) {
    for (uint32_t k = 1; k <= s->n_values; k++) {
        const bool was_live = s->value[k].was_live;
        s->value[k].was_live = !s->value[k].dies;
        s->value[k].dies = !was_live;
    }
}

/* Of the tasks that wait for no other, returns the one with which the live registers grow least: the first of equal
 * ones, or the last one with `backward`. */
static uint32_t smallest_task(struct schedule *s, bool backward) {
    uint32_t best = s->n;
    int least = INT_MAX;
    for (uint32_t n = 0; n < s->n; n++) {
        const uint32_t i = backward ? s->n - 1 - n : n;
        const struct task *t = &s->task[i];
        const int more = t->done || t->waits ? INT_MAX : growth(s, t, false).words;
        if (more < least) {
            best = i;
            least = more;
        }
    }
    return best;
}

/* Fills `order` with an order that needs few registers: the next task is one with which they grow least. */
static void find_small_order(struct schedule *s, bool backward) {
    for (uint32_t i = 0; i < s->n; i++) {
        s->task[i].done = false;
        s->task[i].waits = 0;
        for (uint32_t k = 0; k < s->n; k++)
            s->task[i].waits += backward ? k > i && s->after[i][k] : k < i && s->after[k][i];
    }
    if (backward)
        reverse_values(s);
    begin_words(s);
    for (uint32_t n = 0; n < s->n; n++) {
        const uint32_t i = smallest_task(s, backward);
        growth(s, &s->task[i], true);
        s->task[i].done = true;
        s->order[backward ? s->n - 1 - n : n] = i;
        for (uint32_t k = 0; k < s->n; k++)
            if (backward ? k < i && s->after[k][i] : k > i && s->after[i][k])
                s->task[k].waits--;
    }
    if (backward)
        reverse_values(s);
}

static void permute_tasks(struct schedule *s) {
    uint32_t inst[MOST];
    for (uint32_t n = 0; n < s->n; n++)
        inst[n] = s->task[s->order[n]].inst;
    for (uint32_t n = 0; n < s->n; n++)
        s->task[n].inst = inst[n];
}

/* Puts the tasks into an order that needs few registers. Returns by how much they grow. */
static int lower_growth(struct schedule *s) {
    uint32_t best[MOST];
    int least = most_growth(s).words;
    for (uint32_t n = 0; n < s->n; n++)
        best[n] = s->task[n].inst;
    for (int k = 0; k < 2; k++) {
        prepare(s);
        find_small_order(s, k == 0);
        permute_tasks(s);
        const int words = most_growth(s).words;
        if (words < least) {
            least = words;
            for (uint32_t n = 0; n < s->n; n++)
                best[n] = s->task[n].inst;
        }
    }
    for (uint32_t n = 0; n < s->n; n++)
        s->task[n].inst = best[n];
    return least;
}

/* Returns the number of live registers before the tasks. */
static int live_before(struct schedule *s) {
    const uint32_t first = s->task[0].inst;
    find_values(s);
    begin_words(s);
    const int step = growth(s, &s->task[0], false).words; /* live_at[first] includes it */
    return (int)s->ir->live_at[first] - (step > 0 ? step : 0);
}

/* Returns by how much the live registers may grow during the tasks. If they grow by more in the original order, puts
 * the tasks into another order. */
static struct room growth_allowed(struct schedule *s) {
    const struct ir *ir = s->ir;
    const int begin = live_before(s), words = s->allowed[ir->info[s->task[0].inst].function] - begin;
    struct room allowed;
    if (most_growth(s).words > words)
        lower_growth(s);
    const struct room most = most_growth(s);
    allowed.words = words;
    allowed.words = allowed.words > most.words ? allowed.words : most.words;
    allowed.predicates = PREDICATES;
    for (uint32_t k = 1; k <= s->n_values; k++)
        allowed.predicates -= s->value[k].predicate && s->value[k].was_live;
    allowed.predicates = allowed.predicates > most.predicates ? allowed.predicates : most.predicates;
    return allowed;
}

static void take_tasks(struct schedule *s, uint32_t from, uint32_t to) {
    s->n = to - from;
    for (uint32_t i = 0; i < s->n; i++)
        s->task[i].inst = from + i;
}

/* Returns the end of the instructions from `from` on that may pass each other. */
static uint32_t run_end(const struct ir *ir, uint32_t from) {
    uint32_t to = from;
    while (to < ir->blocks[ir->info[from].block].end && to - from < MOST && !is_fence(ir, &ir->code[to]))
        to++;
    return to;
}

/* Returns where the next run begins. A run without instructions is a fence. */
static uint32_t after_run(uint32_t from, uint32_t to) { return to > from ? to : to + 1; }

/* Returns the number of live registers that the function cannot do without. */
static uint32_t least_pressure(struct schedule *s, const struct ir_function *f, int most) {
    const struct ir *ir = s->ir;
    int least = 0;
    for (uint32_t from = f->begin, to; from < f->end; from = after_run(from, to)) {
        to = run_end(ir, from);
        take_tasks(s, from, to);
        int words = (int)ir->live_at[from];
        if (s->n) {
            const int begin = live_before(s), grown = most_growth(s).words;
            words = begin + (begin + grown > most ? lower_growth(s) : grown);
        }
        least = words > least ? words : least;
    }
    return (uint32_t)least;
}

/* Returns how many registers the function may need: as many as leave the occupancy that the function can have. */
static int find_allowed(struct schedule *s, const struct ir_function *f) {
    struct ir_function small = *f;
    small.pressure = 1;
    const int most = (int)registers_allowed(s->ir, &small);
    small.pressure = (int)f->pressure > most ? least_pressure(s, f, most) : f->pressure;
    const int allowed = (int)registers_allowed(s->ir, &small);
    ir_note(s->ir, f->begin, "%u words are live at once; %u can be; at most %d should be", f->pressure, small.pressure,
            allowed);
    return allowed;
}

/* Orders the instructions [from, to) of a block, which may pass each other. */
static void order_run(struct schedule *s, struct edit *e, uint32_t from, uint32_t to) {
    uint32_t block = s->ir->info[from].block;
    take_tasks(s, from, to);
    if (s->n < 2)
        return;
    order_tasks(s, growth_allowed(s));
    for (uint32_t n = 0; n < s->n; n++) {
        const uint32_t inst = s->task[s->order[n]].inst, at = from + n;
        if (to < s->ir->blocks[block].end)
            edit_move_before(e, inst, to);
        else
            edit_move_to_end(e, inst, block);
        if (inst < at)
            ir_note(s->ir, inst, "later by %u", at - inst);
        else if (inst > at)
            ir_note(s->ir, inst, "earlier by %u", inst - at);
    }
}

bool pass_schedule(struct ir *ir) {
    struct schedule *s = arena_alloc(ir->tmp, sizeof *s);
    s->ir = ir;
    control_latencies_read(&s->latencies, &ir->context);
    s->shared_gap = pass_option(&ir->context, "core.shared_gap", ACCESS_GAP);
    if (!pass_liveness(ir))
        return false;
    s->needed = find_needed(ir);
    s->current = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *s->current);
    s->value_of = arena_array(ir->tmp, (size_t)ir->n_regs + 1, sizeof *s->value_of);
    s->value = arena_array(ir->tmp, (size_t)ir->n_regs + 1, sizeof *s->value);
    s->saved = arena_array(ir->tmp, (size_t)ir->n_regs + 1, sizeof *s->saved);
    s->allowed = arena_array(ir->tmp, ir->n_functions, sizeof *s->allowed);
    struct edit *e = edit_begin(ir);
    for (uint32_t f = 0; f < ir->n_functions; f++)
        s->allowed[f] = find_allowed(s, &ir->functions[f]);
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        for (uint32_t from = ir->blocks[b].begin, to; from < ir->blocks[b].end; from = after_run(from, to)) {
            to = run_end(ir, from);
            if (to > from)
                order_run(s, e, from, to);
        }
    return edit_end(e);
}
