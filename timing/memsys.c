/* Everything behind the SMs. */
#include "memsys.h"
#include "memport.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct memsys {
    struct config cfg;
    uint32_t sms;
    struct memport *port;
};

static bool init(struct memsys *m) {
    const struct config *c = &m->cfg;
    uint32_t replies = 512 + 64 + c->l1.mshrs + c->l1c.mshrs + c->tex.mshrs;
    m->sms = c->gpu.sms;
    m->port = aligned_alloc(_Alignof(struct memport), m->sms * sizeof *m->port);
    if (!m->port)
        return false;
    memset(m->port, 0, m->sms * sizeof *m->port);
    for (uint32_t s = 0; s < m->sms; s++)
        if (!memport_init(&m->port[s], c->icnt.sm_queue < 2 ? 2 : c->icnt.sm_queue, replies, memsys_quantum(m)))
            return false;
    return true;
}

struct memsys *memsys_new(const struct config *cfg) {
    struct memsys *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->cfg = *cfg;
    if (init(m))
        return m;
    memsys_free(m);
    return NULL;
}

void memsys_free(struct memsys *m) {
    if (!m)
        return;
    for (uint32_t s = 0; m->port && s < m->sms; s++)
        memport_free(&m->port[s]);
    free(m->port);
    free(m);
}

uint32_t memsys_quantum(const struct memsys *m) { return m->cfg.icnt.latency; }
uint32_t memsys_room(struct memsys *m, uint32_t sm, uint64_t now) { return memport_room(&m->port[sm], now); }
uint64_t memsys_room_cycle(const struct memsys *m, uint32_t sm) { return memport_room_cycle(&m->port[sm]); }
void memsys_send(struct memsys *m, const struct mem_request *r) { memport_send(&m->port[r->sm], r); }
uint64_t memsys_reply_cycle(const struct memsys *m, uint32_t sm) { return memport_reply_cycle(&m->port[sm]); }
bool memsys_receive(struct memsys *m, uint32_t sm, uint64_t now, struct mem_request *out) {
    return memport_receive(&m->port[sm], now, out);
}

void memsys_run(struct memsys *m, uint64_t from, uint64_t to) {
    (void)from;
    for (uint32_t s = 0; s < m->sms; s++) {
        struct memport *p = &m->port[s];
        const struct mem_request *r;
        while ((r = memport_head(p)) && r->cycle < to) {
            if (r->kind != MEM_WRITE) {
                struct mem_request *reply = memport_reply(p);
                *reply = *r;
                reply->cycle += m->cfg.memory.latency;
            }
            memport_remove(p, r->cycle);
        }
    }
}

uint64_t memsys_next(const struct memsys *m, uint64_t now) {
    for (uint32_t s = 0; s < m->sms; s++)
        if (memport_head(&m->port[s]))
            return now;
    return UINT64_MAX;
}

void memsys_stats(struct memsys *m, struct stats *s) {
    (void)m;
    (void)s;
}

void memsys_flush(struct memsys *m) { (void)m; }
