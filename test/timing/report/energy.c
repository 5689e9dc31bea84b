/* Tests the energy of each event, and to which component it is added. The rows follow from the meaning of the
 * options (docs/options.md), not from the table in timing/report/energy.c. */
#include "timing/report/energy.h"
#include "test/test.h"
#include <stdio.h>

static const char *const components[] = {"energy.frontend_joules", "energy.regfile_joules", "energy.int_joules",
                                         "energy.float_joules",    "energy.sfu_joules",     "energy.shared_joules",
                                         "energy.l1_joules",       "energy.icnt_joules",    "energy.l2_joules",
                                         "energy.dram_joules",     "energy.affine_joules"};
enum { N_COMPONENTS = sizeof components / sizeof components[0] };

static const struct price {
    const char *key, *count, *component;
} prices[] = {
    {"fetch", "fetch.fetches", "frontend"},
    {"decode", "gpu.warp_instructions", "frontend"},
    {"schedule", "gpu.warp_instructions", "frontend"},
    {"l0i", "fetch.l0_accesses", "frontend"},
    {"l1i", "fetch.l1_accesses", "frontend"},
    {"rf_read", "collector.read_words", "regfile"},
    {"rf_write", "collector.write_words", "regfile"},
    {"int_op", "op.int", "int"},
    {"mem_op", "op.mem", "int"},
    {"int_mul", "op.int_mul", "int"},
    {"int_div", "op.int_div", "int"},
    {"f32_add", "op.f32_add", "float"},
    {"f32_add", "op.f32_minmax", "float"},
    {"f32_mul", "op.f32_mul", "float"},
    {"f32_add", "op.f32_fma", "float"}, /* an fma counts as a multiplication and an addition */
    {"f32_mul", "op.f32_fma", "float"},
    {"f32_fma", "op.f32_fma", "float"},
    {"f32_div", "op.f32_div", "float"},
    {"f64_op", "op.f64", "float"},
    {"f64_div", "op.f64_div", "float"},
    {"f16_op", "op.f16", "float"},
    {"mma_op", "op.mma", "float"},
    {"tensor_mac", "tensor.multiply_adds", "float"},
    {"shared", "tensor.shared_cycles", "shared"},
    {"cluster_byte", "cluster.bytes", "icnt"},
    {"tma_request", "tma.requests", "int"},
    {"sfu_op", "op.sfu", "sfu"},
    {"int_op", "core.op_int", "int"}, /* machine instructions of expansions cost as much as other operations */
    {"int_mul", "core.op_int_mul", "int"},
    {"f32_add", "core.op_f32_add", "float"},
    {"f32_mul", "core.op_f32_mul", "float"},
    {"f32_add", "core.op_f32_fma", "float"},
    {"f32_mul", "core.op_f32_fma", "float"},
    {"f32_fma", "core.op_f32_fma", "float"},
    {"f64_op", "core.op_f64", "float"},
    {"sfu_op", "core.op_sfu", "sfu"},
    {"shfl_op", "op.shfl", "sfu"},
    {"shared", "shared.passes", "shared"},
    {"rf_read", "sm.swap_stores", "regfile"}, /* a swap reads the registers of the warp that leaves, and stores them in
                                               * memory */
    {"rf_write", "sm.swap_loads", "regfile"},
    {"l1", "sm.swap_stores", "l1"},
    {"l1", "sm.swap_loads", "l1"},
    {"l1", "l1.sectors", "l1"},
    {"l1_tag", "l1.prefetch_lookups", "l1"}, /* a look-up for a prefetch reads the tags of a set, but no data */
    {"l1c", "l1c.accesses", "l1"},
    {"gpc", "gpc.accesses", "l1"},
    {"tex", "tex.accesses", "l1"},
    {"icnt_flit", "icnt.request_flits", "icnt"},
    {"icnt_flit", "icnt.reply_flits", "icnt"},
    {"l2", "l2.sectors", "l2"},
    {"l2_tag", "l2.prefetch_lookups", "l2"},
    {"dram_activate", "dram.activates", "dram"},
    {"dram_byte", "dram.read_bytes", "dram"},
    {"dram_byte", "dram.write_bytes", "dram"},
    {"dram_write", "dram.write_bytes", "dram"},
    {"mta_lookup", "mta.lookups", "l1"},
    {"stride_lookup", "stride.lookups", "l1"},
    {"stride_lookup", "ddp.lookups", "l1"},
    {"stride_search", "stride.searches", "l1"},
    {"stride_search", "ddp.searches", "l1"},
    {"sld_lookup", "sld.lookups", "l1"},
    {"ccws_vta", "ccws.lookups", "l1"},
    {"ccws_vta", "ccws.inserts", "l1"},
    {"daws_sample", "daws.sampled", "l1"},
    {"chained", "chain.later_operations", "float"},
    {"cae_op", "cae.affine_instructions", "affine"},
    {"cae_read", "cae.reads", "affine"},
    {"cae_write", "cae.writes", "affine"},
    {"cae_expand", "cae.expanded_operands", "affine"},
    {"cae_expand", "cae.expanded_registers", "affine"},
    {"dac_read", "dac.tuple_reads", "affine"},
    {"dac_write", "dac.tuple_writes", "affine"},
    {"dac_atq", "dac.atq_accesses", "affine"},
    {"dac_address", "dac.records", "affine"},
    {"dac_mask", "dac.masks", "affine"},
    {"dac_expand", "dac.address_cycles", "affine"},
    {"dac_expand", "dac.predicate_cycles", "affine"},
};
enum { N_PRICES = sizeof prices / sizeof prices[0] };

