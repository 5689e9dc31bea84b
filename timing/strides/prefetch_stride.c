#include "prefetch_stride.h"
#include "isa/types.h"
#include "timing/sm/unit_access.h"
#include <stdlib.h>
#include <string.h>

/* The bounds of device memory. A prefetch address outside these bounds is not requested. */
#define LOWEST  DEVICE_BASE
#define HIGHEST (1ull << 40)
#define NO_LINE (~0ull)
enum { SECTOR = 32 };

static uint64_t *victim_place(struct prefetch_victims *v, uint64_t line, uint32_t line_bytes) {
    uint64_t number = line / line_bytes;
    return &v->line[(number ^ number / PREFETCH_VICTIMS) % PREFETCH_VICTIMS];
}

void prefetch_victims_add(struct prefetch_victims *v, uint64_t line, uint32_t line_bytes) {
    *victim_place(v, line, line_bytes) = line + 1;
}

bool prefetch_victims_take(struct prefetch_victims *v, uint64_t line, uint32_t line_bytes) {
    uint64_t *at = victim_place(v, line, line_bytes);
    if (*at != line + 1)
        return false;
    *at = 0;
    return true;
}

struct stride_prefetcher *stride_prefetcher_new(const struct stride_kind *kind) {
    struct stride_prefetcher *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->kind = *kind;
    p->cfg = kind->cfg;
    p->first = stride_first_stat(kind->name);
    p->queue = malloc(p->cfg->queue * sizeof *p->queue);
    if (!prefetch_table_init(&p->table, p->cfg->table, p->cfg->ways, p->cfg->train) || !p->queue) {
        stride_prefetcher_free(p);
        return NULL;
    }
    for (uint32_t i = 0; i < p->cfg->queue; i++)
        p->queue[i].line = NO_LINE;
    return p;
}

void stride_prefetcher_free(void *prefetcher) {
    struct stride_prefetcher *p = prefetcher;
    prefetch_table_free(&p->table);
    free(p->queue);
    free(p);
}

void stride_prefetcher_place(struct stride_prefetcher *p, const struct config *cfg,
                             const struct prefetch_place *place) {
    p->place = place;
    p->target_bytes = p->cfg->level == STRIDE_INTO_L1 ? place->line_bytes : cfg->l2.size ? cfg->l2.line : 0;
    p->table.grain = p->cfg->confirm_by_line && p->target_bytes ? p->target_bytes : 1;
}

/* Returns the entry of p->queue for a line that was requested and has not arrived. Returns NULL if no entry has the
 * line. */
static struct prefetch_queued *search(struct stride_prefetcher *p, uint64_t line) {
    p->n.searches++;
    for (uint32_t i = 0; p->n_queued && i < p->cfg->queue; i++)
        if (p->queue[i].line == line)
            return &p->queue[i];
    return NULL;
}

/* Raises the degree of a load whose prefetches come too late. The degree counts executions of the load, and one
 * execution may need many lines, so the degree is raised at most once per execution. Returns true if the degree was
 * raised. */
static bool raise_degree(struct stride_prefetcher *p, uint16_t warp, struct prefetch_entry *e) {
    if (p->warp[warp].grown)
        return false;
    p->warp[warp].grown = true;
    bool may = e->degree < p->kind.max_degree;
    e->degree = (uint16_t)(e->degree + may);
    p->n.capped += !may;
    return may;
}

/* Returns the sectors that the access would need in the line of the target cache if its addresses were `by` bytes
 * higher. */
static uint8_t sectors_of(const struct stride_prefetcher *p, const struct prefetch_seen *s, uint64_t by,
                          uint64_t line) {
    uint8_t mask = 0;
    for (uint32_t k = 0; k < 8; k++) {
        uint64_t first = s->line + SECTOR * k + by, last = first + SECTOR - 1;
        if (!(s->sectors >> k & 1))
            continue;
        if (first - line < p->target_bytes)
            mask |= (uint8_t)(1u << (first - line) / SECTOR);
        if (last - line < p->target_bytes)
            mask |= (uint8_t)(1u << (last - line) / SECTOR);
    }
    return mask;
}

