/* Tests the profile, the samples and the trace of a launch. Their sums must equal the statistics of the launch. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <cjson/cJSON.h>
#include <stdio.h>

struct recorded {
    char *trace, *samples, *profile;
    size_t n_trace, n_samples, n_profile;
    double cycles, instructions;
};

/* Runs vecadd on the machine `tiny` with 4 CTAs of 64 threads. */
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

/* 4 CTAs of 2 warps are 8 warps. The kernel has no branches, so every line issues 8 times. The issues of all lines add
 * up to the total. */
START_TEST(profile_counts_every_issue) {
    struct recorded r = record(0);
    double sum = 0;
    const char *at = strchr(strchr(r.profile, '\n') + 1, '\n'); /* `at` is the end of the second header line */
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

/* The column gpu.warp_instructions adds up to the statistic of the launch. The interval of the last row ends with the
 * last cycle of the launch. */
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

/* The trace is JSON: an array of events, with a complete event for each instruction. */
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

/* Two source lines of k.cu: line 3 becomes two instructions, line 2 one instruction. The exit belongs to the line of
 * the last .loc directive. */
static const char with_loc[] = ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry one(.param .u64 a) {\n"
                               "\t.reg .b64 %d<2>; .reg .b32 %r<2>;\n"
                               "\t.loc 1 3 0\n\tld.param.u64 %d1, [a];\n\tmov.u32 %r1, %tid.x;\n"
                               "\t.loc 1 2 5\n\tst.global.u32 [%d1], %r1;\n\tret;\n}\n"
                               ".visible .entry two() {\n\tret;\n}\n"
                               ".file 1 \"/nowhere/k.cu\"\n";

/* Launches kernel `one` twice and kernel `two` once, each with one CTA of 64 threads (two warps). */
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

/* Derived by hand:
 * - two launches of two warps issue every instruction of `one` 4 times;
 * - line 3 of k.cu has 2 instructions: 8 issues of 32 lanes each;
 * - line 2 has the store and the exit: 8 issues.
 * heddle finds the source file by its name in the folder of the PTX file. */
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

/* Each PTX statement has the number of threads (of two warps with 32 threads) that execute it, whether or not they take
 * a branch. The number is 0 if the line has no instruction or if no thread executes it. %p is true in threads 0 to 11,
 * %s in threads 0 to 4, %w in threads 0 to 31, and %q in no thread. */
static const struct {
    const char *text;
    uint32_t lanes;
} statements[] = {
    {".version 7.0\n", 0},
    {".target sm_70\n", 0},
    {".address_size 64\n", 0},
    {".func f()\n", 0},
    {"{ .reg .b32 %r<3>; .reg .pred %s;\n", 0},
    {" mov.u32 %r1,%tid.x;\n", 12},
    {" setp.lt.u32 %s,%r1,5;\n", 12},
    {" @%s ret;\n", 12}, /* 5 threads branch to the ret below */
    {" add.u32 %r2,%r1,7;\n", 7},
    {" ret; }\n", 12}, /* includes the 5 */
    {".visible .entry k(.param .u64 out)\n", 0},
    {"{ .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p,%q,%w;\n", 0},
    {" mov.u32 %r1,%tid.x;\n", 64},
    {" setp.lt.u32 %p,%r1,12;\n", 64},
    {" setp.gt.u32 %q,%r1,99;\n", 64},
    {" setp.lt.u32 %w,%r1,32;\n", 64},
    {" mov.u32 %r3,0;\n", 64},
    {" @%p bra A;\n", 64}, /* 12 threads take the branch */
    {" add.u32 %r3,%r1,1;\n", 52},
    {" mul.lo.u32 %r3,%r3,%r3;\n", 52},
    {" bra.uni J;\n", 52},
    {"A: add.u32 %r3,%r1,2;\n", 12},
    {" mul.lo.u32 %r3,%r3,3;\n", 12},
    {"J: mov.u32 %r5,%r3;\n", 64},
    {" @%q bra A;\n", 64},  /* nobody takes it */
    {" @!%q bra B;\n", 64}, /* all do */
    {" add.u32 %r5,%r5,1;\n", 0},
    {"B: @%p add.u32 %r5,%r5,9;\n", 12}, /* a guard, no condition */
    {" @%p call f;\n", 64},
    {" and.b32 %r6,%r1,1;\n", 64},
    {"T: .branchtargets C,D;\n", 0},
    {" @%p brx.idx %r6,T;\n", 64},     /* 12 threads take the branch */
    {"C: add.u32 %r5,%r5,%r6;\n", 58}, /* 52 threads fall through from the brx, and 6 even threads branch here */
    {"D: add.u32 %r5,%r5,%r6;\n", 64},
    {" @%w bar.sync 1,32;\n", 32}, /* warp 1 has a false guard, so it does not arrive */
    {" @%q bar.sync 2;\n", 0},
    {" @%p exit;\n", 64}, /* 12 leave */
    {" ld.param.u64 %d1,[out];\n", 52},
    {" mul.wide.u32 %d2,%r1,4;\n", 52},
    {" add.u64 %d2,%d1,%d2;\n", 52},
    {" @%w st.global.u32 [%d2],%r5;\n", 20},
    {" @!%w st.global.u32 [%d2],%r3;\n", 32},
    {" ret;\n}\n", 52},
};
enum { N_STATEMENTS = sizeof statements / sizeof statements[0] };

/* Returns the number of lanes that a statement counts. Under `large` both warps are one large warp. It issues a jump
 * once for all threads, and counts each of the 32 lanes once. */
static uint32_t expected_lanes(const char *model, int statement) {
    const bool jump = strstr(statements[statement].text, "bra.uni") != NULL;
    return strcmp(model, "large") == 0 && jump ? 32 : statements[statement].lanes;
}

/* In every model, each thread executes exactly the lines of its own path. */
START_TEST(lanes_are_those_that_execute) {
    static char text[4096], err[512];
    char *json = NULL;
    size_t size;
    double lanes[N_STATEMENTS] = {0};
    *text = 0;
    for (int i = 0; i < N_STATEMENTS; i++)
        strncat(text, statements[i].text, sizeof text - strlen(text) - 1);
    struct heddle *h =
        heddle_open(&(struct heddle_options){.config = "tiny", .model = timed_models()->name[_i], .profile = true}, err,
                    sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const uint64_t out = heddle_alloc(h, 64 * 4);
    const struct heddle_dim grid = {1, 1, 1}, block = {64, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "k", grid, block, 0, &(struct heddle_arg){&out, 8}, 1) == HEDDLE_OK, "%s",
                  heddle_error(h));
    FILE *f = open_memstream(&json, &size);
    ck_assert_int_eq(heddle_write_json(h, f, 0, NULL, -1), HEDDLE_OK);
    fclose(f);
    heddle_close(h);
    cJSON *o = cJSON_Parse(json);
    const cJSON *l;
    cJSON_ArrayForEach(l, cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(o, "profile"), 0), "lines"))
        lanes[(int)cJSON_GetObjectItem(l, "line")->valuedouble - 1] += cJSON_GetObjectItem(l, "lanes")->valuedouble;
    for (int i = 0; i < N_STATEMENTS; i++)
        ck_assert_msg(lanes[i] == expected_lanes(timed_models()->name[_i], i), "%s: %g lanes, not %u:%s",
                      timed_models()->name[_i], lanes[i], statements[i].lanes, statements[i].text);
    cJSON_Delete(o);
    free(json);
}
END_TEST

