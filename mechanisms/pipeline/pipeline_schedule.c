/* Iterative modulo scheduling (Rau 1994, section 3). It places instructions in the order of the longest path of
 * dependent instructions, longest first. Each instruction gets the earliest free slot modulo II that its dependences
 * allow. An instruction that occupies the slot is evicted and scheduled again, within a budget. Modulo variable
 * expansion follows (Lam, "Software pipelining", PLDI 1988): it finds the number of registers that each value needs, so
 * that no iteration overwrites a value that another iteration has not read yet. */
#include "pipeline.h"
#include <string.h>

enum {
    BUDGET = 8,   /* maximum average number of placements per instruction of the loop */
    WINDOW = 32,  /* number of iterations of a trial run */
    SETTLED = 12, /* number of iterations at the start of a trial run that are not measured */
    /* The search tries this number of successive II values, from the smallest on. After that, it increases II in steps
     * of 1/32 of the distance from the first II. */
    EACH_II = 256
};
#define NOT_YET UINT32_MAX

/* Dependence edges, sorted by one of their two instructions (`from` or `to`). The edges of instruction `op` are
 * edge[begin[op]] to edge[begin[op + 1] - 1]. */
struct by_end {
    uint32_t *begin;
    const struct pipe_edge **edge;
};

struct attempt {
    struct pipe_graph *g;
    const struct pipe_wish *wish;
    struct by_end into, from;
    uint32_t ii;
    unsigned load;
    uint64_t *issued; /* in a trial: instruction `op` of iteration i issues in cycle issued[i * n + op] */
    uint32_t *words;  /* used by most_words(): number of register words in use in each cycle of II */
    int64_t *height;  /* cycles from an instruction to the end of everything that depends on it */
    int64_t *to_jump; /* cycles from the instruction to the branch; NO_WAY: the branch does not depend on it */
    uint32_t *time, *slot, *least, *order;
};
#define NO_WAY INT64_MIN

static unsigned cycles_of(const struct attempt *a, const struct pipe_edge *e) {
    return e->of_load ? a->load : e->latency;
}

/* Finds longest paths by relaxation, from the last instruction back, so that one pass over the instructions
 * computes all paths within an iteration. Returns false if a recurrence takes longer than II for each iteration
 * that it spans. */
static bool relax(const struct attempt *a, int64_t *way) {
    const struct pipe_graph *g = a->g;
    for (uint32_t round = 0; round <= g->n; round++) {
        bool changed = false;
        for (uint32_t k = g->n_edges; k-- > 0;) {
            const struct pipe_edge *e = a->from.edge[k];
            if (way[e->to] == NO_WAY)
                continue;
            int64_t by = way[e->to] + cycles_of(a, e) - (int64_t)a->ii * e->distance;
            if (by > way[e->from]) {
                way[e->from] = by;
                changed = true;
            }
        }
        if (!changed)
            return true;
    }
    return false;
}

/* Finds longest paths at the current II. The branch issues at II - 1: the instructions that it depends on must have
 * finished. */
static bool find_ways(struct attempt *a) {
    memset(a->height, 0, a->g->n * sizeof *a->height);
    for (uint32_t k = 0; k < a->g->n; k++)
        a->to_jump[k] = NO_WAY;
    a->to_jump[a->g->n - 1] = 0;
    if (!relax(a, a->height) || !relax(a, a->to_jump))
        return false;
    for (uint32_t k = 0; k < a->g->n; k++)
        if (a->to_jump[k] != NO_WAY && a->to_jump[k] > (int64_t)a->ii - 1)
            return false;
    return true;
}

static uint32_t earliest(const struct attempt *a, uint32_t op) {
    int64_t at = 0;
    for (uint32_t k = a->into.begin[op]; k < a->into.begin[op + 1]; k++) {
        const struct pipe_edge *e = a->into.edge[k];
        if (e->from == op || a->time[e->from] == NOT_YET)
            continue;
        int64_t by = (int64_t)a->time[e->from] + cycles_of(a, e) - (int64_t)a->ii * e->distance;
        at = by > at ? by : at;
    }
    return (uint32_t)at;
}

static void take_out(struct attempt *a, uint32_t op) {
    a->slot[a->time[op] % a->ii] = NO_INST;
    a->time[op] = NOT_YET;
}

/* Returns the next instruction to place. Order: instructions that the branch depends on, longer paths, program order.
 */
static uint32_t choose(const struct attempt *a) {
    uint32_t best = NO_INST;
    for (uint32_t k = 0; k < a->g->n; k++) {
        if (a->time[k] != NOT_YET)
            continue;
        bool early = a->to_jump[k] != NO_WAY, best_early = best != NO_INST && a->to_jump[best] != NO_WAY;
        if (best == NO_INST || early > best_early || (early == best_early && a->height[k] > a->height[best]))
            best = k;
    }
    return best;
}