/* Requests a line if the queue has a free entry. */
static void request_line(struct stride_prefetcher *p, const struct prefetch_seen *s, uint64_t address, uint64_t line) {
    uint32_t tag = 0;
    while (tag < p->cfg->queue && p->queue[tag].line != NO_LINE)
        tag++;
    if (tag == p->cfg->queue) {
        p->n.full++;
        return;
    }
    struct prefetch_request r = {.address = address,
                                 .tag = tag,
                                 .pc = s->pc,
                                 .warp = s->warp,
                                 .want = p->cfg->level == STRIDE_INTO_L1 ? PREFETCH_LINE : PREFETCH_INTO_L2,
                                 .sectors = sectors_of(p, s, address - s->address, line)};
    enum prefetch_asked asked = prefetch_ask(p->place, &r, s->cycle);
    p->n.full += asked == PREFETCH_FULL;
    p->n.outside += asked == PREFETCH_NEVER;
    if (asked != PREFETCH_QUEUED)
        return;
    p->queue[tag] = (struct prefetch_queued){line, p->warp[s->warp].execution};
    p->n_queued++;
}

/* Requests the prefetch that the table entry predicts after this line of the load. A stride that stays within the line
 * causes no prefetch. */
static void prefetch(struct stride_prefetcher *p, const struct prefetch_seen *s, struct prefetch_entry *e) {
    uint64_t mask = ~(p->target_bytes - 1ull), address = s->address + (uint64_t)e->stride * e->degree,
             line = address & mask;
    if (line == (s->address & mask))
        return;
    p->n.wanted++;
    if (address < LOWEST || address >= HIGHEST) {
        p->n.outside++;
        return;
    }
    const struct prefetch_queued *q = search(p, line);
    if (!q) {
        request_line(p, s, address, line);
        return;
    }
    p->n.queued++;
    if (p->kind.dynamic && p->kind.both && q->execution != p->warp[s->warp].execution)
        p->n.by_prefetch += raise_degree(p, s->warp, e);
}

static void count_degree(struct stride_prefetcher *p, const struct prefetch_seen *s, uint32_t degree) {
    uint32_t bucket = profile_degree(degree);
    p->n.believed++;
    p->n.degree_sum += degree;
    p->n.most = degree > p->n.most ? degree : p->n.most;
    p->n.degree[bucket]++;
    if (p->profile)
        p->profile[s->pc].degree[bucket]++;
}

/* Handles a load that missed, or would have missed without prefetches. The first such line of an execution trains the
 * table. */
static void handle_miss(struct stride_prefetcher *p, const struct prefetch_seen *s) {
    struct prefetch_entry *e = prefetch_table_find(&p->table, s->pc, s->warp);
    bool first = p->warp[s->warp].pc == s->pc && !p->warp[s->warp].trained;
    p->n.misses++;
    if (p->kind.dynamic && search(p, s->address & ~(p->target_bytes - 1ull)) && prefetch_believed(&p->table, e))
        p->n.by_load += raise_degree(p, s->warp, e);
    if (first) {
        p->warp[s->warp].trained = true;
        p->n.trained++;
        e = prefetch_table_learn(&p->table, e, s->pc, s->warp, s->address);
    }
    if (!prefetch_believed(&p->table, e))
        return;
    if (first)
        count_degree(p, s, e->degree);
    prefetch(p, s, e);
}

/* Returns true if the load missed. With prefetches into the L1, the first use of a prefetched line counts as a miss. */
static bool is_miss(const struct stride_prefetcher *p, const struct prefetch_seen *s) {
    if (s->result == SEEN_PAST)
        return p->cfg->level == STRIDE_INTO_L2;
    return s->result != SEEN_HIT || (s->first_use && s->own);
}

static void observe(void *prefetcher, const struct prefetch_seen *s) {
    struct stride_prefetcher *p = prefetcher;
    if (s->kind != SEEN_LOAD || s->local || !p->target_bytes)
        return;
    if (s->leads) {
        p->warp[s->warp].execution = ++p->executions;
        p->warp[s->warp].pc = s->pc;
        p->warp[s->warp].trained = p->warp[s->warp].grown = false;
    }
    if (!is_miss(p, s))
        return;
    if (p->cfg->level == STRIDE_INTO_L1 && s->result == SEEN_MISS)
        p->lines.pollution += prefetch_victims_take(&p->victims, s->line, p->target_bytes);
    handle_miss(p, s);
}