static struct config config;
static struct stats stats;

static void set(const char *key, double value) {
    char text[96], err[256];
    snprintf(text, sizeof text, "energy.%s=%.17g", key, value);
    ck_assert_msg(config_set(&config, text, err, sizeof err), "%s", err);
}

static double joules(const char *component) {
    char name[64];
    snprintf(name, sizeof name, "energy.%s_joules", component);
    return stats_get(&stats, name);
}

/* Sets the energy of every event to zero. */
static void setup(void) {
    char err[256];
    ck_assert(config_load(&config, "fermi", err, sizeof err));
    for (int i = 0; i < N_PRICES; i++)
        set(prices[i].key, 0);
    set("static_sm", 0);
    set("static_gpu", 0);
    ck_assert(stats_init(&stats));
}

static void teardown(void) { stats_free(&stats); }

/* Tests each event alone: 1000 events with 7 pJ each are 7 nJ, all in the event's component. The energy option of a
 * cache access is for a line of 128 bytes; an access to one sector costs a quarter of it. */
START_TEST(each_event_costs_its_price_in_its_component) {
    const struct price *p = &prices[_i];
    const double price = strcmp(p->key, "chained") == 0 ? -7 : 7; /* a chain saves energy */
    set(p->key, price);
    bool sectors = strstr(p->count, ".sectors") != NULL;
    stats_add(&stats, p->count, sectors ? 4000 : 1000);
    energy_stats(&config, &stats);
    for (int i = 0; i < N_COMPONENTS; i++) {
        char name[64];
        snprintf(name, sizeof name, "energy.%s_joules", p->component);
        double is = stats_get(&stats, components[i]), expected = strcmp(components[i], name) == 0 ? price * 1e-9 : 0;
        ck_assert_msg(is > expected - 1e-18 && is < expected + 1e-18, "%s at the price of %s: %s has %g J", p->count,
                      p->key, components[i], is);
    }
    ck_assert_double_eq_tol(joules("dynamic"), price * 1e-9, 1e-18);
    ck_assert_double_eq_tol(joules("total"), price * 1e-9, 1e-18);
}
END_TEST

/* Every energy option of an event has a row above, so the test above covers all options. */
START_TEST(every_price_is_tested) {
    for (const struct opt *o = config_options(); o->key; o++) {
        if (strncmp(o->key, "energy.", 7) != 0 || strncmp(o->key, "energy.static_", 14) == 0)
            continue;
        bool found = false;
        for (int i = 0; i < N_PRICES; i++)
            found |= strcmp(prices[i].key, o->key + 7) == 0;
        ck_assert_msg(found, "%s", o->key);
    }
}
END_TEST

/* fermi: 15 SMs at 700 MHz. 7 million cycles are 10 ms: (15 x 2 W + 10 W) x 10 ms = 0.4 J. */
START_TEST(static_power_takes_time) {
    set("static_sm", 2);
    set("static_gpu", 10);
    set("int_op", 1000);
    stats_add(&stats, "gpu.cycles", 7e6);
    stats_add(&stats, "op.int", 1e9); /* 10^9 events with 1 nJ each are 1 J */
    energy_stats(&config, &stats);
    ck_assert_double_eq_tol(joules("static"), 0.4, 1e-12);
    ck_assert_double_eq_tol(joules("dynamic"), 1, 1e-12);
    ck_assert_double_eq_tol(joules("total"), 1.4, 1e-12);
}
END_TEST

/* As above. In a quarter of the issue slots, an SM has no warp: 15 x (2 W + 0.75 x 4 W) x 10 ms = 0.75 J. */
START_TEST(an_sm_with_warps_has_more_static_power) {
    set("static_sm", 2);
    set("static_active", 4);
    stats_add(&stats, "gpu.cycles", 7e6);
    stats_add(&stats, "issue.slots", 1000);
    stats_add(&stats, "issue.no_warp", 250);
    energy_stats(&config, &stats);
    ck_assert_double_eq_tol(joules("static"), 0.75, 1e-12);
}
END_TEST

SUITE(timing_energy) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST_LOOP(each_event_costs_its_price_in_its_component, 0, N_PRICES);
    TEST(every_price_is_tested);
    TEST(static_power_takes_time);
    TEST(an_sm_with_warps_has_more_static_power);
}
