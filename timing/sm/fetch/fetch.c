/* The instruction caches of an SM: functions that accept fetches and receive lines. */
#include "fetch.h"
#include "fetch_stream.h"
#include "isa/machine/lazy.h"
#include <stdlib.h>
#include <string.h>

static bool init_cache(struct cache *c, const struct cache_cfg *cfg) {
    struct cache_shape shape = {.sets = cfg->size / (cfg->ways * cfg->line),
                                .ways = cfg->ways,
                                .line_bytes = cfg->line,
                                .mshrs = cfg->mshrs,
                                .merges = cfg->merges};
    return cache_init(c, &shape);
}

bool fetch_init(struct fetch *f, const struct config *cfg, struct lsu *lsu) {
    memset(f, 0, sizeof *f);
    f->lsu = lsu;
    f->line_bits = cfg->l1i.size ? (uint32_t)__builtin_ctz(cfg->l1i.line) : 0;
    f->l0_line_bits = cfg->l0i.size ? (uint32_t)__builtin_ctz(cfg->l0i.line) : 0;
    f->l1_latency = cfg->l1i.latency;
    f->miss_latency = cfg->sm.fetch_miss;
    f->stream_due = UINT64_MAX;
    if (!cfg->l1i.size || cfg->sm.fetch_perfect)
        return true;
    f->has_l1 = true;
    uint32_t n_l0 = cfg->l0i.size ? (cfg->sm.subcores ? cfg->sm.schedulers : 1) : 0;
    uint32_t of_l1 = cfg->l1i.mshrs * cfg->l1i.merges * (n_l0 ? cfg->l0i.merges : 1);
    /* pending accesses of all L0s: stream buffers may serve all of them in one cycle */
    uint32_t of_l0 = n_l0 * cfg->l0i.mshrs * cfg->l0i.merges;
    f->cap_ready = of_l1 > of_l0 ? of_l1 : of_l0;
    f->address = calloc(cfg->l1i.mshrs, sizeof *f->address);
    f->send = calloc(cfg->l1i.mshrs, sizeof *f->send);
    f->ahead = calloc(cfg->l1i.mshrs, sizeof *f->ahead);
    f->coming = calloc(cfg->l1i.mshrs, sizeof *f->coming);
    f->ready = lazy_new(f->cap_ready * sizeof *f->ready);
    f->retry = calloc(n_l0 ? n_l0 * cfg->l0i.mshrs : 1, sizeof *f->retry);
    bool ok = f->retry && f->ahead && f->coming && f->address && f->send && f->ready && init_cache(&f->l1, &cfg->l1i);
    for (; ok && f->n_l0 < n_l0; f->n_l0 += ok)
        ok = init_cache(&f->l0[f->n_l0], &cfg->l0i);
    ok = ok && fetch_streams_init(f, cfg);
    if (!ok)
        fetch_free(f);
    return ok;
}

void fetch_free(struct fetch *f) {
    cache_free(&f->l1);
    for (uint32_t i = 0; i < FETCH_MAX_L0; i++)
        cache_free(&f->l0[i]);
    free(f->address);
    free(f->send);
    free(f->ahead);
    lazy_free(f->ready);
    free(f->retry);
    free(f->coming);
    free(f->stream_ready);
    free(f->stream_wait);
    memset(f, 0, sizeof *f);
}

void fetch_warm(struct fetch *f, uint64_t from, uint64_t to) {
    for (uint64_t line = from >> f->line_bits; f->has_l1 && line << f->line_bits < to; line++)
        cache_warm(&f->l1, line, f->l1.all_sectors, false, false);
}

static enum fetch_result look_up_l0(struct fetch *f, uint32_t unit, uint64_t address, uint32_t ticket, uint64_t now,
                                    uint32_t *latency) {
    struct cache_out out;
    struct cache *c = &f->l0[unit];
    uint64_t line = address >> f->l0_line_bits;
    const struct cache_spot at = cache_look(c, line);
    enum cache_result r = cache_read_at(c, at, line, c->all_sectors, ticket, &out);
    f->n.l0_accesses += r == CACHE_HIT || r == CACHE_MISS || r == CACHE_MERGED;
    if (r == CACHE_HIT) {
        f->l0_way[unit][line % FETCH_WAYS] = at.way;
        *latency = 0;
        return FETCH_HIT;
    }
    if (r == CACHE_MERGED)
        return FETCH_WAIT;
    if (r != CACHE_MISS)
        return FETCH_REFUSED;
    f->n.l0_misses++;
    enum fetch_result below =
        f->stream_lines ? fetch_stream_take(f, unit, line, out.mshr, now, latency) : FETCH_REFUSED;
    if (below != FETCH_REFUSED)
        return below;
    uint64_t target = TARGET_L0 | (uint64_t)unit << 32 | out.mshr;
    below = fetch_ask_l1(f, address, target, false, now);
    if (below == FETCH_REFUSED)
        f->retry[f->n_retry++] = (struct fetch_retry){address, target};
    if (below != FETCH_HIT)
        return FETCH_WAIT;
    uint64_t taken;
    cache_fill(c, out.mshr, c->all_sectors);
    while (cache_take(c, out.mshr, &taken))
        ; /* takes the ticket itself */
    *latency = f->l1_latency;
    return FETCH_HIT;
}

