#include "timing/sm/unit_access.h"
#include "units.h"
#include <stdlib.h>

struct meter {
    struct issue_meter *out;
    uint64_t due; /* first cycle in which the slow warp may issue */
    bool asks;    /* true if the slow warp was refused; tick() then makes the SM reconsider it in cycle `due` */
};

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    struct meter *m = calloc(1, sizeof *m);
    (void)cfg;
    (void)sm;
    if (m)
        m->out = ctx;
    return m;
}

static uint8_t may_issue(void *u, struct sm *sm, const struct sm_candidate *c, uint64_t now) {
    struct meter *m = u;
    (void)sm;
    if (!m->out->gap || c->warp != m->out->slow_warp || now >= m->due)
        return PATH_READY;
    m->asks = true;
    m->out->refused++;
    return PATH_QUEUE;
}

static void issued(void *u, struct sm *sm, const struct sm_issued *i) {
    struct meter *m = u;
    (void)sm;
    m->out->performed += i->fx != NULL;
    if (i->phase == ISSUE_PERFORMED)
        return;
    m->out->issued[i->warp]++;
    if (i->warp == m->out->slow_warp)
        m->due = i->cycle + m->out->gap;
}

static void tick(void *u, struct sm *sm, uint64_t now) {
    struct meter *m = u;
    if (!m->asks || now < m->due)
        return;
    m->asks = false;
    sm_reconsider(sm, m->out->slow_warp, now);
}

static uint64_t next(void *u, struct sm *sm, uint64_t now) {
    const struct meter *m = u;
    (void)sm;
    return !m->asks ? UINT64_MAX : m->due > now ? m->due : now + 1;
}

static void begin_cta(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    (void)sm, (void)cta, (void)now;
    ((struct meter *)u)->out->ctas++;
}

static void end_cta(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    (void)sm, (void)cta, (void)now;
    ((struct meter *)u)->out->ended++;
}

static void open_barrier(void *u, struct sm *sm, uint32_t cta, uint32_t number, uint64_t now) {
    (void)sm, (void)cta, (void)number, (void)now;
    ((struct meter *)u)->out->barriers++;
}

static void exited(void *u, struct sm *sm, uint32_t warp, uint64_t now) {
    (void)sm, (void)warp, (void)now;
    ((struct meter *)u)->out->exits++;
}

static void written(void *u, struct sm *sm, const struct sm_written *r) {
    (void)sm, (void)r;
    ((struct meter *)u)->out->written++;
}

static void describe(const void *u, const struct sm *sm, FILE *out) {
    const struct meter *m = u;
    (void)sm;
    fprintf(out, "  issue meter: warp slot %u may issue from cycle %llu on\n", m->out->slow_warp,
            (unsigned long long)m->due);
}

const struct sm_unit_ops issue_meter_unit = {
    .name = "issue_meter",
    .make = make,
    .free = free,
    .cta_start = begin_cta,
    .cta_end = end_cta,
    .barrier = open_barrier,
    .may_issue = may_issue,
    .issued = issued,
    .written = written,
    .exited = exited,
    .tick = tick,
    .next = next,
    .describe = describe,
};