/* One warp executes each statement. The number is the count of its accesses that miss the L1. If two loads access one
 * cache line and the second load waits for the first load's result, only the first misses. If the second load joins the
 * outstanding miss of the first, both count as misses. Stores do not miss. The second number is the count of sectors in
 * the L1: this L1 has no sectors, so each access to a line counts the line's four. */
static const struct {
    const char *text;
    uint32_t misses, sectors;
} accesses[] = {
    {"ld.global.u32 %r2,[%d2];", 1, 4},
    {"add.u32 %r3,%r2,%r2;", 0, 0}, /* waits for the load */
    {"st.global.u32 [%d2+4096],%r3;", 0, 4},
    {"ld.global.u32 %r4,[%d2];", 0, 4},
    {"ld.global.u32 %r5,[%d2];", 0, 4},
    {"ld.global.u32 %r6,[%d2+128];", 1, 4},
    {"ld.global.u32 %r7,[%d2+128];", 1, 4}, /* the line is outstanding */
    {"st.shared.u32 [s],%r2;", 0, 0},
    {"ld.shared.u32 %r8,[s];", 0, 0},
    {"ld.global.u32 %r8,[%d1+256];", 1, 4},                                              /* one line */
    {"mul.wide.u32 %d3,%r1,8; add.u64 %d3,%d1,%d3; ld.global.u64 %d3,[%d3+512];", 1, 8}, /* two lines, one access */
};
enum { N_ACCESSES = sizeof accesses / sizeof accesses[0] };

