#include "dispatch.h"
#include "clusters.h"
#include "isa/machine/launch.h"
#include "timing/sm/remote.h"
#include "timing/sm/sm.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Returns the coordinates of CTA number `id`. */
static struct dim3 place(const struct dim3 *grid, uint64_t id) {
    uint64_t plane = (uint64_t)grid->x * grid->y;
    return (struct dim3){(uint32_t)(id % grid->x), (uint32_t)(id / grid->x % grid->y), (uint32_t)(id / plane)};
}

/* Takes a cluster that has not begun, for a cluster launch control at an edge. The CTA policy chooses it as if the SM
 * of `cta` had room for a CTA. */
static bool take_cluster(void *ctx, const struct cta *cta, struct dim3 *first) {
    struct ctas *c = ctx;
    if (ctas_all_begun(c))
        return false;
    const uint32_t of = launch_cluster_ctas(c->launch);
    if (of > 1) {
        *first = launch_cluster_cta(c->launch, c->view.begun / of, 0);
    } else {
        const uint64_t number = c->ops->pick(c->state, &c->view, cta->warps[0].smid);
        if (number == CTA_NONE)
            return false;
        *first = place(&c->launch->grid, number);
    }
    c->view.begun += of;
    return true;
}

bool ctas_init(struct ctas *c, const struct cta_ops *ops, const struct cta_view *view) {
    *c = (struct ctas){.launch = view->launch, .ops = ops ? ops : &cta_policy_in_order, .view = *view};
    c->held = calloc(view->sms, sizeof *c->held);
    c->open = calloc(view->sms, sizeof *c->open);
    c->joined = calloc(view->sms, sizeof *c->joined);
    c->state = c->ops->size ? calloc(1, c->ops->size(view->sms)) : NULL;
    if (!c->held || !c->open || !c->joined || (c->ops->size && !c->state))
        return false;
    c->view.held = c->held;
    c->source = (struct cluster_source){take_cluster, c};
    memset(c->open, true, view->sms);
    /* The default policy and clusters continue at view.begun; give() skips the CTAs that other policies pick. */
    if (c->ops == &cta_policy_in_order)
        c->view.begun = view->launch->first_cta;
    if (c->ops->begin)
        c->ops->begin(c->state, &c->view);
    return true;
}

void ctas_free(struct ctas *c) {
    free(c->held);
    free(c->open);
    free(c->joined);
    free(c->state);
    c->held = NULL;
    c->open = c->joined = NULL;
    c->state = NULL;
}

/* Returns true if the launch has clusters of several CTAs. clusters.c then places the CTAs, and no CTA policy is
 * called. */
static bool by_clusters(const struct ctas *c) { return c->clusters && clusters_ctas(c->clusters) > 1; }

bool ctas_may_begin(const struct ctas *c) {
    bool may = false;
    if (by_clusters(c))
        return clusters_may_begin(c);
    for (uint32_t i = 0; i < c->view.sms && !ctas_all_begun(c); i++)
        may |= c->open[i] || sm_status(c->view.sm[i])->ctas < c->held[i];
    return may;
}

/* Tells the policy how many CTAs have ended on each SM that has reached the edge `at`. */
static void report_ends(struct ctas *c, const struct cta_begins *begins, uint64_t at) {
    c->view.cycle = at;
    for (uint32_t i = 0; i < c->view.sms; i++) {
        uint32_t now = begins[i].reached == at ? ctas_of(&begins[i]) : c->held[i], ended = c->held[i] - now;
        if (!ended)
            continue;
        c->held[i] = now;
        c->open[i] = true;
        if (c->ops->ended)
            c->ops->ended(c->state, &c->view, i, ended);
    }
}

/* Asks the policy for a CTA for the SM in cycle `now`. Returns false if the SM gets none. */
static bool give(struct ctas *c, struct cta_begins *b, uint32_t sm, uint64_t now) {
    c->view.cycle = now;
    uint64_t cta = c->ops->pick(c->state, &c->view, sm);
    while (cta < c->launch->first_cta) { /* this CTA ran before the launch (launch.first_cta) */
        c->view.begun++;
        cta = ctas_all_begun(c) ? CTA_NONE : c->ops->pick(c->state, &c->view, sm);
    }
    if (cta == CTA_NONE)
        return c->open[sm] = false;
    assert(cta < c->view.total);
    b->at[b->n++] = (struct cta_begin){.cta = cta, .cycle = now};
    c->view.begun++;
    c->open[sm] = ++c->held[sm] < c->view.occupancy;
    return true;
}

/* Sets cta_begins.keep of all SMs. */
static void set_keep(struct ctas *c, struct cta_begins *begins) {
    if (c->none_kept)
        return;
    c->none_kept = ctas_all_begun(c);
    for (uint32_t i = 0; i < c->view.sms; i++)
        begins[i].keep = c->none_kept ? 0 : c->held[i] + c->open[i];
}

void ctas_dispatch(struct ctas *c, struct cta_begins *begins, uint64_t at, uint32_t edge) {
    const uint32_t n = c->view.sms;
    if (by_clusters(c)) {
        clusters_dispatch(c, begins, at, edge);
        return;
    }
    if (!ctas_all_begun(c))
        report_ends(c, begins, at);
    bool any = true;
    for (uint64_t now = at; now < at + edge && any; now++) {
        any = false;
        for (uint32_t k = 0, i = c->turn; k < n && !ctas_all_begun(c); k++, i = i + 1 < n ? i + 1 : 0) {
            if (c->open[i] && begins[i].reached == at)
                any |= give(c, &begins[i], i, now);
        }
    }
    c->turn = (uint32_t)(c->view.begun % n);
    set_keep(c, begins);
}

void ctas_begin_on(const struct ctas *c, struct cta_begins *b, uint32_t sm) {
    if (!ctas_joined(c, sm)) {
        c->joined[sm] = true;
        b->failed = !c->join(c->join_ctx, sm);
    }
    sm_set_source(c->view.sm[sm], &c->source);
    for (uint32_t k = 0; k < b->n && !b->failed; k++)
        b->failed = !sm_cluster_cta_start(c->view.sm[sm], place(&c->launch->grid, b->at[k].cta), b->at[k].cluster,
                                          b->at[k].rank, b->at[k].cycle);
    b->n = 0;
}
