#include "survey.h"
#include "isa/decode.h"
#include "isa/exec/syscall.h"
#include "isa/machine/launch.h"
#include "isa/machine/warp.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SHIFT = 7, SKETCH_BITS = 1 << 20 };

/* Sums over the CTAs observed since survey_begin(). */
struct counts {
    double blocks[SURVEY_BLOCKS], kinds[SURVEY_KINDS];
    double instructions, entries, lanes, accesses, lines;
    uint64_t marked; /* set bits of the sketch */
};

struct survey {
    struct interp_observer observer;
    const struct program *program;
    uint64_t ctas, seen;  /* CTAs of the launch; number of observed CTAs */
    pthread_mutex_t lock; /* held by survey_issued() */
    struct counts n;
    /* A touched line sets the bit of its hash. The number of lines follows from the number of zero bits ("linear
     * counting"). */
    uint64_t *sketch;
};

uint64_t survey_hash(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static void on_block(void *ctx, uint32_t pc, lanemask_t lanes) {
    struct survey *s = ctx;
    const struct program *p = s->program;
    const double n = p->blocks[p->info[pc].block].end - pc;
    s->n.blocks[survey_hash(pc) % SURVEY_BLOCKS] += n;
    s->n.instructions += n;
    s->n.entries++;
    s->n.lanes += __builtin_popcountll(lanes);
}

static void touch(struct survey *s, uint64_t line) {
    const uint64_t bit = survey_hash(line) % SKETCH_BITS, mask = 1ull << bit % 64;
    s->n.marked += !(s->sketch[bit / 64] & mask);
    s->sketch[bit / 64] |= mask;
}

/* Counts the lines that an access to device memory touches. Neighbouring lanes usually share lines, so each address is
 * compared with that of the lane before. */
static void count_lines(struct survey *s, const struct effects *fx) {
    lanemask_t lanes = fx->lanes & ~(fx->shared_lanes | fx->local_lanes);
    const unsigned bytes = (unsigned)fx->n_elems * fx->msize;
    uint64_t last = UINT64_MAX;
    s->n.accesses++;
    for (; lanes; lanes &= lanes - 1) {
        const unsigned l = (unsigned)__builtin_ctzll(lanes);
        const uint64_t at = fx->halves.shape == SHAPE_ANY ? fx->addr[l] : halves_lane(&fx->halves, l, bytes);
        if (at >> LINE_SHIFT == last)
            continue;
        last = at >> LINE_SHIFT;
        s->n.lines++;
        touch(s, last);
    }
}

static void on_executed(void *ctx, const struct warp *w, const struct inst *in, const struct effects *fx) {
    static const uint8_t kind[N_KINDS] = {[K_LOAD] = 1, [K_STORE] = 2, [K_ATOM] = 3, [K_TEX] = 4};
    struct survey *s = ctx;
    (void)w;
    if (kind[in->kind])
        s->n.kinds[kind[in->kind] - 1]++;
    const bool memory = in->kind >= K_LOAD && in->kind <= K_ATOM && in->cache_op != CACHE_WALK && fx->n_elems;
    if (memory && (fx->space == SPACE_GLOBAL || fx->space == SPACE_GENERIC))
        count_lines(s, fx);
}

void survey_issued(struct survey *s, const struct warp *w, const struct inst *in, uint32_t pc, lanemask_t lanes,
                   const struct effects *fx) {
    const struct program *p = s->program;
    pthread_mutex_lock(&s->lock);
    if (p->blocks[p->info[pc].block].begin == pc)
        on_block(s, pc, lanes);
    on_executed(s, w, in, fx);
    pthread_mutex_unlock(&s->lock);
}

struct survey *survey_new(void) {
    struct survey *s = calloc(1, sizeof *s);
    if (!s || !(s->sketch = calloc(SKETCH_BITS / 64, sizeof *s->sketch))) {
        free(s);
        return NULL;
    }
    s->observer = (struct interp_observer){s, on_block, on_executed};
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void survey_free(struct survey *s) {
    if (!s)
        return;
    pthread_mutex_destroy(&s->lock);
    free(s->sketch);
    free(s);
}

const struct interp_observer *survey_begin(struct survey *s, const struct program *p, uint64_t ctas) {
    if (s->n.marked)
        memset(s->sketch, 0, SKETCH_BITS / 8);
    s->program = p;
    s->ctas = ctas;
    s->seen = ctas < SURVEY_CTAS ? ctas : SURVEY_CTAS;
    s->n = (struct counts){.marked = 0};
    return &s->observer;
}

uint64_t survey_next(const struct survey *s, uint64_t cta) {
    for (uint64_t k = 0; k < s->seen; k++) {
        const uint64_t at = (2 * k + 1) * s->ctas / (2 * s->seen);
        if (at >= cta)
            return at;
    }
    return UINT64_MAX;
}

bool survey_sees(const struct survey *s, uint64_t cta) { return survey_next(s, cta) == cta; }

struct signature survey_end(const struct survey *s) {
    struct signature g = {.lanes = 0};
    if (s->n.instructions <= 0)
        return g;
    double others = s->n.instructions;
    for (int i = 0; i < SURVEY_BLOCKS; i++)
        g.blocks[i] = (float)(s->n.blocks[i] / s->n.instructions);
    for (int i = 0; i < SURVEY_KINDS - 1; i++) {
        g.kinds[i] = (float)(s->n.kinds[i] / s->n.instructions);
        others -= s->n.kinds[i];
    }
    g.kinds[SURVEY_KINDS - 1] = (float)(others / s->n.instructions);
    g.lanes = (float)(s->n.lanes / s->n.entries / WARP_LANES);
    g.lines = s->n.accesses > 0 ? (float)(s->n.lines / s->n.accesses) : 0;
    const double zeros = (double)SKETCH_BITS - (double)s->n.marked;
    g.bytes = (double)SKETCH_BITS * log(SKETCH_BITS / (zeros > 1 ? zeros : 1)) * (1 << LINE_SHIFT);
    return g;
}

/* Returns how far two numbers are apart: 0 for equal numbers, 1 if only one of them is 0. */
static double apart(double a, double b) { return a == b ? 0 : fabs(a - b) / fmax(fabs(a), fabs(b)); }

double signature_distance(const struct signature *a, const struct signature *b) {
    double blocks = 0, kinds = 0;
    for (int i = 0; i < SURVEY_BLOCKS; i++)
        blocks += fabs((double)a->blocks[i] - (double)b->blocks[i]) / 2;
    for (int i = 0; i < SURVEY_KINDS; i++)
        kinds += fabs((double)a->kinds[i] - (double)b->kinds[i]) / 2;
    /* lines and bytes count less than blocks: they affect the time less, and vary more */
    const double lanes = fabs((double)a->lanes - (double)b->lanes),
                 lines = apart((double)a->lines, (double)b->lines) / 4;
    const double bytes = apart(a->bytes, b->bytes) / 4;
    return fmax(fmax(blocks, kinds), fmax(lanes, fmax(lines, bytes)));
}

/* Returns true if the result of an atomic depends on the order in which CTAs execute it: it returns the old value, or
 * its operation is not an integer operation that commutes. */
static bool order_matters(const struct inst *in) {
    static const char *const words[] = {".f16", ".f32", ".f64", ".bf16", ".exch", ".cas", ".inc", ".dec"};
    char name[128];
    uint32_t n;
    bool matters = in->d != OPND_SINK;
    isa_row_name(&isa_rows(&n)[in->row], name, sizeof name);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        matters |= strstr(name, words[i]) != NULL;
    return matters;
}

static enum dependence of_inst(const struct program *p, uint32_t pc) {
    const struct inst *in = &p->code[pc];
    const bool device = in->space != SPACE_SHARED && in->space != SPACE_LOCAL;
    if (p->info[pc].waits && in->kind >= K_BRANCH)
        return CTAS_WAIT;
    if (in->kind == K_ATOM && device && order_matters(in))
        return CTAS_ORDERED;
    if ((in->kind == K_LOAD || in->kind == K_STORE) && device &&
        (in->hints & HINT_VOLATILE || (p->info[pc].order & ORDER_STRONG && !(p->info[pc].order & ORDER_CTA))))
        return CTAS_ORDERED;
    if (in->kind == K_WARP && (in->fn.warp == sys_vprintf || in->fn.warp == sys_malloc || in->fn.warp == sys_free))
        return CTAS_ORDERED;
    return CTAS_FREE;
}

enum dependence survey_dependence(const struct launch *l) {
    enum dependence most = l->workspace || launch_cluster_ctas(l) > 1 ? CTAS_WAIT : CTAS_FREE;
    for (uint32_t pc = 0; pc < l->program->n; pc++) {
        const enum dependence d = of_inst(l->program, pc);
        most = d > most ? d : most;
    }
    return most;
}
