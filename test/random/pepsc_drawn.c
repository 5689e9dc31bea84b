/* Draws random machines for random_pepsc.c, random_compiled.c and random_unusual.c. */
#include "pepsc_drawn.h"
#include "test/every_model.h"
#include "test/random.h"
#include <stdio.h>
#include <string.h>

static const char *const configs[] = {"pepsc", "gt200", "fermi", "pepsc-8", "pepsc-64", "pepsc"};
static const char *const beside[] = {"", "+stride", "+ddp", "+dac", "+cae", "+ddp+dac", "+stride+cae", "+mta"};

/* Options that change only timing, each with the ends of its range and common values. The options of an extension are
 * drawn only for models with this extension. */
static const struct {
    const char *extension, *set[5];
} choices[] = {
    {"", {"sm.running_warps=0", "sm.running_warps=1", "sm.running_warps=2", "sm.running_warps=128"}},
    {"", {"sm.swap_registers=1", "sm.swap_registers=64"}},
    {"", {"regs.max=0", "regs.max=24", "regs.max=255"}},
    {"", {"pepsc.registers=0", "pepsc.registers=16", "pepsc.registers=256"}},
    {"", {"pepsc.pipeline=on", "pepsc.pipeline=on", "pepsc.pipeline=off"}},
    {"", {"pepsc.pipeline_load=1", "pepsc.pipeline_load=20", "pepsc.pipeline_load=1000"}},
    {"", {"pepsc.pipeline_stages=2", "pepsc.pipeline_stages=4", "pepsc.pipeline_stages=8"}},
    {"", {"reduce.latency=0", "reduce.latency=1", "reduce.latency=1000"}},
    {"", {"chain.length=1", "chain.length=2", "chain.length=5", "chain.length=6"}},
    {"", {"chain.dual=off", "chain.dual=on"}},
    {"", {"chain.dual_min=1", "chain.dual_min=2"}},
    {"", {"fold.operations=0", "fold.operations=1", "fold.operations=16", "fold.operations=32"}},
    {"", {"fold.guarded=0", "fold.guarded=1", "fold.guarded=3", "fold.guarded=32"}},
    {"", {"fold.pairs=off", "fold.pairs=on"}},
    {"", {"fold.parallel=off", "fold.parallel=on"}},
    {"", {"fold.selections=off", "fold.selections=on"}},
    {"", {"chain.latency1=0", "chain.latency1=1", "chain.latency1=1000"}},
    {"", {"chain.latency2=0", "chain.latency2=1", "chain.latency2=1000"}},
    {"", {"chain.latency5=0", "chain.latency5=1", "chain.latency5=1000"}},
    {"+stride", {"stride.table=1", "stride.table=64", "stride.table=65536"}},
    {"+stride", {"stride.ways=1", "stride.ways=4", "stride.ways=64"}},
    {"+stride", {"stride.train=1", "stride.train=2", "stride.train=100"}},
    {"+stride", {"stride.queue=1", "stride.queue=32", "stride.queue=256"}},
    {"+stride", {"stride.level=l1", "stride.level=l2"}},
    {"+ddp", {"ddp.table=1", "ddp.table=64", "ddp.table=65536"}},
    {"+ddp", {"ddp.ways=1", "ddp.ways=4", "ddp.ways=64"}},
    {"+ddp", {"ddp.train=1", "ddp.train=2", "ddp.train=100"}},
    {"+ddp", {"ddp.queue=1", "ddp.queue=32", "ddp.queue=256"}},
    {"+ddp", {"ddp.level=l1", "ddp.level=l2"}},
    {"+ddp", {"ddp.max_degree=1", "ddp.max_degree=32", "ddp.max_degree=64"}},
    {"+ddp", {"ddp.grow_by_prefetches=off", "ddp.grow_by_prefetches=on"}},
    {"", {"sm.ctas=1", "sm.ctas=8", "sm.ctas=64"}},
    {"", {"l1.mshrs=1", "l1.mshrs=64"}},
    {"", {"lsu.prefetch_queue=1", "lsu.prefetch_queue=16", "lsu.prefetch_queue=256"}},
    {"+dac", {"dac.shared=off", "dac.shared=on"}},
    {"+dac", {"dac.batch=0", "dac.batch=1", "dac.batch=32"}},
    {"+dac", {"dac.atq=1", "dac.atq=24", "dac.atq=4096"}},
    {"+dac", {"dac.pwaq=1", "dac.pwaq=192", "dac.pwaq=65536"}},
    {"+dac", {"dac.pwpq=1", "dac.pwpq=192", "dac.pwpq=65536"}},
    {"+dac", {"dac.lock_timeout=0", "dac.lock_timeout=1000", "dac.lock_timeout=1000000"}},
    {"+dac", {"dac.tuples=1", "dac.tuples=16", "dac.tuples=4096"}},
    {"+cae", {"cae.latency=0", "cae.latency=1", "cae.latency=100"}},
    {"+cae", {"cae.banks=1", "cae.banks=64"}},
    {"+cae", {"cae.result_bus=1", "cae.result_bus=16"}},
    {"+cae", {"cae.branches=off", "cae.branches=on"}},
    {"+mta", {"mta.warp_entries=1", "mta.warp_entries=65536"}},
    {"+mta", {"mta.train=1", "mta.train=100"}},
    {"+mta", {"mta.distance=1", "mta.distance=64"}},
    {"+mta", {"mta.degree=1", "mta.degree=16"}},
    {"+mta", {"mta.throttle=off", "mta.throttle=on"}},
};
enum { N_CHOICES = sizeof choices / sizeof choices[0] };

struct drawn draw_pepsc(uint64_t seed) {
    uint64_t rng = seed;
    struct drawn d = {.config = configs[test_random_below(&rng, 6)]};
    const struct every_model *models = timed_models();
    const char *with = beside[test_random_below(&rng, 8)];
    snprintf(d.model, sizeof d.model, "%s+chain+fold+reduce%s",
             models->name[test_random_below(&rng, (uint32_t)models->n)], with);
    d.set[d.n++] = "gpu.sms=1";
    d.set[d.n++] = "sm.registers=65536"; /* room for one CTA */
    d.set[d.n++] = "sm.shared_bytes=16384";
    for (size_t i = 0; i < N_CHOICES; i++) {
        uint32_t spellings = 0;
        while (spellings < 5 && choices[i].set[spellings])
            spellings++;
        const char *one = choices[i].set[test_random_below(&rng, spellings)];
        if (strstr(with, choices[i].extension))
            d.set[d.n++] = one;
    }
    return d;
}

void drawn_text(const struct drawn *d, char *out, size_t size) {
    int n = snprintf(out, size, "-c %s -m %s", d->config, d->model);
    for (int i = 0; i < d->n && n > 0 && n < (int)size; i++)
        n += snprintf(out + n, size - (size_t)n, " -s %s", d->set[i]);
}

int drawn_too_few(const char *error) {
    return strstr(error, "; regs.max is 24, raise it") || strstr(error, "; pepsc.registers is 16, raise it");
}
