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

/* Two lines of k.cu: the first becomes two instructions, the second one, and the exit has none of its own but what
 * follows the last .loc. */
static const char with_loc[] = ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry one(.param .u64 a) {\n"
                               "\t.reg .b64 %d<2>; .reg .b32 %r<2>;\n"
                               "\t.loc 1 3 0\n\tld.param.u64 %d1, [a];\n\tmov.u32 %r1, %tid.x;\n"
                               "\t.loc 1 2 5\n\tst.global.u32 [%d1], %r1;\n\tret;\n}\n"
                               ".visible .entry two() {\n\tret;\n}\n"
                               ".file 1 \"/nowhere/k.cu\"\n";

/* `one` twice and `two` once, each a CTA of 64 threads: two warps. */
static cJSON *record_json(const char *folder) {
    char err[512], path[128], *text = NULL;
    size_t len;
    struct heddle *h =
        heddle_open(&(struct heddle_options){.config = "tiny", .profile = true, .threads = 1}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    snprintf(path, sizeof path, "%s/k.ptx", folder);
    struct heddle_module *m = heddle_module_text(h, path, with_loc, strlen(with_loc));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t buffer = heddle_alloc(h, 1024);
    struct heddle_dim grid = {1, 1, 1}, block = {64, 1, 1};
    ck_assert_int_eq(heddle_launch(h, m, "one", grid, block, 0, &(struct heddle_arg){&buffer, 8}, 1), HEDDLE_OK);
    ck_assert_int_eq(heddle_launch(h, m, "two", grid, block, 0, NULL, 0), HEDDLE_OK);
    ck_assert_int_eq(heddle_launch(h, m, "one", grid, block, 0, &(struct heddle_arg){&buffer, 8}, 1), HEDDLE_OK);
    FILE *f = open_memstream(&text, &len);
    ck_assert_int_eq(heddle_write_json(h, f, 0, NULL, -1), HEDDLE_OK);
    heddle_print_profile(h, f);
    fclose(f);
    heddle_close(h);
    const char *end;
    cJSON *o = cJSON_ParseWithOpts(text, &end, false);
    ck_assert_ptr_nonnull(o);
    ck_assert_msg(strstr(end, "one by line of /nowhere/k.cu\n") != NULL, "%s", end);
    ck_assert_msg(strstr(end, "      2  a[threadIdx.x] = 1;\n") != NULL, "%s", end);
    ck_assert_msg(strstr(end, "k.ptx, 2 launches\n") != NULL, "%s", end);
    free(text);
    return o;
}

static double number_of(const cJSON *o, const char *name) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, name);
    ck_assert_msg(cJSON_IsNumber(v), "no %s", name);
    return v->valuedouble;
}

static const char *text_of(const cJSON *o, const char *name) {
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, name));
    return s ? s : "(none)";
}

/* By hand: two launches of two warps issue every instruction of `one` 4 times. Line 3 of k.cu has 2 instructions, so
 * 8 issues of 32 lanes each; line 2 has the store and the exit: 8. The file is found beside the PTX, by its name. */
START_TEST(the_json_has_the_profile_by_line_and_source) {
    char folder[] = "/tmp/heddle_profile_XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/k.cu", folder);
    FILE *f = fopen(path, "w");
    fputs("__global__ void one(int *a) {\n    a[threadIdx.x] = 1;\n}\n", f);
    fclose(f);
    cJSON *o = record_json(folder);
    const cJSON *kernels = cJSON_GetObjectItem(o, "profile"), *one = cJSON_GetArrayItem(kernels, 0),
                *two = cJSON_GetArrayItem(kernels, 1), *sources = cJSON_GetObjectItem(one, "sources"),
                *lines = cJSON_GetObjectItem(one, "lines");
    ck_assert_int_eq(cJSON_GetArraySize(kernels), 2);
    ck_assert_str_eq(text_of(one, "kernel"), "one");
    ck_assert_str_eq(text_of(two, "kernel"), "two");
    ck_assert_double_eq(number_of(one, "launches"), 2);
    ck_assert_double_eq(number_of(two, "launches"), 1);
    ck_assert_int_eq(cJSON_GetArraySize(sources), 2);
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(two, "sources")), 0);
    const cJSON *line2 = cJSON_GetArrayItem(sources, 0), *line3 = cJSON_GetArrayItem(sources, 1);
    ck_assert_double_eq(number_of(line2, "line"), 2);
    ck_assert_str_eq(text_of(line2, "file"), "/nowhere/k.cu");
    ck_assert_str_eq(text_of(line2, "text"), "a[threadIdx.x] = 1;");
    ck_assert_double_eq(number_of(line2, "issued"), 8);
    ck_assert_double_eq(number_of(line3, "line"), 3);
    ck_assert_double_eq(number_of(line3, "issued"), 8);
    ck_assert_double_eq(number_of(line3, "lanes"), 8 * 32);
    double issued = 0, stalled = 0;
    const cJSON *l, *cause;
    cJSON_ArrayForEach(l, lines) {
        issued += number_of(l, "issued");
        cJSON_ArrayForEach(cause, cJSON_GetObjectItem(l, "stalls")) stalled += cause->valuedouble;
    }
    ck_assert_double_eq(issued + number_of(cJSON_GetArrayItem(cJSON_GetObjectItem(two, "lines"), 0), "issued"),
                        number_of(cJSON_GetObjectItem(o, "stats"), "gpu.warp_instructions"));
    ck_assert_double_gt(stalled, 0);
    ck_assert_str_eq(text_of(cJSON_GetArrayItem(lines, 0), "text"), "ld.param.u64 %d1, [a];");
    cJSON_Delete(o);
    remove(path);
    remove(folder);
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
    TEST(the_json_has_the_profile_by_line_and_source);
    TEST(functional_has_no_time);
}