static void evicted(void *prefetcher, const struct prefetch_victim *v) {
    struct stride_prefetcher *p = prefetcher;
    if (p->cfg->level == STRIDE_INTO_L1 && p->target_bytes && v->ahead)
        prefetch_victims_add(&p->victims, v->line, p->target_bytes);
}

static void answer(void *prefetcher, uint32_t tag, enum prefetch_answer a, uint64_t now) {
    struct stride_prefetcher *p = prefetcher;
    (void)now;
    if (a == PREFETCH_SENT)
        return; /* the request has been sent, so the line stays in the queue until it arrives */
    p->queue[tag].line = NO_LINE;
    p->n_queued--;
}

/* clang-format off */
#define IN of_strides
static const struct stat_row sm_rows[] = {
#define COUNT_ROWS struct stride_counts
#include "timing/report/count_begin.def"
    STRIDE_SM_STATS("")
#include "timing/report/count_end.def"
};
static const struct stat_row degree_rows[] = {
#define COUNT_ROWS struct stride_counts
#include "timing/report/count_begin.def"
    STRIDE_DEGREE_STATS("")
#include "timing/report/count_end.def"
};
static const struct stat_row table_rows[] = {
#define COUNT_ROWS struct stride_table_counts
#include "timing/report/count_begin.def"
    STRIDE_TABLE_STATS("")
#include "timing/report/count_end.def"
};
static const struct stat_row line_rows[] = {
#define COUNT_ROWS struct stride_line_counts
#include "timing/report/count_begin.def"
    STRIDE_LINE_STATS("")
#include "timing/report/count_end.def"
};
#undef IN
/* clang-format on */
#define ADD(rows, counts) stats_count(s, rows, sizeof(rows) / sizeof(rows)[0], counts, first)

int stride_first_stat(const char *name) {
    char key[64];
    snprintf(key, sizeof key, "%s.misses", name);
    return stat_index(key);
}

void stride_line_stats(const struct stride_line_counts *n, int first, struct stats *s) { ADD(line_rows, n); }

/* Adds the statistics. They do not include lines that were prefetched into the L2: the L2 slices count these
 * (prefetch_watch.c). */
static void add_stats(void *prefetcher, const struct prefetch_counts *n, struct stats *s) {
    struct stride_prefetcher *p = prefetcher;
    const int first = p->first;
    ADD(sm_rows, &p->n);
    ADD(table_rows, &p->table.n);
    stats_put(s, (enum stat_id)(first + STAT_of_strides_asked), (double)n->asked);
    if (p->cfg->level == STRIDE_INTO_L1) {
        p->lines.present = n->present + n->pending;
        p->lines.issued = n->sent;
        p->lines.useful = n->useful;
        p->lines.late = n->late;
        p->lines.unused = n->unused;
        stride_line_stats(&p->lines, first, s);
        stats_put(s, (enum stat_id)(first + STAT_of_strides_refused), (double)n->refused);
    }
    if (p->kind.dynamic)
        ADD(degree_rows, &p->n);
    memset(&p->n, 0, sizeof p->n);
    memset(&p->lines, 0, sizeof p->lines);
    memset(&p->table.n, 0, sizeof p->table.n);
}

static int describe(const void *prefetcher, char *out, size_t size) {
    const struct stride_prefetcher *p = prefetcher;
    return snprintf(out, size, "%u of %u prefetches are on their way", p->n_queued, p->cfg->queue);
}

const struct prefetcher_ops stride_prefetcher_ops = {
    .name = "strides",
    .observe = observe,
    .evicted = evicted,
    .answer = answer,
    .stats = add_stats,
    .describe = describe,
};

/* Begins a launch. Clears the table if the program differs from the previous one, because the same PC then belongs to
 * another instruction. */
bool stride_prefetcher_launch(void *prefetcher, struct sm *sm, uint64_t now) {
    struct stride_prefetcher *p = prefetcher;
    (void)now;
    if (!p->place) {
        const struct prefetch_place *place = lsu_join(sm_get_lsu(sm), &stride_prefetcher_ops, p);
        if (!place)
            return false;
        stride_prefetcher_place(p, sm_get_config(sm), place);
    }
    if (p->program != sm_get_program(sm)->program)
        prefetch_table_clear(&p->table);
    p->program = sm_get_program(sm)->program;
    p->profile = sm_get_profile(sm);
    return true;
}