/* Places the instruction in cycle `at`. Evicts the instruction in this slot, and dependents that now issue too early.
 * Returns false if the branch would have to wait for the instruction, or if the branch occupies the slot. */
static bool put(struct attempt *a, uint32_t op, uint32_t at) {
    uint32_t jump = a->g->n - 1, other = a->slot[at % a->ii];
    if (other == jump || (a->to_jump[op] != NO_WAY && at + a->to_jump[op] > (int64_t)a->ii - 1))
        return false;
    if (other != NO_INST)
        take_out(a, other);
    a->slot[at % a->ii] = op;
    a->time[op] = at;
    a->least[op] = at + 1;
    for (uint32_t k = a->from.begin[op]; k < a->from.begin[op + 1]; k++) {
        const struct pipe_edge *e = a->from.edge[k];
        if (e->to == op || a->time[e->to] == NOT_YET)
            continue;
        if ((int64_t)a->time[e->to] + (int64_t)a->ii * e->distance < (int64_t)at + cycles_of(a, e)) {
            if (e->to == jump)
                return false;
            take_out(a, e->to);
        }
    }
    return true;
}

static bool place_one(struct attempt *a, uint32_t op) {
    uint32_t from = earliest(a, op), at = from;
    while (at < from + a->ii && a->slot[at % a->ii] != NO_INST)
        at++;
    bool late = a->to_jump[op] != NO_WAY && at + a->to_jump[op] > (int64_t)a->ii - 1;
    if (at == from + a->ii || late) {
        at = from > a->least[op] ? from : a->least[op];
        if (a->slot[at % a->ii] == a->g->n - 1)
            at++;
    }
    return put(a, op, at);
}

/* Schedules all instructions at the current II. */
static bool schedule(struct attempt *a) {
    uint32_t n = a->g->n, budget = BUDGET * n;
    if (!find_ways(a))
        return false;
    memset(a->time, 0xff, n * sizeof *a->time);
    memset(a->slot, 0xff, a->ii * sizeof *a->slot);
    memset(a->least, 0, n * sizeof *a->least);
    if (!put(a, n - 1, a->ii - 1))
        return false;
    for (uint32_t op; (op = choose(a)) != NO_INST;)
        if (!budget-- || !place_one(a, op))
            return false;
    return true;
}

static uint32_t stages_of(const struct attempt *a) {
    uint32_t most = 0;
    for (uint32_t k = 0; k < a->g->n; k++)
        most = a->time[k] > most ? a->time[k] : most;
    return most / a->ii + 1;
}

/* ---- registers ---- */

/* Returns the lifetime of a value in cycles, from its first write to its last use. `own` is true if the last use is the
 * instruction that writes the value in the next iteration; it reads the value before it writes. */
static uint32_t life_of(const struct pipe_graph *g, const uint32_t *time, uint32_t ii, uint32_t value, bool *own) {
    uint32_t longest = 0;
    *own = true;
    for (uint32_t k = 0; k < g->n_refs; k++) {
        const struct pipe_ref *r = &g->refs[k];
        if (r->value != value || (r->write && r->op == g->values[value].op))
            continue;
        uint32_t life = time[r->op] + r->distance * ii - time[g->values[value].op];
        if (life >= longest) {
            longest = life;
            *own = r->op == g->values[value].op;
        }
    }
    return longest;
}

/* Sets the number of registers (copies) of each value. Returns the number of iterations in the unrolled kernel. */
static uint32_t count_copies(const struct attempt *a, uint32_t *copies) {
    const struct pipe_graph *g = a->g;
    uint32_t rounds = 1;
    for (uint32_t v = 0; v < g->n_values; v++) {
        bool own;
        uint32_t life = life_of(g, a->time, a->ii, v, &own);
        copies[v] = life / a->ii + !own;
        if (!copies[v])
            copies[v] = 1;
        rounds = copies[v] > rounds ? copies[v] : rounds;
    }
    for (uint32_t v = 0; v < g->n_values; v++)
        while (rounds % copies[v])
            copies[v]++;
    return rounds;
}

/* Returns the maximum number of register words that the values of the loop occupy at one time if an iteration begins
 * every `ii` cycles. A value that is read after the loop lives to the end of its iteration. */
