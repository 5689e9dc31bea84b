/* The addresses of a GPU's programs, and the caches that hold their instructions. */
#include "gpu_parts.h"
#include "isa/arith.h"
#include "timing/mem/memsys.h"
#include "timing/sm/sm.h"
#include "timing/sm/timed.h"
#include <stdlib.h>

/* Device addresses of code in the timing model. They are above local memory (timing/sm/memory_stage.c). */
#define CODE_TIMING_BASE (1ull << 46)
enum { CODE_TIMING_STEP = 1 << 24 };

/* Returns the entry of a program, which the first call adds; NULL if memory is out. */
static struct gpu_code *code_of(struct gpu *g, const struct program *p) {
    uint32_t i = 0;
    while (i < g->n_programs && g->code[i].program != p)
        i++;
    if (i == g->n_programs) {
        struct gpu_code *grown = realloc(g->code, (i + 1) * sizeof *grown);
        if (!grown)
            return NULL;
        g->code = grown;
        g->code[g->n_programs++] = (struct gpu_code){p, 0};
    }
    return &g->code[i];
}

/* Returns the first address behind the program's machine instructions. */
static uint64_t end_of(const struct gpu *g, const struct timed_program *p) {
    return p->code_address + (uint64_t)p->inst[p->program->n].place * g->cfg.sm.inst_bytes;
}

/* Brings the program's machine instructions into the L2, and lines that stream buffers read behind them. */
static void bring_code(const struct gpu *g, const struct timed_program *p) {
    const struct config *cfg = &g->cfg;
    const uint32_t line = cfg->l2.line;
    const uint64_t end = end_of(g, p) + (uint64_t)(cfg->sm.fetch_prefetch + 1) * cfg->l1i.line;
    for (uint64_t at = p->code_address / line * line; at < end; at += line)
        memsys_warm(g->mem, at, (uint8_t)((1u << line / 32) - 1), false, false);
}

/* Returns how many SMs have a CTA of the launch, if it has no clusters. */
static uint32_t sms_of(const struct gpu *g, const struct launch *l) {
    return (uint32_t)min64((uint64_t)l->grid.x * l->grid.y * l->grid.z, g->n_sms);
}

/* Lays out the program of a launch at its address. */
static bool place_code(struct gpu *g, const struct launch *l, const struct gpu_code *code, struct timed_program *p) {
    uint64_t at = CODE_TIMING_BASE + (uint64_t)(code - g->code) * CODE_TIMING_STEP;
    if (g->cfg.sm.fetch_packed) /* with this option, the timing depends on the kernel's position within a cache line */
        at += (uint64_t)l->program->place * g->cfg.sm.inst_bytes % (CODE_TIMING_STEP / 2);
    return timed_init(p, l->program, &g->cfg, at);
}

bool gpu_bring_code(struct gpu *g, const struct launch *l, struct timed_program *p) {
    struct gpu_code *code = code_of(g, l->program);
    if (!code || !place_code(g, l, code, p))
        return false;
    const uint32_t n = sms_of(g, l);
    code->sms = code->sms > n ? code->sms : n;
    if (g->cfg.memory.holds_code)
        bring_code(g, p);
    return true;
}

bool gpu_warm_code(struct gpu *g, const struct launch *l) {
    struct timed_program p = {0};
    if (g->broken)
        return true;
    struct gpu_code *code = !g->unbuilt || gpu_build_machine(g) ? code_of(g, l->program) : NULL;
    if (!code)
        return false;
    const uint32_t n = sms_of(g, l);
    if (code->sms >= n)
        return true;
    const bool ok = place_code(g, l, code, &p);
    if (ok && !code->sms && !g->cfg.sm.fetch_miss) /* with fetch.miss_latency, no instruction comes from the L2 */
        bring_code(g, &p);
    for (; ok && code->sms < n; code->sms++)
        sm_warm_code(g->sm[code->sms], p.code_address, end_of(g, &p));
    timed_free(&p);
    return ok;
}
