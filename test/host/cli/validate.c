/* Tests `heddle validate`: its measured values equal values derived from the configuration, the differences are right,
 * and the tables of published figures are complete. */
#include "benchmarks/bench.h"
#include "cli_help.h"
#include "host/report/micro.h"
#include "reproduce/card_kernels.h"
#include "reproduce/cards.h"
#include "timing/config/config.h"
#include <math.h>

START_TEST(the_published_figures_are_complete) {
    char why[512];
    struct config config;
    for (const struct card *c = cards; c->name; c++) {
        int n = 0;
        ck_assert_msg(config_load(&config, c->name, why, sizeof why), "%s", why);
        for (const struct card_figure *f = card_figures; f->card; f++)
            n += strcmp(f->card, c->name) == 0;
        ck_assert_msg(n > 0, "%s has no figure", c->name);
    }
    for (const struct card_figure *f = card_figures; f->card; f++) {
        ck_assert_msg(card_find(f->card) && micro_find(f->quantity) && card_source_find(f->source), "%s %s %s", f->card,
                      f->quantity, f->source);
        ck_assert_double_gt(f->value, 0);
    }
}
END_TEST

/* Cycles on tiny, derived in test/timing/micro.c from its latencies:
 * - an instruction: latency + 6 (collector unit 1, operands 2, pipe 1, write-back 2)
 * - an access that hits: latency 10 + 6, and one cycle more for each further lane of a bank */
static const struct {
    const char *quantity;
    double cycles;
} derived[] = {
    {"int-add-dependent", 4 + 6}, {"logic-dependent", 1 + 6},    {"f32-fma-dependent", 5 + 6},
    {"f64-fma-dependent", 8 + 6}, {"sfu-dependent", 8 + 6},      {"l1-latency", 10 + 6},
    {"shared-2way", 10 + 6 + 1},  {"shared-32way", 10 + 6 + 31}, {"sfu-independent", 8},
    {"shared-latency", 10 + 6},
};

/* A full SM of tiny computes 32 results in 8 cycles with its one SFU pipe, whose initiation interval is 8. */
START_TEST(values_equal_the_configuration) {
    char why[512];
    const struct heddle_options o = {.model = "spe", .config = "tiny"};
    for (size_t i = 0; i < sizeof derived / sizeof derived[0]; i++) {
        double got = micro_measure(micro_find(derived[i].quantity), &o, why, sizeof why);
        EXPECT(got == derived[i].cycles, "%s: %g, not %g (%s)", derived[i].quantity, got, derived[i].cycles, why);
    }
    double rate = micro_measure(micro_find("sfu-rate"), &o, why, sizeof why);
    EXPECT(fabs(rate - 32. / 8) < 0.01, "sfu-rate: %g (%s)", rate, why);
}
END_TEST

/* A 64-bit load that hits takes core.load_latency + 2 cycles on gv100. One source measured 30 cycles: the difference is
 * 36 / 30 - 1. */
START_TEST(the_difference_is_relative_to_the_published_value) {
    STATUS(HEDDLE_OK, "validate gv100 --only l1-latency -s core.load_latency=34 -s gpu.sms=1 --json v.json");
    SAYS(out, "36.00      30.00      20.0 %  mt4g");
    SAYS(out, "jia18: Z. Jia et al.");
    ck_assert(!strstr(out, "nvidia:")); /* this source has no figure of this quantity */
    char *text = slurp("v.json");
    cJSON *o = cJSON_Parse(text), *row = cJSON_GetArrayItem(cJSON_GetObjectItem(o, "quantities"), 0);
    ck_assert_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(row, "name")), "l1-latency");
    ck_assert_double_eq(number(row, "value"), 36);
    cJSON *published = cJSON_GetObjectItem(row, "published");
    ck_assert_int_eq(cJSON_GetArraySize(published), 3);
    ck_assert_double_eq_tol(number(cJSON_GetArrayItem(published, 2), "difference"), 0.2, 1e-12);
    cJSON_Delete(o);
    free(text);
}
END_TEST

START_TEST(the_kernels_of_programs_are_complete) {
    for (const struct card_kernel *k = card_kernels; k->card; k++) {
        ck_assert_msg(card_find(k->card) && k->cycles > 0 && (k->bench || k->differs), "%s", k->kernel);
        char path[PATH_MAX], name[64];
        if (!k->bench)
            continue;
        ck_assert_msg(bench_find(k->bench) && bench_kernel_path(bench_find(k->bench)->ptx, path, sizeof path), "%s",
                      k->bench);
        char *ptx = slurp(path);
        snprintf(name, sizeof name, ".entry %s(", k->own_kernel);
        ck_assert_msg(strstr(ptx, name) != NULL, "%s has no %s", path, k->own_kernel);
        free(ptx);
    }
}
END_TEST

/* A kernel without a benchmark is named with the reason, and its counts on the card are in the JSON. */
START_TEST(a_program_without_a_benchmark_is_not_run) {
    STATUS(HEDDLE_OK, "validate gv100 --programs --only mb_sad --json p.json");
    SAYS(out, "Not run: mb_sad_calc: ");
    char *text = slurp("p.json");
    cJSON *o = cJSON_Parse(text), *row = cJSON_GetArrayItem(cJSON_GetObjectItem(o, "kernels"), 0);
    cJSON *cycles = cJSON_GetObjectItem(row, "cycles");
    ck_assert_double_eq(number(cycles, "card"), 6544694);
    ck_assert(cJSON_IsNull(cJSON_GetObjectItem(cycles, "value")));
    ck_assert_double_eq(number(cJSON_GetObjectItem(row, "DRAM writes"), "again"), 8720433);
    cJSON *watts = cJSON_GetObjectItem(row, "watts");
    ck_assert_double_eq(number(watts, "card"), 142.5);
    ck_assert(cJSON_IsNull(cJSON_GetObjectItem(watts, "value")));
    cJSON_Delete(o);
    free(text);
    STATUS(HEDDLE_USAGE, "validate tiny --programs");
    SAYS(err, "--programs: there are no counts of tiny");
}
END_TEST