static uint32_t most_words(const struct attempt *a, const uint32_t *time, uint32_t ii, uint32_t end) {
    const struct pipe_graph *g = a->g;
    uint32_t *words = a->words, most = 0;
    memset(words, 0, ii * sizeof *words);
    for (uint32_t v = 0; v < g->n_values; v++) {
        bool own;
        uint32_t from = time[g->values[v].op], life = life_of(g, time, ii, v, &own);
        if (g->values[v].live_out && from + life < end)
            life = end - from;
        for (uint32_t t = from + 1; t <= from + life; t++)
            words[t % ii] += g->values[v].words;
    }
    for (uint32_t t = 0; t < ii; t++)
        most = words[t] > most ? words[t] : most;
    return most;
}

/* ---- cycles of an iteration ---- */

struct trial {
    const struct attempt *a;
    uint64_t now; /* cycle in which the last instruction issued */
};

static void issue(struct trial *t, uint32_t op, uint32_t iteration) {
    const struct pipe_graph *g = t->a->g;
    const struct by_end *into = &t->a->into;
    uint64_t at = t->now + 1, *issued = t->a->issued;
    for (uint32_t k = into->begin[op]; k < into->begin[op + 1]; k++) {
        const struct pipe_edge *e = into->edge[k];
        if (e->distance > iteration || (e->distance == 0 && e->from == op))
            continue;
        uint64_t ready = issued[(size_t)(iteration - e->distance) * g->n + e->from] + cycles_of(t->a, e);
        at = ready > at ? ready : at;
    }
    issued[(size_t)iteration * g->n + op] = t->now = at;
}

/* Returns the cycles per iteration of the unpipelined loop, issued in order, in the steady state after many
 * iterations. */
static double plain_cycles(const struct attempt *a) {
    struct trial t = {.a = a};
    uint64_t settled = 0;
    for (uint32_t i = 0; i < WINDOW; i++) {
        for (uint32_t op = 0; op < a->g->n; op++)
            issue(&t, op, i);
        if (i + 1 == SETTLED)
            settled = t.now;
    }
    return (double)(t.now - settled) / (WINDOW - SETTLED);
}

static double kernel_cycles(const struct attempt *a) {
    struct trial t = {.a = a};
    uint64_t settled = 0;
    for (uint32_t part = 0; part < WINDOW; part++) {
        for (uint32_t r = 0; r < a->ii; r++) {
            uint32_t op = a->slot[r];
            if (op != NO_INST && a->time[op] / a->ii <= part)
                issue(&t, op, part - a->time[op] / a->ii);
        }
        if (part + 1 == SETTLED)
            settled = t.now;
    }
    return (double)(t.now - settled) / (WINDOW - SETTLED);
}

/* ---- the search ---- */

/* Finds the smallest II that the recurrences and the instructions before the branch allow. Returns `most` if no smaller
 * II works. Every larger II works, too, since no path becomes longer as II grows. */
static uint32_t find_rec_mii(struct attempt *a, uint32_t most) {
    uint32_t low = 1, high = most;
    while (low < high) {
        a->ii = low + (high - low) / 2;
        if (find_ways(a))
            high = a->ii;
        else
            low = a->ii + 1;
    }
    return low;
}

static int32_t more_words(const struct attempt *a, uint32_t stages, uint32_t plain) {
    return (int32_t)most_words(a, a->time, a->ii, stages * a->ii) - (int32_t)plain;
}

static void keep(const struct attempt *a, uint32_t stages, const uint32_t *copies, uint32_t rounds, int32_t words,
                 double cycles, struct pipe_schedule *s) {
    s->ii = a->ii;
    s->stages = stages;
    s->rounds = rounds;
    s->load = a->load;
    s->words = words;
    s->cycles = cycles;
    memcpy(s->time, a->time, a->g->n * sizeof *s->time);
    memcpy(s->copies, copies, a->g->n_values * sizeof *copies);
}

/* Reasons why there is no schedule. A later reason in the list is more specific. */
enum { NOT_FOUND, AS_LONG, STAGES, REGISTERS };
static const char *const reasons[] = {"no schedule was found", "it takes as long in order",
                                      "it needs more stages than pepsc.pipeline_stages",
                                      "it needs more registers than a thread may have"};

/* Tries one II, with `load` cycles for a load. Returns true if there is a schedule. Otherwise sets `why` to the reason
 * if it is more specific than the reason in `why`. */
static bool try_one(struct attempt *a, const struct attempt *real, uint32_t plain, uint32_t *copies,
                    struct pipe_schedule *s, unsigned *why) {
    unsigned no = NOT_FOUND;
    bool found = schedule(a);
    uint32_t stages = found ? stages_of(a) : 0, rounds = found ? count_copies(a, copies) : 0;
    int32_t words = found ? more_words(a, stages, plain) : 0;
    struct attempt timed = *a;
    timed.load = real->load;
    double cycles = found ? kernel_cycles(&timed) : 0;
    if (found && cycles >= s->plain)
        no = AS_LONG;
    else if (found && (stages > a->wish->stages || rounds > PIPE_MOST_ROUNDS))
        no = STAGES;
    else if (found && words > (int32_t)a->wish->registers)
        no = REGISTERS;
    else if (found && (!s->ii || cycles < s->cycles))
        keep(a, stages, copies, rounds, words, cycles, s);
    *why = no > *why ? no : *why;
    return found && no == NOT_FOUND;
}