START_TEST(misses_and_sectors_are_those_of_the_l1) {
    static char text[4096], err[512];
    char *json = NULL;
    size_t size;
    double misses[N_ACCESSES] = {0}, sectors[N_ACCESSES] = {0};
    strcpy(text, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
                 ".shared .b32 s[1]; .reg .b32 %r<9>; .reg .b64 %d<4>; ld.param.u64 %d1,[out]; mov.u32 %r1,%tid.x; "
                 "mul.wide.u32 %d2,%r1,4; add.u64 %d2,%d1,%d2;\n");
    for (int i = 0; i < N_ACCESSES; i++) {
        strncat(text, accesses[i].text, sizeof text - strlen(text) - 1);
        strncat(text, "\n", sizeof text - strlen(text) - 1);
    }
    strncat(text, "ret; }\n", sizeof text - strlen(text) - 1);
    struct heddle *h = heddle_open(&(struct heddle_options){.config = "fermi", .profile = true}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const uint64_t out = heddle_alloc(h, 8192);
    const struct heddle_dim grid = {1, 1, 1}, block = {32, 1, 1};
    ck_assert_int_eq(heddle_launch(h, m, "k", grid, block, 0, &(struct heddle_arg){&out, 8}, 1), HEDDLE_OK);
    FILE *f = open_memstream(&json, &size);
    ck_assert_int_eq(heddle_write_json(h, f, 0, NULL, -1), HEDDLE_OK);
    fclose(f);
    heddle_close(h);
    cJSON *o = cJSON_Parse(json);
    const cJSON *l;
    cJSON_ArrayForEach(l, cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(o, "profile"), 0), "lines")) {
        int at = (int)cJSON_GetObjectItem(l, "line")->valuedouble - 6;
        if (at >= 0 && at < N_ACCESSES) {
            misses[at] += cJSON_GetObjectItem(l, "l1_misses")->valuedouble;
            sectors[at] += cJSON_GetObjectItem(l, "l1_sectors")->valuedouble;
        }
    }
    for (int i = 0; i < N_ACCESSES; i++) {
        ck_assert_msg(sectors[i] == accesses[i].sectors, "%g sectors, not %u: %s", sectors[i], accesses[i].sectors,
                      accesses[i].text);
        ck_assert_msg(misses[i] == accesses[i].misses, "%g misses, not %u: %s", misses[i], accesses[i].misses,
                      accesses[i].text);
    }
    cJSON_Delete(o);
    free(json);
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
    TEST_LOOP(lanes_are_those_that_execute, 0, timed_models()->n);
    TEST(misses_and_sectors_are_those_of_the_l1);
    TEST(functional_has_no_time);
}
