/* Tests the traces of DAC and CAE, read back as JSON: the bars of the affine units and the counters of the queues. */
#include "timing/report/trace.h"
#include "host/heddle.h"
#include "test/test.h"
#include <cjson/cJSON.h>

static int number(const cJSON *o, const char *name) {
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(o, name);
    return cJSON_IsNumber(n) ? n->valueint : -1;
}

static bool is(const cJSON *o, const char *name, const char *value) {
    const cJSON *s = cJSON_GetObjectItemCaseSensitive(o, name);
    return cJSON_IsString(s) && strcmp(s->valuestring, value) == 0;
}

/* Runs Figure 4's kernel with 4 CTAs of 64 threads on one SM. Returns its trace as an array of events. */
static cJSON *traced(const char *model, const char *config, double *on_units) {
    char *text = NULL, err[512];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    static const char *const set[] = {"gpu.sms=1", NULL};
    uint32_t dim = 5, num = 256;
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .config = config, .set = set, .trace = out},
                                   err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    uint64_t a = heddle_alloc(h, 8192), b = heddle_alloc(h, 8192);
    struct heddle_arg args[] = {{&a, 8}, {&b, 8}, {&dim, 4}, {&num, 4}};
    ck_assert_int_eq(heddle_launch(h, heddle_module_file(h, "kernels/affine.ptx"), "example",
                                   (struct heddle_dim){4, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, args, 4),
                     HEDDLE_OK);
    *on_units = heddle_stat(h, 0, "cae.affine_instructions");
    heddle_close(h);
    fclose(out);
    cJSON *all = cJSON_Parse(text);
    ck_assert(cJSON_IsArray(all));
    free(text);
    return all;
}

/* Returns true if the track of the warp has this instruction with the same cycles of issue and end. */
static bool on_its_track(const cJSON *all, const cJSON *bar) {
    const cJSON *e, *args = cJSON_GetObjectItemCaseSensitive(bar, "args");
    int warp = number(args, "warp");
    cJSON_ArrayForEach(e, all) if (is(e, "cat", "instruction") && number(e, "tid") / TRACE_WARP_TRACKS == warp &&
                                   number(e, "ts") == number(bar, "ts") && number(e, "dur") == number(bar, "dur") &&
                                   number(cJSON_GetObjectItemCaseSensitive(e, "args"), "pc") ==
                                       number(args, "pc")) return true;
    return false;
}

/* Each instruction of an affine unit has one bar on the unit's track. The bar is as long as the instruction's bar on
 * the warp's track. Bars of a track do not overlap, and a track has a name before its first bar. Without CAE there are
 * no such bars. */
START_TEST(affine_units_have_rows) {
    static const char *const models[] = {"cae", "its+cae", "dws+cae", "spe"}, *const configs[] = {"fermi", "turing"};
    static int bars[1 << 14][2]; /* start, end */
    for (int c = 0; c < 2; c++) {
        double units;
        cJSON *all = traced(models[_i], configs[c], &units), *e;
        int n = 0;
        bool named[TRACE_UNIT_TRACKS] = {false};
        cJSON_ArrayForEach(e, all) {
            int row = number(e, "tid") - TRACE_FIRST_UNIT;
            const cJSON *args = cJSON_GetObjectItemCaseSensitive(e, "args");
            char name[64];
            snprintf(name, sizeof name, "affine units, row %d", row);
            if (row >= 0 && is(e, "name", "thread_name") && is(args, "name", name))
                named[row] = true;
            if (!is(e, "cat", "unit"))
                continue;
            ck_assert(row >= 0 && row < TRACE_UNIT_TRACKS && named[row]);
            ck_assert(on_its_track(all, e));
            bars[n][0] = row << 20 | number(e, "ts");
            bars[n++][1] = number(e, "ts") + number(e, "dur");
        }
        ck_assert_int_eq(n, (int)units);
        ck_assert((n > 100) == (strstr(models[_i], "cae") != NULL));
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                ck_assert(k == j || bars[k][0] >> 20 != bars[j][0] >> 20 || (bars[k][0] & 0xfffff) >= bars[j][1] ||
                          (bars[j][0] & 0xfffff) >= bars[k][1]);
        cJSON_Delete(all);
    }
}
END_TEST

/* Returns the last value of a counter in a trace. *most is the counter's maximum. */
static int counter(const char *text, const char *name, int *most) {
    char head[80];
    int last = -1;
    *most = -1;
    snprintf(head, sizeof head, "{\"name\":\"%s\",\"cat\":\"counter\",\"ph\":\"C\"", name);
    for (const char *at = text; (at = strstr(at, head)); at += sizeof head / 2) {
        const char *n = strstr(at, "\"args\":{\"n\":");
        ck_assert_ptr_nonnull(n);
        last = (int)strtol(n + 12, NULL, 10);
        if (last > *most)
            *most = last;
    }
    return last;
}

/* The affine warp has a track of its own. The queues have counters, whose last value is 0. */
START_TEST(traces_have_counters) {
    char *text = NULL, err[512];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    static const char *const set[] = {"gpu.sms=1", "dac.atq=3", NULL};
    uint32_t dim = 5, num = 64;
    int most;
    struct heddle *t =
        heddle_open(&(struct heddle_options){.model = "spe+dac", .set = set, .trace = out}, err, sizeof err);
    ck_assert_msg(t != NULL, "%s", err);
    uint64_t a = heddle_alloc(t, 4096), b = heddle_alloc(t, 4096);
    struct heddle_arg args[] = {{&a, 8}, {&b, 8}, {&dim, 4}, {&num, 4}};
    ck_assert_int_eq(heddle_launch(t, heddle_module_file(t, "kernels/affine.ptx"), "example",
                                   (struct heddle_dim){1, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, args, 4),
                     HEDDLE_OK);
    double atq = heddle_stat(t, 0, "dac.atq_max"), locked = heddle_stat(t, 0, "dac.locked_max");
    heddle_close(t);
    fclose(out);
    ck_assert_int_eq(counter(text, "affine tuple queue", &most), 0);
    ck_assert_int_eq(most, (int)atq);
    ck_assert_int_eq(counter(text, "locked lines", &most), 0);
    ck_assert_int_eq(most, (int)locked);
    ck_assert_int_eq(counter(text, "address queues", &most), 0);
    ck_assert_int_eq(counter(text, "predicate queues", &most), 0);
    ck_assert_int_gt(most, 0);
    ck_assert_ptr_nonnull(strstr(text, "\"args\":{\"name\":\"affine warp\"}"));
    free(text);
}
END_TEST

SUITE(mechanisms_dac_trace) {
    TEST_LOOP(affine_units_have_rows, 0, 4);
    TEST(traces_have_counters);
}