enum fetch_result fetch_look(struct fetch *f, uint32_t unit, uint64_t address, uint32_t ticket, uint64_t now,
                             uint32_t *latency) {
    enum fetch_result r = FETCH_HIT;
    *latency = 0;
    if (f->has_l1)
        r = f->n_l0 ? look_up_l0(f, fetch_l0_of(f, unit), address, ticket, now, latency)
                    : fetch_ask_l1(f, address, ticket, false, now);
    f->n.fetches += r != FETCH_REFUSED;
    return r;
}

void fetch_send(struct fetch *f, uint64_t now) {
    uint32_t sent = 0;
    if (!f->n_send)
        return;
    for (; f->miss_latency && sent < f->n_send; sent++)
        f->coming[f->n_coming++] = (struct fetch_coming){now + f->miss_latency, f->send[sent]};
    for (; sent < f->n_send; sent++) {
        uint16_t m = f->send[sent];
        if (!lsu_fetch(f->lsu, f->address[m], m, f->ahead[m], now))
            break;
    }
    f->n_send -= sent;
    memmove(f->send, f->send + sent, f->n_send * sizeof *f->send);
}

/* Retries, in order, the L0 misses that the L1 has refused, until the L1 refuses one again. */
static void retry_refused(struct fetch *f, uint64_t now) {
    uint32_t done = 0;
    for (; done < f->n_retry; done++) {
        enum fetch_result r = fetch_ask_l1(f, f->retry[done].address, f->retry[done].target, false, now);
        if (r == FETCH_REFUSED)
            break;
        if (r == FETCH_HIT)
            fetch_fill_l0(f, (uint32_t)(f->retry[done].target >> 32) & 0xff, (uint32_t)f->retry[done].target,
                          f->l1_latency);
    }
    f->n_retry -= done;
    memmove(f->retry, f->retry + done, f->n_retry * sizeof *f->retry);
}

/* Handles the arrival of a line, or of some of its sectors. The line comes through the port or, with the option
 * fetch.miss_latency, after that many cycles. */
static bool take_line(struct fetch *f, uint64_t now, uint32_t *mshr, uint8_t *sectors) {
    if (!f->miss_latency)
        return lsu_fetch_done(f->lsu, now, mshr, sectors);
    *sectors = f->l1.all_sectors;
    if (!f->n_coming || f->coming[0].cycle > now)
        return false;
    *mshr = f->coming[0].mshr;
    memmove(f->coming, f->coming + 1, --f->n_coming * sizeof *f->coming);
    return true;
}

bool fetch_tick(struct fetch *f, uint64_t now) {
    uint32_t mshr;
    uint8_t sectors;
    bool arrived = false;
    while (take_line(f, now, &mshr, &sectors)) {
        uint64_t target;
        bool whole = (f->l1.mshr[mshr].pending & ~sectors) == 0;
        arrived |= whole;
        cache_fill(&f->l1, mshr, sectors);
        while (cache_take(&f->l1, mshr, &target))
            if (target & TARGET_L0)
                fetch_fill_l0(f, (uint32_t)(target >> 32) & 0xff, (uint32_t)target, 0);
            else if (target & TARGET_STREAM)
                fetch_stream_arrived(f, target, now);
            else
                fetch_hand_back(f, (uint32_t)target, 0);
    }
    if (arrived) {
        if (f->n_retry)
            retry_refused(f, now);
        fetch_streams_retry(f);
    }
    arrived |= f->stream_lines && fetch_streams_tick(f, now);
    if (f->n_send)
        fetch_send(f, now);
    return arrived;
}

bool fetch_take(struct fetch *f, uint32_t *ticket, uint32_t *latency) {
    if (!f->n_ready)
        return false;
    *ticket = f->ready[f->ready_head].ticket;
    *latency = f->ready[f->ready_head].latency;
    f->n_ready--;
    if (++f->ready_head == f->cap_ready || !f->n_ready) /* an empty ring begins anew: few entries are touched */
        f->ready_head = 0;
    return true;
}