static struct by_end by_end(const struct pipe_graph *g, bool to) {
    struct by_end b = {.begin = arena_array(g->ir->tmp, (size_t)g->n + 2, sizeof *b.begin),
                       .edge = arena_array(g->ir->tmp, (size_t)g->n_edges + 1, sizeof *b.edge)};
    for (uint32_t k = 0; k < g->n_edges; k++)
        b.begin[(to ? g->edges[k].to : g->edges[k].from) + 2]++;
    for (uint32_t op = 0; op < g->n; op++)
        b.begin[op + 2] += b.begin[op + 1];
    /* begin[op + 1] is the place of the next edge of `op`; in the end, it is the end of the edges of `op` */
    for (uint32_t k = 0; k < g->n_edges; k++)
        b.edge[b.begin[(to ? g->edges[k].to : g->edges[k].from) + 1]++] = &g->edges[k];
    return b;
}

/* Begins an attempt that only measures cycles of loops whose instructions issue in order. */
static struct attempt begin_in_order(struct pipe_graph *g, const struct pipe_wish *wish) {
    return (struct attempt){.g = g,
                            .wish = wish,
                            .load = wish->load,
                            .into = by_end(g, true),
                            .from = by_end(g, false),
                            .issued = arena_array(g->ir->tmp, (size_t)WINDOW * g->n + 1, sizeof(uint64_t))};
}

static struct attempt begin(const struct attempt *in_order, uint32_t most) {
    struct attempt a = *in_order;
    struct arena *tmp = a.g->ir->tmp;
    a.height = arena_array(tmp, a.g->n, sizeof *a.height);
    a.to_jump = arena_array(tmp, a.g->n, sizeof *a.to_jump);
    a.time = arena_array(tmp, a.g->n, sizeof *a.time);
    a.least = arena_array(tmp, a.g->n, sizeof *a.least);
    a.slot = arena_array(tmp, (size_t)most + 1, sizeof *a.slot);
    a.words = arena_array(tmp, (size_t)most + 1, sizeof *a.words);
    return a;
}

/* Returns the number of register words that the unpipelined loop needs. */
static uint32_t plain_words(const struct attempt *a) {
    uint32_t *time = arena_array(a->g->ir->tmp, a->g->n, sizeof *time);
    for (uint32_t k = 0; k < a->g->n; k++)
        time[k] = k;
    return most_words(a, time, a->g->n, a->g->n);
}

const char *pipe_schedule(struct pipe_graph *g, const struct pipe_wish *wish, struct pipe_schedule *s) {
    unsigned why = NOT_FOUND;
    *s = (struct pipe_schedule){.time = arena_array(g->ir->tmp, g->n, sizeof *s->time),
                                .copies = arena_array(g->ir->tmp, (size_t)g->n_values + 1, sizeof *s->copies)};
    uint32_t *copies = arena_array(g->ir->tmp, (size_t)g->n_values + 1, sizeof *copies);
    const struct attempt real = begin_in_order(g, wish);
    s->plain = plain_cycles(&real);
    /* the search ends before this II, at which the pipelined loop would not be faster than the unpipelined one */
    uint32_t most = (uint32_t)s->plain + 1;
    struct attempt a = begin(&real, most);
    uint32_t plain = plain_words(&a);
    s->res_mii = g->n; /* one instruction issues per cycle */
    s->rec_mii = find_rec_mii(&a, most);
    uint32_t least = s->rec_mii > g->n ? s->rec_mii : g->n;
    for (uint32_t ii = least; ii < most && (!s->ii || ii < s->cycles);
         ii += ii - least < EACH_II ? 1 : (ii - least) / 32)
        for (a.load = wish->load; a.load; a.load /= 2) {
            a.ii = ii;
            if (try_one(&a, &real, plain, copies, s, &why) && a.load == wish->load)
                /* the schedule assumes the wished load latency, so shorter latencies need not be tried */
                break;
        }
    for (uint32_t v = 0; s->ii && v < g->n_values; v++)
        g->values[v].copies = s->copies[v];
    return s->ii ? NULL : s->rec_mii >= most || g->n >= most ? reasons[AS_LONG] : reasons[why];
}
