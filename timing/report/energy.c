#include "energy.h"

/* Parts of the GPU, each a sum of count x energy. */
enum part { FRONTEND, REGFILE, INT, FLOAT, SFU, SHARED, L1, ICNT, L2, DRAM, AFFINE, N_PARTS };

static const char *const part_stat[N_PARTS] = {
    "energy.frontend_joules", "energy.regfile_joules", "energy.int_joules",    "energy.float_joules",
    "energy.sfu_joules",      "energy.shared_joules",  "energy.l1_joules",     "energy.icnt_joules",
    "energy.l2_joules",       "energy.dram_joules",    "energy.affine_joules",
};

static const struct {
    enum part part;
    const char *count;
    size_t pj;   /* offset of the energy of one, in struct energy_cfg */
    size_t line; /* of counts of sectors whose energy is that of a line: offset of the line's bytes in struct config */
} events[] = {
#define EVENT(part, count, field)                                                                                      \
    { part, count, offsetof(struct energy_cfg, field), 0 }
#define EVENT_SECTOR(part, count, field)                                                                               \
    { part, count, offsetof(struct energy_cfg, field), offsetof(struct config, field.line) }
    EVENT(FRONTEND, "fetch.fetches", fetch),
    EVENT(FRONTEND, "fetch.l0_accesses", l0i),
    EVENT(FRONTEND, "fetch.l1_accesses", l1i),
    EVENT(FRONTEND, "gpu.warp_instructions", decode),
    EVENT(FRONTEND, "gpu.warp_instructions", schedule),
    EVENT(REGFILE, "collector.read_words", rf_read),
    EVENT(REGFILE, "collector.write_words", rf_write),
    EVENT(INT, "op.int", int_op),
    EVENT(INT, "op.int_mul", int_mul),
    EVENT(INT, "op.int_div", int_div),
    EVENT(INT, "op.mem", int_op), /* address generation */
    EVENT(FLOAT, "op.f32_add", f32_add),
    EVENT(FLOAT, "op.f32_minmax", f32_add),
    EVENT(FLOAT, "op.f32_mul", f32_mul),
    EVENT(FLOAT, "op.f32_fma", f32_add),
    EVENT(FLOAT, "op.f32_fma", f32_mul),
    EVENT(FLOAT, "chain.lost_adds", f32_add),
    EVENT(FLOAT, "chain.lost_muls", f32_mul),
    EVENT(FLOAT, "op.f32_div", f32_div),
    EVENT(FLOAT, "op.f64", f64_op),
    EVENT(FLOAT, "op.f64_div", f64_div),
    EVENT(FLOAT, "op.f16", f16_op),
    EVENT(FLOAT, "op.mma", mma_op),
    EVENT(SFU, "op.sfu", sfu_op),
    EVENT(SFU, "op.shfl", shfl_op),
    EVENT(SHARED, "shared.passes", shared),
    EVENT(REGFILE, "sm.turn_stored", rf_read), /* registers of a warp that gives way to another */
    EVENT(REGFILE, "sm.turn_loaded", rf_write),
    EVENT(L1, "sm.turn_stored", l1),
    EVENT(L1, "sm.turn_loaded", l1),
    EVENT_SECTOR(L1, "l1.sectors", l1),
    EVENT(L1, "l1.prefetch_lookups", l1_tag),
    EVENT(L1, "l1c.accesses", l1c),
    EVENT(L1, "gpc.accesses", gpc),
    EVENT(L1, "tex.accesses", tex),
    EVENT(ICNT, "icnt.request_flits", icnt_flit),
    EVENT(ICNT, "icnt.reply_flits", icnt_flit),
    EVENT_SECTOR(L2, "l2.sectors", l2),
    EVENT(L2, "l2.prefetch_lookups", l2_tag),
    EVENT(DRAM, "dram.activates", dram_activate),
    EVENT(DRAM, "dram.read_bytes", dram_byte),
    EVENT(DRAM, "dram.write_bytes", dram_byte),
#define DECLARED_EVENTS
#include "mechanisms/declared.def"
#undef EVENT
#undef EVENT_SECTOR
};

void energy_stats(const struct config *cfg, struct stats *s) {
    const struct energy_cfg *e = &cfg->energy;
    double joules[N_PARTS] = {0}, dynamic = 0;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        uint32_t line = events[i].line ? *(const uint32_t *)((const char *)cfg + events[i].line) : 32;
        joules[events[i].part] +=
            stats_get(s, events[i].count) * *(const double *)((const char *)e + events[i].pj) * 1e-12 * 32 / line;
    }
    if (cfg->pepsc.registers)
        joules[REGFILE] *= cfg->pepsc.registers / 16.;
    for (int i = 0; i < N_PARTS; i++) {
        stats_add(s, part_stat[i], joules[i]);
        dynamic += joules[i];
    }
    double seconds = stats_get(s, "gpu.cycles") / (cfg->gpu.core_mhz * 1e6);
    double at_rest = (e->static_sm * cfg->gpu.sms + e->static_gpu) * seconds;
    stats_add(s, "energy.dynamic_joules", dynamic);
    stats_add(s, "energy.static_joules", at_rest);
    stats_add(s, "energy.total_joules", dynamic + at_rest);
}
