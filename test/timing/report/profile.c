/* Tests the reports of the timing model that are not totals: counts by instruction, samples over time, traces. */
#include "frontend/frontend.h"
#include "test/test.h"
#include "timing/gpu.h"
#include "timing/report/trace.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>

static const char kernel[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .b64 %a<4>; .reg .pred %q<3>;\n"
    " ld.param.u64 %a1,[p];\n mov.u32 %r1,%tid.x;\n mov.u32 %r2,%ctaid.x;\n mad.lo.u32 %r4,%r2,64,%r1;\n"
    " mul.wide.u32 %a2,%r4,4;\n add.u64 %a2,%a1,%a2;\n mov.u32 %r5,0;\n"
    "L: ld.global.u32 %r6,[%a2];\n add.u32 %r6,%r6,%r5;\n st.global.u32 [%a2],%r6;\n add.u32 %r5,%r5,1;\n"
    " setp.lt.u32 %q1,%r5,10;\n @%q1 bra L;\n bar.sync 0;\n setp.lt.u32 %q2,%r1,16;\n @%q2 st.global.u32 [%a2],%r5;\n "
    "ret;\n}\n";
enum { CTAS = 40, THREADS = 64 };

static struct program *program;
static struct memory memory;
static struct config config;
static struct stats stats;
static uint64_t buffer;
static unsigned char params[8];

static void setup(void) {
    struct diags d;
    struct lower_options opt = {0};
    char err[256];
    diags_init(&d, "t.ptx", kernel, strlen(kernel));
    struct module *m = ptx_parse(&d);
    struct image *img = frontend_image(m);
    program = frontend_lower(img, "k", &opt);
    ck_assert_ptr_nonnull(program);
    frontend_image_free(img);
    ptx_free(m);
    diags_free(&d);
    mem_init(&memory, 0);
    buffer = mem_alloc(&memory, CTAS * THREADS * 4, 256, NULL, false);
    memcpy(params, &buffer, sizeof buffer);
    ck_assert(config_load(&config, "fermi", err, sizeof err));
    ck_assert(stats_init(&stats));
}

static void teardown(void) {
    stats_free(&stats);
    mem_free_all(&memory);
    program_free(program);
}

static struct gpu *run_grid(uint32_t ctas, uint32_t threads, const struct gpu_options *opt) {
    struct launch l = {
        .program = program, .memory = &memory, .grid = {ctas, 1, 1}, .block = {threads, 1, 1}, .params = params};
    struct fault f = {0};
    struct gpu *g = gpu_new(&config, opt);
    ck_assert_ptr_nonnull(g);
    ck_assert(gpu_run(g, &l, &stats, &f));
    return g;
}

static struct gpu *run(const struct gpu_options *opt) { return run_grid(CTAS, THREADS, opt); }

static void set(const char *assignment) {
    char err[256];
    ck_assert_msg(config_set(&config, assignment, err, sizeof err), "%s", err);
}

/* Returns the number of the stall cause with this name. */
static int cause_of(const char *name) {
    int cause = 0;
    while (gpu_stall_name(cause) == NULL || strcmp(gpu_stall_name(cause), name) != 0)
        cause++;
    return cause;
}

/* Checks that every issue slot with a stalled warp is counted at the PC of such a warp. */
static void check_stalls(const struct gpu *g) {
    uint32_t n;
    const struct gpu_profile *p = gpu_profile(g, &n);
    for (int k = 0; k < N_SLOTS; k++) {
        char name[64];
        double at_pcs = 0;
        for (uint32_t pc = 0; pc < n; pc++)
            at_pcs += (double)p[pc].stall[k];
        if (!gpu_stall_name(k))
            continue;
        snprintf(name, sizeof name, "issue.%s", gpu_stall_name(k));
        ck_assert_msg(at_pcs == stats_get(&stats, name), "%s: %g slots, %g at PCs", name, stats_get(&stats, name),
                      at_pcs);
    }
}

START_TEST(the_profile_adds_up) {
    uint32_t n;
    struct gpu *g = run(&(struct gpu_options){.model = &reconv_spe, .profile = true, .threads = 2});
    const struct gpu_profile *p = gpu_profile(g, &n);
    ck_assert_uint_eq(n, program->n);
    double issued = 0, lanes = 0, loads = 0, not_taken = 0;
    for (uint32_t pc = 0; pc < n; pc++) {
        issued += (double)p[pc].issued;
        lanes += (double)p[pc].lanes;
        if (program->code[pc].kind ==
            K_BRANCH) { /* the loop's branch: all lanes execute it ten times and take it nine times */
            ck_assert_uint_eq(p[pc].lanes, CTAS * THREADS * 10);
            not_taken += CTAS * THREADS;
        }
        if (program->code[pc].kind == K_LOAD && program->code[pc].space == SPACE_GLOBAL) {
            ck_assert_uint_eq(p[pc].issued, CTAS * 2 * 10); /* two warps per CTA, ten iterations */
            ck_assert_uint_gt(p[pc].misses, 0);
            loads++;
        }
    }
    ck_assert_double_eq(issued, stats_get(&stats, "gpu.warp_instructions"));
    ck_assert_double_eq(not_taken, CTAS * THREADS);
    ck_assert_double_eq(lanes - not_taken, stats_get(&stats, "gpu.thread_instructions"));
    ck_assert_double_eq(loads, 1);
    check_stalls(g);
    gpu_free(g);
}
END_TEST

/* 80 warps on one SM. The last 16 warps are in the second word of the SM's warp sets, and in some stalled issue
 * slots only these 16 warps are stalled. */
START_TEST(the_profile_of_many_warps_adds_up) {
    set("sm.warps=128");
    set("sm.ctas=40");
    set("sm.registers=1048576");
    set("gpu.sms=1");
    struct gpu *g = run(&(struct gpu_options){.model = &reconv_spe, .profile = true});
    ck_assert_double_eq(stats_get(&stats, "gpu.max_resident_warps"), 2 * CTAS);
    check_stalls(g);
    gpu_free(g);
}
END_TEST

/* Runs one warp with a fixed memory latency of 300 and of 400 cycles. Each of the ten iterations loads a line that
 * the last store invalidated. So the add that uses the load stalls for 1000 more cycles. The kernel loads its
 * parameter once, so the sixth instruction, which uses the parameter, stalls for 100 more cycles. All other PCs have
 * the same stalls. */
START_TEST(stall_cycles_are_where_they_arise) {
    enum { ROUNDS = 10, MORE = 100, MOST = 64, NEEDS_PARAMETER = 5 };
    static uint64_t stall[2][MOST][N_SLOTS];
    uint32_t n, add = 0;
    int load = cause_of("scoreboard_load");
    for (int k = 0; k < 2; k++) {
        set("memory.model=fixed");
        set(k ? "memory.latency=400" : "memory.latency=300");
        struct gpu *g = run_grid(1, 32, &(struct gpu_options){.model = &reconv_spe, .profile = true});
        const struct gpu_profile *p = gpu_profile(g, &n);
        ck_assert_uint_lt(n, MOST);
        for (uint32_t pc = 0; pc < n; pc++)
            memcpy(stall[k][pc], p[pc].stall, sizeof p[pc].stall);
        gpu_free(g);
    }
    while (program->code[add].kind != K_LOAD || program->code[add].space != SPACE_GLOBAL)
        add++;
    add++;
    for (uint32_t pc = 0; pc < n; pc++)
        ck_assert_msg(stall[1][pc][load] - stall[0][pc][load] == (pc == add               ? ROUNDS * MORE
                                                                  : pc == NEEDS_PARAMETER ? MORE
                                                                                          : 0),
                      "PC %u: %llu slots, then %llu", pc, (unsigned long long)stall[0][pc][load],
                      (unsigned long long)stall[1][pc][load]);
}
END_TEST

/* Stalls on a load are counted at the add after it, which waits for the value. */
START_TEST(stalls_are_charged_to_the_waiting_instruction) {
    uint32_t n, worst = 0;
    int cause = cause_of("scoreboard_load");
    struct gpu *g = run(&(struct gpu_options){.model = &reconv_spe, .profile = true});
    const struct gpu_profile *p = gpu_profile(g, &n);
    for (uint32_t pc = 0; pc < n; pc++)
        if (p[pc].stall[cause] > p[worst].stall[cause])
            worst = pc;
    ck_assert_uint_gt(worst, 0);
    ck_assert_int_eq(program->code[worst - 1].kind, K_LOAD);
    gpu_free(g);
}
END_TEST

struct samples {
    struct stats sum;
    uint64_t end;
    int n;
};

static void on_sample(void *ctx, uint64_t from, uint64_t to, const struct stats *interval) {
    struct samples *s = ctx;
    ck_assert_uint_eq(from, s->end);
    ck_assert_double_eq(stats_get(interval, "gpu.cycles"), (double)(to - from));
    int n;
    const struct stat_def *d = stat_defs(&n);
    for (int i = 0; i < n; i++)
        EXPECT(stats_get(interval, d[i].name) >= 0, "%s is %g in [%llu, %llu)", d[i].name,
               stats_get(interval, d[i].name), (unsigned long long)from, (unsigned long long)to);
    s->end = to;
    s->n++;
    stats_merge(&s->sum, interval);
}

/* Lengths of intervals in cycles. The statistics of all intervals of a launch add up to the statistics of the
 * launch. No statistic of an interval is negative, even if the interval is short. */
static const uint64_t intervals[] = {1, 16, 48, 200};
START_TEST(samples_add_up_to_the_launch) {
    struct samples s = {0};
    struct stats plain;
    ck_assert(stats_init(&s.sum) && stats_init(&plain));
    gpu_free(run(&(struct gpu_options){.model = &reconv_spe}));
    stats_merge(&plain, &stats);
    stats_free(&stats);
    ck_assert(stats_init(&stats));
    gpu_free(run(&(struct gpu_options){
        .model = &reconv_spe, .sample_interval = intervals[_i], .sample = on_sample, .sample_ctx = &s}));
    ck_assert_int_gt(s.n, 3);
    int n;
    const struct stat_def *d = stat_defs(&n);
    for (int i = 0; i < n; i++) {
        double all = stats_get(&plain, d[i].name);
        ck_assert_msg(fabs(stats_get(&s.sum, d[i].name) - all) <= 1e-9 * all, "%s", d[i].name);
        ck_assert_msg(fabs(stats_get(&stats, d[i].name) - all) <= 1e-9 * all, "%s", d[i].name);
    }
    stats_free(&s.sum);
    stats_free(&plain);
}
END_TEST

/* Every issued instruction and every CTA is one bar. */
START_TEST(the_trace_is_json_and_complete) {
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    gpu_free(run(&(struct gpu_options){.model = &reconv_spe, .trace = out, .trace_to = UINT64_MAX}));
    fclose(out);
    cJSON *all = cJSON_Parse(text), *e;
    ck_assert_msg(cJSON_IsArray(all), "%.200s", text);
    double bars = 0, ctas = 0, barriers = 0, under_way = 0, requests = 0;
    static double until[15][TRACE_TRACKS]; /* end of the last wait, by SM and track */
    memset(until, 0, sizeof until);
    cJSON_ArrayForEach(e, all) {
        const char *cat = cJSON_GetStringValue(cJSON_GetObjectItem(e, "cat"));
        const char *ph = cJSON_GetStringValue(cJSON_GetObjectItem(e, "ph"));
        double sm = cJSON_GetObjectItem(e, "pid")->valuedouble;
        ck_assert_double_lt(sm, 15);
        if (strcmp(ph, "M") == 0)
            continue;
        double ts = cJSON_GetObjectItem(e, "ts")->valuedouble, track = cJSON_GetObjectItem(e, "tid")->valuedouble;
        if (strcmp(ph, "X") == 0)
            ck_assert_double_ge(cJSON_GetObjectItem(e, "dur")->valuedouble, 1);
        ctas += strcmp(cat, "cta") == 0;
        bars += strcmp(cat, "instruction") == 0;
        barriers += strcmp(cat, "barrier") == 0;
        if (strcmp(cat, "wait") == 0) { /* the waits of one path do not overlap */
            ck_assert_double_lt(track, TRACE_TRACKS);
            double *last = &until[(int)sm][(int)track];
            ck_assert_double_ge(ts, *last);
            *last = ts + cJSON_GetObjectItem(e, "dur")->valuedouble;
        } else if (strcmp(cat, "memory") == 0) {
            requests += strcmp(ph, "b") == 0;
            under_way += (strcmp(ph, "b") == 0) - (strcmp(ph, "e") == 0);
            ck_assert_double_ge(under_way, 0);
        }
    }
    ck_assert_double_eq(under_way, 0); /* every request has its reply */
    ck_assert_double_gt(requests, 0);
    ck_assert_double_eq(barriers, CTAS); /* one per CTA */
    /* each warp instruction has a bar, even the store of warp 1 of each CTA, which has no active lanes */
    ck_assert_double_eq(bars, stats_get(&stats, "gpu.warp_instructions"));
    ck_assert_double_eq(ctas, CTAS);
    cJSON_Delete(all);
    free(text);
}
END_TEST

START_TEST(a_trace_without_events_is_json_too) {
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    gpu_free(run(&(struct gpu_options){.model = &reconv_spe, .trace = out, .trace_from = 1u << 30}));
    fclose(out);
    ck_assert_str_eq(text, "[]\n");
    free(text);
}
END_TEST

/* A launch that faults has statistics up to the fault. Here the first 40 CTAs stay within the buffer, and the next
 * CTA faults. */
START_TEST(a_fault_has_statistics) {
    struct launch l = {
        .program = program, .memory = &memory, .grid = {41, 1, 1}, .block = {THREADS, 1, 1}, .params = params};
    struct fault f = {0};
    struct gpu *g = gpu_new(&config, &(struct gpu_options){.model = &reconv_spe, .threads = 1});
    ck_assert_ptr_nonnull(g);
    ck_assert(!gpu_run(g, &l, &stats, &f));
    ck_assert_int_eq(f.kind, FAULT_OUT_OF_BOUNDS);
    fault_free(&f);
    ck_assert_double_gt(stats_get(&stats, "gpu.cycles"), 0);
    ck_assert_double_gt(stats_get(&stats, "gpu.warp_instructions"), 0);
    ck_assert_double_le(stats_get(&stats, "gpu.ctas"), 41); /* CTAs that started */
    l.grid.x = CTAS;                                        /* the next launch works */
    stats_clear(&stats);
    ck_assert(gpu_run(g, &l, &stats, &f));
    ck_assert_double_eq(stats_get(&stats, "gpu.ctas"), CTAS);
    gpu_free(g);
}
END_TEST

enum { MAX_REPORTS = 1024 };
struct reports {
    uint64_t cycle[MAX_REPORTS], done[MAX_REPORTS];
    uint32_t n, views;
    uint64_t seen; /* number of cycles that the intervals of all views cover */
    struct stats sum, sms;
};

/* Records a progress report. Requests a view every third time. */
static bool record_progress(void *ctx, uint64_t cycle, uint64_t done, uint64_t total) {
    struct reports *all = ctx;
    ck_assert_uint_eq(total, 4800);
    ck_assert_uint_lt(all->n, MAX_REPORTS);
    all->cycle[all->n] = cycle;
    all->done[all->n++] = done;
    return all->n % 3 == 0;
}

static void record_view(void *ctx, const struct gpu_view *v) {
    struct reports *all = ctx;
    ck_assert_uint_eq(v->from, all->seen);
    ck_assert_uint_gt(v->to, v->from);
    ck_assert_uint_eq(v->ctas, 4800);
    if (v->ctas_done < v->ctas)
        ck_assert_uint_eq(v->to, all->cycle[all->n - 1]);
    uint64_t ctas = 0, warps = 0;
    for (uint32_t i = 0; i < v->n_sms; i++) {
        ctas += v->sm[i].ctas;
        warps += v->sm[i].warps;
        stats_merge(&all->sms, &v->sm[i].interval);
    }
    ck_assert_uint_ge(v->ctas - v->ctas_done, ctas);
    ck_assert_uint_ge(warps, ctas); /* a CTA that has not ended has a warp that has not ended */
    stats_merge(&all->sum, v->interval);
    all->seen = v->to;
    all->views++;
}

static struct gpu *run_reported(struct reports *reports) {
    buffer = mem_alloc(&memory, 4800 * THREADS * 4, 256, NULL, false);
    memcpy(params, &buffer, sizeof buffer);
    set("memory.model=fixed"), set("memory.latency=2"), set("gpu.poll=on");
    ck_assert(stats_init(&reports->sum) && stats_init(&reports->sms));
    return run_grid(4800, THREADS,
                    &(struct gpu_options){.model = &reconv_spe,
                                          .threads = 1,
                                          .progress = record_progress,
                                          .view = reports->views ? NULL : record_view,
                                          .progress_ctx = reports});
}

/* With a memory latency of two cycles, there is an edge every two cycles (timing/windows.h). Progress is reported at
 * every 256th edge, that is, every 512 cycles while CTAs run, unless edges are skipped. */
START_TEST(progress_is_reported_regularly) {
    struct reports reports = {.views = 1};
    gpu_free(run_reported(&reports));
    double cycles = stats_get(&stats, "gpu.cycles");
    ck_assert_double_gt(cycles, 20 * 512);
    ck_assert_uint_eq(reports.n, (uint32_t)((cycles - 1) / 512));
    for (uint32_t i = 0; i < reports.n; i++) {
        ck_assert_uint_eq(reports.cycle[i], 512 * (i + 1));
        ck_assert_uint_ge(reports.done[i], i ? reports.done[i - 1] : 0);
        ck_assert_uint_lt(reports.done[i], 4800);
    }
    ck_assert_uint_gt(reports.done[reports.n - 1], 0);
    stats_free(&reports.sum);
    stats_free(&reports.sms);
}
END_TEST

/* The statistics in the views at every third report and at the end add up to the statistics of the launch. The
 * statistics of single SMs add up to the whole GPU, too. */
START_TEST(views_add_up_to_the_launch) {
    static const char *const of_sms[] = {"gpu.warp_instructions", "issue.slots", "issue.issued",
                                         "issue.no_warp",         "l1.accesses", "gpu.ctas"};
    struct reports reports = {0};
    gpu_free(run_reported(&reports));
    ck_assert_uint_eq(reports.views, reports.n / 3 + 1);
    ck_assert_double_eq((double)reports.seen, stats_get(&stats, "gpu.cycles"));
    int n;
    const struct stat_def *defs = stat_defs(&n);
    for (int i = 0; i < n; i++)
        ck_assert_msg(fabs(stats_get(&reports.sum, defs[i].name) - stats_get(&stats, defs[i].name)) <=
                          1e-9 * fabs(stats_get(&stats, defs[i].name)),
                      "%s", defs[i].name);
    for (size_t i = 0; i < sizeof of_sms / sizeof of_sms[0]; i++) {
        ck_assert_double_gt(stats_get(&stats, of_sms[i]), 0);
        ck_assert_double_eq(stats_get(&reports.sms, of_sms[i]), stats_get(&stats, of_sms[i]));
    }
    stats_free(&reports.sum);
    stats_free(&reports.sms);
}
END_TEST

SUITE(timing_profile) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(progress_is_reported_regularly);
    TEST(views_add_up_to_the_launch);
    TEST(a_fault_has_statistics);
    TEST(the_profile_adds_up);
    TEST(the_profile_of_many_warps_adds_up);
    TEST(stalls_are_charged_to_the_waiting_instruction);
    TEST(stall_cycles_are_where_they_arise);
    TEST_LOOP(samples_add_up_to_the_launch, 0, sizeof intervals / sizeof intervals[0]);
    TEST(the_trace_is_json_and_complete);
    TEST(a_trace_without_events_is_json_too);
}
