#include "tlb.h"
#include "isa/arith.h"
#include <stdlib.h>
#include <string.h>

static bool init_tlb(struct tlb *t, uint32_t entries, uint32_t page) {
    *t = (struct tlb){.entries = entries, .shift = log2_of(page)};
    t->entry = calloc(entries, sizeof *t->entry);
    return t->entry != NULL;
}

bool tlbs_init(struct tlbs *x, const struct config *c) {
    *x = (struct tlbs){.next = NEVER, .latency = c->tlb.latency, .walk = c->tlb.walk, .misses = c->tlb.misses};
    if (!c->tlb.entries)
        return true;
    x->port = calloc(c->gpu.sms, sizeof *x->port);
    if (!x->port || !init_tlb(&x->all, c->tlb.l2_entries, c->tlb.l2_page))
        return false;
    for (x->sms = 0; x->sms < c->gpu.sms; x->sms++) {
        struct tlb_port *p = &x->port[x->sms];
        p->due = NEVER;
        p->offered = TLB_HEAD;
        p->miss = calloc(x->misses, sizeof *p->miss);
        if (!init_tlb(&p->tlb, c->tlb.entries, c->tlb.page) || !p->miss)
            return false;
    }
    return true;
}

void tlbs_free(struct tlbs *x) {
    for (uint32_t s = 0; s < x->sms; s++) {
        free(x->port[s].tlb.entry);
        free(x->port[s].miss);
    }
    free(x->all.entry);
    free(x->port);
}

/* Returns the entry of the page of an address. If the TLB misses, *found is false, and the entry, which was used least
 * recently, now has this page. */
static struct tlb_entry *look_up(struct tlb *t, uint64_t address, bool *found) {
    const uint64_t page = (address >> t->shift) + 1;
    uint32_t at = t->recent, oldest = 0;
    *found = t->entry[at].page == page;
    for (uint32_t i = 0; !*found && i < t->entries; i++) {
        *found = t->entry[i].page == page;
        at = i;
        oldest = t->entry[i].used < t->entry[oldest].used ? i : oldest;
    }
    if (!*found)
        t->entry[at = oldest].page = page;
    t->entry[at].used = ++t->uses;
    t->recent = at;
    return &t->entry[at];
}

void tlbs_offer(struct tlbs *x, uint32_t sm, uint64_t cycle) {
    x->port[sm].due = cycle;
    x->next = min64(x->next, max64(tlbs_next(x, sm), cycle));
}

uint64_t tlbs_next(const struct tlbs *x, uint32_t sm) {
    const struct tlb_port *p = &x->port[sm];
    uint64_t next = p->n_misses < x->misses ? p->due : NEVER;
    for (uint32_t i = 0; i < p->n_misses; i++)
        next = min64(next, p->miss[i].ready);
    return next;
}

/* Returns the cycle in which the translation of an address that missed an SM's TLB is known. */
static uint64_t translate(struct tlbs *x, uint64_t address, uint64_t now) {
    bool found;
    struct tlb_entry *e = look_up(&x->all, address, &found);
    if (!found) {
        x->n.walks++;
        e->ready = now + x->latency + x->walk;
    }
    return max64(e->ready, now + x->latency);
}

enum tlb_did tlbs_tick(struct tlbs *x, uint32_t sm, const struct mem_request *head, uint64_t now) {
    struct tlb_port *p = &x->port[sm];
    uint32_t first = 0;
    for (uint32_t i = 1; i < p->n_misses; i++)
        first = p->miss[i].ready < p->miss[first].ready ? i : first;
    if (p->n_misses && p->miss[first].ready <= now) {
        p->offered = first;
        return TLB_TRANSLATED;
    }
    if (p->due > now || p->n_misses == x->misses)
        return TLB_NOTHING;
    if (MEM_NEAR_KINDS >> head->kind & 1) {
        p->offered = TLB_HEAD;
        return TLB_TRANSLATED;
    }
    bool found;
    struct tlb_entry *e = look_up(&p->tlb, head->address, &found);
    x->n.accesses++;
    if (found && e->ready <= now) {
        p->offered = TLB_HEAD;
        return TLB_TRANSLATED;
    }
    x->n.misses++;
    x->n.pending += found;
    if (!found)
        e->ready = translate(x, head->address, now);
    x->n.wait += e->ready - now;
    p->miss[p->n_misses++] = (struct tlb_miss){*head, e->ready};
    p->due = NEVER;
    return TLB_MISSED;
}

bool tlbs_granted(struct tlbs *x, uint32_t sm, uint64_t now) {
    if (!x->sms)
        return true;
    struct tlb_port *p = &x->port[sm];
    const uint32_t i = p->offered;
    p->offered = TLB_HEAD;
    if (i == TLB_HEAD)
        p->due = NEVER;
    else
        memmove(&p->miss[i], &p->miss[i + 1], (--p->n_misses - i) * sizeof *p->miss);
    x->next = min64(x->next, max64(tlbs_next(x, sm), now + 1));
    return i == TLB_HEAD;
}

static void settle(struct tlb *t) {
    for (uint32_t i = 0; i < t->entries; i++)
        t->entry[i].ready = 0;
}

void tlbs_settle(struct tlbs *x) {
    settle(&x->all);
    for (uint32_t s = 0; s < x->sms; s++)
        settle(&x->port[s].tlb);
}

/* clang-format off */
static const struct stat_row rows[] = {
#define COUNT_ROWS struct tlb_counts
#include "tlb_stats.def"
};
/* clang-format on */

void tlbs_stats(struct tlbs *x, struct stats *s) {
    STATS_COUNT(s, rows, &x->n);
    memset(&x->n, 0, sizeof x->n);
}