/* The first kernel of backprop reads 65,536 rows of 17 weights and 65,536 inputs, 4 bytes each: 147,456 sectors of 32
 * bytes. Parameters and instructions add at most 200. */
START_TEST(a_program_has_the_counts_of_the_card) {
    if (!test_every()) {
        test_skip("backprop at the card's size takes some seconds; make check-long runs it");
        return;
    }
    STATUS(HEDDLE_OK, "validate gv100 --programs --only layerforward --json p.json");
    char *text = slurp("p.json");
    cJSON *o = cJSON_Parse(text), *row = cJSON_GetArrayItem(cJSON_GetObjectItem(o, "kernels"), 0);
    double reads = number(cJSON_GetObjectItem(row, "DRAM reads"), "value");
    ck_assert(reads >= 147456 && reads < 147456 + 200);
    cJSON_Delete(o);
    free(text);
}
END_TEST

START_TEST(another_machine_and_a_preset_without_figures) {
    STATUS(HEDDLE_OK, "validate gv100 -c tiny --only sfu-dependent --csv -");
    SAYS(out, "sfu-dependent,\"ex2.approx.ftz.f32, dependent\",cycles,14,18,");
    STATUS(HEDDLE_OK, "validate tiny --only sfu-dependent");
    SAYS(out, "14.00          -           -");
    ck_assert(!strstr(out, "Others measured"));
}
END_TEST

/* fermi has 6 channels: 6 x 8 bytes x 4 transfers x 924 MHz = 177.4 GB/s. */
START_TEST(no_rate_exceeds_its_peak) {
    char why[512];
    const struct heddle_options o = {.model = "spe", .config = "fermi"};
    const double rate = micro_measure(micro_find("dram-read"), &o, why, sizeof why);
    EXPECT(rate > 80 && rate <= 177.4, "%g GB/s (%s)", rate, why);
}
END_TEST

/* Reads that hit the L2 are as fast as measured: 2,440 GB/s on a V100, 2,490 on an A40, 5,430 on an A100 and 6,950 on a
 * GH200 (gpu-benches). */
START_TEST(the_l2_reads_as_fast_as_the_card) {
    static const struct {
        const char *card;
        double least, most;
    } reads[] = {{"gv100", 0.95 * 2440, 1.05 * 2440},
                 {"a6000", 0.95 * 2490, 1.05 * 2490},
                 {"a100", 0.95 * 5430, 1.05 * 5430},
                 {"h100", 0.95 * 6950, 1.05 * 6950}};
    if (_i >= 1 && !test_every()) {
        test_skip("these reads take seconds; make check-long measures them");
        return;
    }
    char why[512] = "";
    const struct heddle_options o = {.model = "spe", .config = reads[_i].card};
    const double rate = micro_measure(micro_find("l2-read"), &o, why, sizeof why);
    EXPECT(rate >= reads[_i].least && rate <= reads[_i].most, "%s: %g GB/s (%s)", reads[_i].card, rate, why);
}
END_TEST

/* A copy of the binary has no folder kernels/ beside it. */
START_TEST(missing_kernels_are_named) {
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command,
             "cp '%s' own && env -u HEDDLE_KERNELS ./own validate tiny --only l1-latency >none 2>why", cli_binary);
    ck_assert_int_ne(system(command), 0);
    char *why = slurp("why");
    SAYS(why, "l1-latency: micro.ptx not found; set HEDDLE_KERNELS to the folder kernels/ of Heddle");
    free(why);
}
END_TEST

START_TEST(mistakes_are_reported) {
    STATUS(HEDDLE_USAGE, "validate");
    SAYS(err, "name one card, as in 'heddle validate gv100'; 'heddle validate list' shows the cards");
    STATUS(HEDDLE_USAGE, "validate gv1000");
    SAYS(err, "there is no preset \"gv1000\"");
    SAYS(err, "'heddle validate list' shows the cards");
    STATUS(HEDDLE_USAGE, "validate tiny --only speed");
    SAYS(err, "--only: no quantity has 'speed' in its name");
    STATUS(HEDDLE_USAGE, "validate tiny -m functional");
    SAYS(err, "the functional model has no time");
    STATUS(HEDDLE_OK, "validate list");
    SAYS(out, "gv100");
}
END_TEST

SUITE(host_cli_validate) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(the_published_figures_are_complete);
    TEST(values_equal_the_configuration);
    TEST(the_difference_is_relative_to_the_published_value);
    TEST(the_kernels_of_programs_are_complete);
    TEST(a_program_without_a_benchmark_is_not_run);
    TEST(a_program_has_the_counts_of_the_card);
    TEST(another_machine_and_a_preset_without_figures);
    TEST_SPEED(no_rate_exceeds_its_peak);
    TEST_SPEED_LOOP(the_l2_reads_as_fast_as_the_card, 0, 4);
    TEST(missing_kernels_are_named);
    TEST(mistakes_are_reported);
}
