/* Profile, samples and trace of a launch: what they say adds up to the launch's statistics. */
#include "host/heddle.h"
#include "test/test.h"
#include <cjson/cJSON.h>
#include <stdio.h>

struct recorded {
    char *trace, *samples, *profile;
    size_t n_trace, n_samples, n_profile;
    double cycles, instructions;
};

/* vecadd on the tiny machine: 4 CTAs of 64 threads. */
static struct recorded record(uint64_t interval) {
    struct recorded r = {0};
    char err[512];
    FILE *trace = open_memstream(&r.trace, &r.n_trace), *samples = open_memstream(&r.samples, &r.n_samples);
    struct heddle *h = heddle_open(
        &(struct heddle_options){
            .config = "tiny", .trace = trace, .profile = true, .sample_interval = interval, .samples = samples},
        err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_file(h, "kernels/vecadd.ptx");
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t buffer = heddle_alloc(h, 1024);
    uint32_t n = 256;
    struct heddle_arg args[] = {{&buffer, 8}, {&buffer, 8}, {&buffer, 8}, {&n, 4}};
    ck_assert_int_eq(
        heddle_launch(h, m, "vecadd", (struct heddle_dim){4, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, args, 4),
        HEDDLE_OK);
    FILE *profile = open_memstream(&r.profile, &r.n_profile);
    ck_assert_int_eq(heddle_print_profile(h, profile), HEDDLE_OK);
    r.cycles = heddle_stat(h, -1, "gpu.cycles");
    r.instructions = heddle_stat(h, -1, "gpu.warp_instructions");
    heddle_close(h);
    fclose(profile);
    fclose(trace);
    fclose(samples);
    return r;
}

static void forget(struct recorded *r) {
    free(r->trace);
    free(r->samples);
    free(r->profile);
}

/* 4 CTAs of 2 warps: every line of the straight kernel issues 8 times, and the lines' issues are all there are. */
START_TEST(profile_counts_every_issue) {
    struct recorded r = record(0);
    double sum = 0;
    const char *at = strchr(strchr(r.profile, '\n') + 1, '\n'); /* after the two lines of the head */
    for (; at && at[1]; at = strchr(at + 1, '\n')) {
        double issued = strtod(at + 1, NULL);
        ck_assert_double_eq(issued, 8);
        sum += issued;
    }
    ck_assert_double_eq(sum, r.instructions);
    ck_assert_ptr_nonnull(strstr(r.profile, "ld.global.f32"));
    forget(&r);
}
END_TEST

/* Column gpu.warp_instructions summed over the rows is the launch's; the last row ends with the launch. */
START_TEST(samples_add_up) {
    struct recorded r = record(100);
    int column = 0;
    const char *head = strstr(r.samples, ",gpu.warp_instructions,");
    ck_assert_ptr_nonnull(head);
    for (const char *c = r.samples; c <= head; c++)
        column += *c == ',';
    double sum = 0, to = 0;
    for (const char *row = strchr(r.samples, '\n'); row && row[1]; row = strchr(row + 1, '\n')) {
        const char *cell = row + 1;
        for (int i = 0; i < column; i++) {
            cell = strchr(cell, ',') + 1;
            if (i == 0)
                to = strtod(cell, NULL);
        }
        sum += strtod(cell, NULL);
    }
    ck_assert_double_eq(sum, r.instructions);
    ck_assert_double_eq(to, r.cycles);
    forget(&r);
}
END_TEST

/* The trace is JSON: an array of events, with one complete event an instruction. */
START_TEST(trace_is_json) {
    struct recorded r = record(0);
    cJSON *all = cJSON_Parse(r.trace);
    ck_assert_msg(cJSON_IsArray(all), "%.200s", r.trace);
    int complete = 0;
    const cJSON *e;
    cJSON_ArrayForEach(e, all) {
        const cJSON *ph = cJSON_GetObjectItem(e, "ph"), *args = cJSON_GetObjectItem(e, "args");
        complete += cJSON_IsString(ph) && strcmp(ph->valuestring, "X") == 0 && cJSON_GetObjectItem(args, "pc");
    }
    ck_assert_int_ge(complete, (int)r.instructions);
    cJSON_Delete(all);
    forget(&r);
}
END_TEST

START_TEST(functional_has_no_time) {
    char err[512];
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "functional", .profile = true}, err, sizeof err);
    ck_assert_ptr_null(h);
    ck_assert_ptr_nonnull(strstr(err, "has no time"));
}
END_TEST

SUITE(host_profile) {
    TEST(profile_counts_every_issue);
    TEST(samples_add_up);
    TEST(trace_is_json);
    TEST(functional_has_no_time);
}
