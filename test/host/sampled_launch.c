/* Tests sampled simulation through the library: memory is exact, results do not depend on the number of host threads,
 * launches that cannot be sampled run in time as a whole, and plans can be written and read (sampled/plan_file.c). */
#include "host/heddle.h"
#include "host/sampled/sampling.h"
#include "test/test.h"
#include <cjson/cJSON.h>
#include <math.h>

#define HEAD ".version 6.0\n.target sm_50\n.address_size 64\n"
/* step: to[i] = 3 * to[i] + i, so a thread that runs twice, or not at all, leaves another value. order: each CTA
 * appends its number to a list, whose order is that of an atomic counter. spread: to[by * i] = by, so that a warp
 * touches `by` lines. rounds: 1,000 rounds, in which the threads of a CTA exchange values between barriers, and the
 * lanes of a warp diverge. faulty: 1,000 rounds; thread 37 of CTA 3 loads from address 8 in round `at`. uneven: 2,000
 * rounds; an odd CTA waits for a load in each round, an even CTA loads nothing. halves: 300 rounds of a loop for the
 * lower half of a warp, and of another loop for the upper half. varied: 100 to 720 rounds, which the CTA's number
 * chooses. where: the CTAs 0, 2, 4, 6, 1, 3, 5 and 7 have 1,000 to 1,007 rounds, in this order, and so have the next
 * eight; each thread leaves the number of its SM. */
static const char text[] =
    HEAD ".global .u32 count = 0;\n"
         ".visible .entry step(.param .u64 to) { .reg .u64 %t,%o; .reg .u32 %i,%x,%b,%n,%v; mov.u32 %x,%tid.x;\n"
         "mov.u32 %b,%ctaid.x; mov.u32 %n,%ntid.x; mad.lo.u32 %i,%b,%n,%x; ld.param.u64 %t,[to];\n"
         "mul.wide.u32 %o,%i,4; add.u64 %t,%t,%o; ld.global.u32 %v,[%t]; mad.lo.u32 %v,%v,3,%i;\n"
         "st.global.u32 [%t],%v; ret; }\n"
         ".visible .entry order(.param .u64 to) { .reg .u64 %t,%o,%c; .reg .u32 %i,%x,%b,%n; mov.u32 %b,%ctaid.x;\n"
         "mov.u64 %c,count; atom.global.add.u32 %i,[%c],1; ld.param.u64 %t,[to]; mul.wide.u32 %o,%i,4;\n"
         "add.u64 %t,%t,%o; st.global.u32 [%t],%b; ret; }\n"
         ".visible .entry spread(.param .u64 to,.param .u32 by) { .reg .u64 %t,%o; .reg .u32 %i,%x,%b,%n,%y;\n"
         "mov.u32 %x,%tid.x; mov.u32 %b,%ctaid.x; mov.u32 %n,%ntid.x; mad.lo.u32 %i,%b,%n,%x; ld.param.u32 %y,[by];\n"
         "mul.lo.u32 %i,%i,%y; ld.param.u64 %t,[to]; mul.wide.u32 %o,%i,4; add.u64 %t,%t,%o;\n"
         "st.global.u32 [%t],%y; ret; }\n"
         ".visible .entry rounds(.param .u64 to) { .reg .u64 %t,%o; .reg .u32 %i,%x,%b,%v,%k,%s,%n,%w; .reg .pred %p;\n"
         ".shared .b32 all[64]; mov.u32 %x,%tid.x; mov.u32 %b,%ctaid.x; mad.lo.u32 %i,%b,64,%x; ld.param.u64 %t,[to];\n"
         "mul.wide.u32 %o,%i,4; add.u64 %t,%t,%o; mov.u32 %k,0; mov.u32 %s,all; mad.lo.u32 %n,%x,4,%s;\n"
         "xor.b32 %w,%x,63; mad.lo.u32 %s,%w,4,%s; mov.u32 %v,%i;\n"
         "next: st.shared.u32 [%n],%v; bar.sync 0; ld.shared.u32 %w,[%s]; mad.lo.u32 %v,%v,3,%w; bar.sync 0;\n"
         "xor.b32 %w,%x,%k; and.b32 %w,%w,1; setp.eq.u32 %p,%w,0; @%p bra even; add.u32 %v,%v,7; bra both;\n"
         "even: ld.global.u32 %w,[%t]; add.u32 %v,%v,%w; st.global.u32 [%t],%v;\n"
         "both: add.u32 %k,%k,1; setp.lt.u32 %p,%k,1000; @%p bra next; st.global.u32 [%t],%v; ret; }\n"
         ".visible .entry faulty(.param .u64 to,.param .u32 at) { .reg .u64 %t,%o,%a; .reg .u32 %i,%x,%b,%v,%k,%y;\n"
         ".reg .pred %p; mov.u32 %x,%tid.x; mov.u32 %b,%ctaid.x; mad.lo.u32 %i,%b,64,%x; ld.param.u64 %t,[to];\n"
         "ld.param.u32 %y,[at]; mul.wide.u32 %o,%i,4; add.u64 %t,%t,%o; mov.u32 %k,0;\n"
         "next: setp.eq.u32 %p,%k,%y; setp.eq.and.u32 %p,%i,229,%p; mov.u64 %a,%t; @%p mov.u64 %a,8;\n"
         "ld.global.u32 %v,[%a]; add.u32 %v,%v,1; st.global.u32 [%t],%v;\n"
         "add.u32 %k,%k,1; setp.lt.u32 %p,%k,1000; @%p bra next; ret; }\n"
         ".visible .entry uneven(.param .u64 to) { .reg .u64 %t,%o; .reg .u32 %i,%x,%b,%v,%k; .reg .pred %p,%q;\n"
         "mov.u32 %x,%tid.x; mov.u32 %b,%ctaid.x; mad.lo.u32 %i,%b,64,%x; ld.param.u64 %t,[to];\n"
         "mul.wide.u32 %o,%i,4; add.u64 %t,%t,%o; and.b32 %b,%b,1; setp.ne.u32 %q,%b,0; mov.u32 %k,0;\n"
         "next: mov.u32 %v,%k; @%q ld.global.u32 %v,[%t]; add.u32 %v,%v,1; add.u32 %v,%v,1;\n"
         "add.u32 %k,%k,1; setp.lt.u32 %p,%k,2000; @%p bra next; st.global.u32 [%t],%v; ret; }\n"
         ".visible .entry halves(.param .u64 to) { .reg .u64 %t,%o; .reg .u32 %i,%x,%b,%v,%k; .reg .pred %p;\n"
         "mov.u32 %x,%tid.x; mov.u32 %b,%ctaid.x; mad.lo.u32 %i,%b,64,%x; ld.param.u64 %t,[to];\n"
         "mul.wide.u32 %o,%i,4; add.u64 %t,%t,%o; and.b32 %b,%x,16; setp.ne.u32 %p,%b,0; mov.u32 %k,0; @%p bra upper;\n"
         "lower: ld.global.u32 %v,[%t]; add.u32 %v,%v,1; st.global.u32 [%t],%v; add.u32 %k,%k,1;\n"
         "setp.lt.u32 %p,%k,300; @%p bra lower; bra done;\n"
         "upper: ld.global.u32 %v,[%t]; add.u32 %v,%v,2; st.global.u32 [%t],%v; add.u32 %k,%k,1;\n"
         "setp.lt.u32 %p,%k,300; @%p bra upper;\n"
         "done: ret; }\n"
         ".visible .entry varied(.param .u64 to) { .reg .u64 %t,%o; .reg .u32 %i,%x,%b,%v,%k; .reg .pred %p;\n"
         "mov.u32 %x,%tid.x; mov.u32 %b,%ctaid.x; mad.lo.u32 %i,%b,64,%x; ld.param.u64 %t,[to];\n"
         "mul.wide.u32 %o,%i,4; add.u64 %t,%t,%o; mul.lo.u32 %b,%b,13; and.b32 %b,%b,31; mad.lo.u32 %k,%b,20,100;\n"
         "next: ld.global.u32 %v,[%t]; add.u32 %v,%v,1; st.global.u32 [%t],%v; sub.u32 %k,%k,1;\n"
         "setp.gt.u32 %p,%k,0; @%p bra next; ret; }\n"
         ".visible .entry where(.param .u64 to) { .reg .u64 %t,%o; .reg .u32 %i,%x,%b,%v,%k; .reg .pred %p;\n"
         "mov.u32 %x,%tid.x; mov.u32 %b,%ctaid.x; mad.lo.u32 %i,%b,64,%x; ld.param.u64 %t,[to];\n"
         "mul.wide.u32 %o,%i,4; add.u64 %t,%t,%o; and.b32 %k,%b,1; shl.b32 %k,%k,2; bfe.u32 %b,%b,1,2;\n"
         "add.u32 %k,%k,%b; add.u32 %k,%k,1000;\n"
         "next: ld.global.u32 %v,[%t]; add.u32 %v,%v,1; st.global.u32 [%t],%v; sub.u32 %k,%k,1;\n"
         "setp.gt.u32 %p,%k,0; @%p bra next; mov.u32 %v,%smid; st.global.u32 [%t],%v; ret; }\n";

enum { BLOCK = 64, CTAS = 1600, N = BLOCK * CTAS };

struct outcome {
    double cycles, half, threads; /* threads: thread instructions */
    int runs, skipped;            /* runs of the program; launches that were not measured */
    char *json;
    uint32_t memory[N];
};

/* Two SMs, so that two host threads have work. A wave has 8 CTAs. */
static const char *const two_sms[] = {"gpu.sms=2", NULL};

struct machine {
    const char *config, *set[3];
};
static const struct machine tiny = {"tiny", {"gpu.sms=2"}};

struct sequence {
    const char *kernel, *model;
    uint32_t ctas, threads;
    int launches;
    int step; /* CTAs by which each launch is larger than the launch before */
};

static void run_program(struct heddle *h, const struct sequence *p, uint32_t *memory) {
    struct heddle_module *m = heddle_module_text(h, "text", text, sizeof text - 1);
    const uint64_t to = heddle_alloc(h, N * 4);
    const bool spreads = strcmp(p->kernel, "spread") == 0;
    uint32_t by = 1; /* spread: 1 and 32 alternate */
    const struct heddle_arg arg[] = {{&to, sizeof to}, {&by, sizeof by}};
    ck_assert_msg(m && to, "%s", heddle_error(h));
    for (int i = 0; i < p->launches; i++, by = spreads ? 33 - by : 1)
        ck_assert_msg(heddle_launch(h, m, p->kernel, (struct heddle_dim){p->ctas + (uint32_t)(i * p->step), 1, 1},
                                    (struct heddle_dim){BLOCK, 1, 1}, 0, arg, spreads ? 2 : 1) == HEDDLE_OK,
                      "%s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, to, memory, N * 4), HEDDLE_OK);
}

/* Returns the number of "skipped_ctas" or "measured_launches" in the JSON. */
static int number_in(const char *json, const char *key) {
    const char *at = strstr(json, key);
    ck_assert_ptr_nonnull(at);
    return atoi(at + strlen(key) + 2);
}

/* Checks the reason why all launches of the program have no gaps. */
static void check_no_gaps(const char *json, enum no_gaps why) {
    cJSON *o = cJSON_Parse(json);
    const cJSON *sampled = cJSON_GetObjectItem(o, "sampled"), *all = cJSON_GetObjectItem(sampled, "no_gaps");
    ck_assert_int_eq(cJSON_GetArraySize(all), 1);
    ck_assert_str_eq(all->child->string, gaps_reason(why));
    ck_assert(all->child->valuedouble == 1);
    cJSON_ArrayForEach(all, cJSON_GetObjectItem(sampled, "samples"))
        ck_assert_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(all, "no_gaps")), gaps_reason(why));
    cJSON_Delete(o);
}

static struct outcome *sample_on(const struct machine *m, const struct sequence *p, double error) {
    struct outcome *o = calloc(1, sizeof *o);
    struct heddle_plan *plan = heddle_plan_new(error);
    struct heddle_options options = {
        .model = p->model, .config = m->config, .set = m->set, .threads = p->threads, .plan = plan};
    char err[512];
    size_t len;
    ck_assert(o && plan);
    for (bool more = true; more; o->runs++) {
        struct heddle *h = heddle_open(&options, err, sizeof err);
        ck_assert_msg(h != NULL, "%s", err);
        run_program(h, p, o->memory);
        ck_assert_msg(heddle_plan_settle(h, &more) == HEDDLE_OK, "%s", heddle_error(h));
        if (!more) {
            FILE *f = open_memstream(&o->json, &len);
            ck_assert(f && heddle_write_json(h, f, 0, NULL, -1) == HEDDLE_OK);
            fclose(f);
            o->cycles = heddle_stat(h, -1, "gpu.cycles");
            o->half = heddle_plan_interval(h, "gpu.cycles");
        }
        heddle_close(h);
    }
    heddle_plan_free(plan);
    return o;
}

static struct outcome *sample(const struct sequence *p, double error) { return sample_on(&tiny, p, error); }

static struct outcome *simulate_on(const struct machine *m, const struct sequence *p, const char *model) {
    struct outcome *o = calloc(1, sizeof *o);
    const struct heddle_options options = {.model = model, .config = m->config, .set = m->set};
    struct heddle *h = heddle_open(&options, NULL, 0);
    ck_assert(o && h);
    run_program(h, p, o->memory);
    o->cycles = heddle_stat(h, -1, "gpu.cycles");
    o->threads = heddle_stat(h, -1, "gpu.thread_instructions");
    heddle_close(h);
    return o;
}

static struct outcome *simulate(const struct sequence *p, const char *model) { return simulate_on(&tiny, p, model); }

static void drop(struct outcome *o) {
    free(o->json);
    free(o);
}

static void drop_both(struct outcome *a, struct outcome *b) {
    drop(a);
    drop(b);
}

/* A launch of 1,600 CTAs with gaps, twice: each thread runs once in each launch, so memory is as in the functional
 * model. The cycles are near those of the whole simulation. */
START_TEST(memory_is_exact_with_gaps) {
    const struct sequence p = {"step", "dpe", CTAS, 1, 2, 0};
    struct outcome *s = sample(&p, 0), *f = simulate(&p, "functional"), *t = simulate(&p, "dpe");
    ck_assert_int_eq(s->runs, 1);
    ck_assert(number_in(s->json, "\"skipped_ctas\"") > CTAS / 2);
    ck_assert(memcmp(s->memory, f->memory, sizeof s->memory) == 0);
    ck_assert_msg(fabs(s->cycles / t->cycles - 1) < 0.08, "%g instead of %g", s->cycles, t->cycles);
    ck_assert(s->half > 0 && s->half < 0.3 * s->cycles);
    drop(s);
    drop_both(f, t);
}
END_TEST

/* Runs `p` with and without samples. The launch has gaps inside CTAs if `lends`. Memory is as in the functional model,
 * and the cycles are near those of the whole simulation. */
static void check_inside(const struct machine *m, const struct sequence *p, bool lends) {
    struct outcome *s = sample_on(m, p, 0), *f = simulate(p, "functional"), *t = simulate_on(m, p, p->model);
    ck_assert_msg((number_in(s->json, "\"skipped_instructions\"") > 0) == lends, "%s: %s", p->model, s->json);
    ck_assert(memcmp(s->memory, f->memory, sizeof s->memory) == 0);
    ck_assert_msg(fabs(s->cycles / t->cycles - 1) < 0.08, "%s: %g instead of %g", p->model, s->cycles, t->cycles);
    drop(s);
    drop_both(f, t);
}

/* A launch of 8 CTAs is one wave, and has gaps inside CTAs. 20 CTAs are two waves and a half, and have them, too. */
START_TEST(memory_is_exact_with_gaps_inside) {
    static const char *const models[] = {"spe", "dpe", "dws50", "its", "si", "tbc"};
    /* dws50 regroups threads by time, and tbc has a unit that may make warps wait */
    const bool lends = _i / 2 != 2 && _i / 2 != 5;
    struct outcome *s = sample(&(struct sequence){"rounds", models[_i / 2], _i % 2 ? 20 : 8, 1, 1, 0}, 0);
    if (!lends)
        check_no_gaps(s->json, NO_GAPS_UNITS);
    drop(s);
    check_inside(&tiny, &(struct sequence){"rounds", models[_i / 2], _i % 2 ? 20 : 8, 1, 1, 0}, lends);
}
END_TEST

/* 24 CTAs run on 2 SMs, and an SM has room for 4 of them. The CTAs 0, 2, 4 and 6 begin on SM 0, and 1, 3, 5 and 7 on SM
 * 1. The CTAs on SM 0 have fewer rounds and end first, so the CTAs 8 to 11 begin on SM 0, and 12 to 15 on SM 1. If CTAs
 * ended in a gap, many would end in one step, and the CTAs after them would begin on both SMs alternately. */
START_TEST(ctas_of_several_waves_end_in_time) {
    const struct sequence p = {"where", "spe", 24, 1, 1, 0};
    struct outcome *s = sample(&p, 0), *t = simulate(&p, "spe");
    ck_assert(number_in(s->json, "\"skipped_instructions\"") > 0);
    for (int cta = 0; cta < 16; cta++)
        ck_assert_uint_eq(t->memory[cta * BLOCK], cta < 8 ? cta % 2 : cta / 12);
    ck_assert(memcmp(s->memory, t->memory, sizeof s->memory) == 0);
    drop_both(s, t);
}
END_TEST

/* 32 CTAs run at the same time, and CTAs have 32 different lengths. So after the first CTAs, ages are mixed, and gaps
 * consist of whole CTAs. */
START_TEST(memory_is_exact_with_mixed_ages) {
    static const char *const models[] = {"spe", "dpe", "its"};
    const struct machine m = {"tiny", {"gpu.sms=8"}};
    const struct sequence p = {"varied", models[_i], 280, 1, 1, 0};
    struct outcome *s = sample_on(&m, &p, 0);
    ck_assert(number_in(s->json, "\"skipped_ctas\"") > 20);
    drop(s);
    check_inside(&m, &p, true);
}
END_TEST

/* Gaps inside CTAs of modern cores. */
START_TEST(memory_is_exact_with_gaps_inside_modern) {
    static const struct {
        const char *model, *config, *sms; /* a number of SMs with which units become stable */
    } cases[] = {{"spe", "ampere", "gpu.sms=8"},
                 {"dpe", "ampere", "gpu.sms=4"},
                 {"its", "gv100", "gpu.sms=2"},
                 {"multipath", "gv100", "gpu.sms=16"},
                 {"spe", "h100", "gpu.sms=8"}};
    const struct machine m = {cases[_i].config, {cases[_i].sms}};
    check_inside(&m, &(struct sequence){"rounds", cases[_i].model, 8, 1, 1, 0}, true);
}
END_TEST

/* its gives the other half of a warp a turn after 32 rounds. So after many gaps another half is active than before. It
 * issues after the 6 cycles of its.switch_latency, long before the next reply of the memory. */
START_TEST(paths_switch_in_gaps_inside) {
    static const struct machine slow = {"tiny", {"gpu.sms=2", "memory.latency=700"}};
    check_inside(&slow, &(struct sequence){"halves", "its", 1, 1, 1, 0}, true);
}
END_TEST

/* The number of warp instructions of some models depends on time. The weights of launches are then thread
 * instructions. */
START_TEST(weights_do_not_depend_on_time) {
    static const struct {
        const char *model;
        bool threads;
    } cases[] = {{"spe", false},    {"dpe", false},    {"its", false},    {"minpc", false},   {"anypc", true},
                 {"dws50", true},   {"tbc", true},     {"capri", true},   {"large", true},    {"spe+dwf", true},
                 {"spe+swi", true}, {"spe+vws", true}, {"dpe+sbi", true}, {"dpe+mimd", true}, {"multipath", false}};
    const struct sequence p = {"step", cases[_i].model, 8, 1, 9, 0};
    struct outcome *s = sample(&p, 0);
    cJSON *o = cJSON_Parse(s->json);
    const cJSON *sampled = cJSON_GetObjectItem(o, "sampled"), *first = cJSON_GetObjectItem(sampled, "samples")->child;
    const char *weight = cJSON_GetStringValue(cJSON_GetObjectItem(sampled, "weight"));
    const double n = cJSON_GetNumberValue(cJSON_GetObjectItem(first, "weight"));
    ck_assert_str_eq(weight, cases[_i].threads ? "gpu.thread_instructions" : "gpu.warp_instructions");
    /* each of 8 CTAs has 2 warps, which execute the 11 instructions of the kernel */
    ck_assert_msg(n == 8 * 2 * 11 * (cases[_i].threads ? 32 : 1), "%g", n);
    cJSON_Delete(o);
    drop(s);
}
END_TEST

/* The lanes of a warp diverge in each round. Models that join paths or warps by time execute as many thread
 * instructions as the functional model. */
START_TEST(thread_instructions_do_not_depend_on_time) {
    static const char *const models[] = {"spe+dwf", "spe+swi", "spe+vws", "dpe+sbi", "dpe+mimd", "dws50", "tbc"};
    const struct sequence p = {"rounds", models[_i], 8, 1, 1, 0};
    struct outcome *t = simulate(&p, p.model), *f = simulate(&p, "functional");
    ck_assert_msg(t->threads == f->threads && t->threads > 1e6, "%s: %g, not %g", p.model, t->threads, f->threads);
    drop_both(t, f);
}
END_TEST

/* Odd CTAs advance more slowly than even CTAs. Gaps cannot keep such differences exactly, so the launch has none. */
START_TEST(uneven_ctas_have_no_gaps_inside) {
    const struct sequence p = {"uneven", "spe", 8, 1, 1, 0};
    struct outcome *s = sample(&p, 0), *t = simulate(&p, "spe");
    ck_assert_int_eq(number_in(s->json, "\"skipped_instructions\""), 0);
    ck_assert(s->cycles == t->cycles);
    check_no_gaps(s->json, NO_GAPS_UNEVEN);
    drop_both(s, t);
}
END_TEST

/* A fault in a gap has the same message as a fault in time, up to the cycle. */
START_TEST(faults_inside_gaps_have_places) {
    const uint32_t at = 300 + 60 * (uint32_t)_i; /* most of these rounds lie in gaps */
    char *text_of[2];
    for (int sampled = 0; sampled < 2; sampled++) {
        struct heddle_plan *plan = heddle_plan_new(0);
        struct heddle *h = heddle_open(
            &(struct heddle_options){.model = "spe", .config = "tiny", .set = two_sms, .plan = sampled ? plan : NULL},
            NULL, 0);
        struct heddle_module *m = heddle_module_text(h, "text", text, sizeof text - 1);
        const uint64_t to = heddle_alloc(h, N * 4);
        const struct heddle_arg arg[] = {{&to, sizeof to}, {&at, sizeof at}};
        ck_assert(m && to);
        ck_assert(heddle_launch(h, m, "faulty", (struct heddle_dim){8, 1, 1}, (struct heddle_dim){BLOCK, 1, 1}, 0, arg,
                                2) != HEDDLE_OK);
        text_of[sampled] = strdup(heddle_error(h));
        ck_assert_ptr_nonnull(text_of[sampled]);
        heddle_close(h);
        heddle_plan_free(plan);
    }
    ck_assert_str_eq(text_of[0], text_of[1]);
    free(text_of[0]);
    free(text_of[1]);
}
END_TEST

/* Of 60 equal launches, the first two are measured, and one of each of the blocks 2 to 7 and 8 to 31. The launch that
 * is drawn from the block 32 to 127 is one of them: 5 launches. */
START_TEST(equal_launches_are_drawn) {
    const struct sequence p = {"step", "spe", 8, 1, 60, 0};
    struct outcome *s = sample(&p, 0), *f = simulate(&p, "functional"), *t = simulate(&p, "spe");
    ck_assert_int_eq(number_in(s->json, "\"measured_launches\""), 5);
    ck_assert(memcmp(s->memory, f->memory, sizeof s->memory) == 0);
    ck_assert_msg(fabs(s->cycles - t->cycles) <= s->half, "%g +- %g instead of %g", s->cycles, s->half, t->cycles);
    drop(s);
    drop_both(f, t);
}
END_TEST

/* Requires that the sampled run `s` has the memory of the whole run `t`, and an interval with its cycles. Half of the
 * interval must be less than this fraction of the cycles. */
static void is_near(const struct outcome *s, const struct outcome *t, double fraction) {
    ck_assert(memcmp(s->memory, t->memory, sizeof s->memory) == 0);
    ck_assert_msg(fabs(s->cycles - t->cycles) <= s->half && s->half < fraction * t->cycles, "%g +- %g instead of %g",
                  s->cycles, s->half, t->cycles);
}

/* A launch of 8 CTAs of 2 warps has 1,000 rounds of at least 14 instructions: 224,000, which is long for 2 SMs with 2
 * schedulers each. Of 4 launches, the first and one of the others are measured. Of 2 launches, only the first is: the
 * group draws launch 2 or 3. The interval then follows from the expected deviation alone. */
START_TEST(long_launches_need_few_samples) {
    for (int launches = 2; launches <= 4; launches += 2) {
        const struct sequence p = {"rounds", "spe", 8, 1, launches, 0};
        struct outcome *s = sample(&p, 0), *t = simulate(&p, "spe");
        ck_assert_int_eq(s->runs, 1);
        ck_assert_int_eq(number_in(s->json, "\"measured_launches\""), launches / 2);
        is_near(s, t, 0.1);
        drop_both(s, t);
    }
}
END_TEST

/* Launches with growing grids are one group. Of 60 launches, 0 and 1 are measured, and one of each of the blocks 2-3,
 * 4-7, 8-15, 16-31 and 32-63. The launch that is drawn from the last block may be one of 60 to 63, which do not exist:
 * then 6 are measured. */
START_TEST(growing_launches_are_a_group) {
    const struct sequence p = {"step", "spe", 100, 1, 60, 3};
    struct outcome *s = sample(&p, 0), *t = simulate(&p, "spe");
    ck_assert_int_eq(s->runs, 1);
    ck_assert_int_le(number_in(s->json, "\"measured_launches\""), 7);
    is_near(s, t, 0.1);
    drop_both(s, t);
}
END_TEST

/* Launches that touch 1 line and 32 lines for each warp alternate. All launches have a signature, measured or not, so
 * the first two launches already belong to two groups. The last launch of the second group, launch 23, is measured, and
 * launch 22 is not. Launch 23 shows nothing of launch 22: an interval that used it would contain most of the difference
 * of their cycles. */
START_TEST(alternating_launches_are_two_groups) {
    const struct sequence p = {"spread", "spe", 8, 1, 24, 0};
    struct outcome *s = sample(&p, 0), *t = simulate(&p, "spe");
    cJSON *o = cJSON_Parse(s->json);
    ck_assert_ptr_nonnull(o);
    const cJSON *list = cJSON_GetObjectItem(cJSON_GetObjectItem(o, "sampled"), "groups");
    ck_assert_int_eq(cJSON_GetArraySize(list), 2);
    is_near(s, t, 0.06);
    cJSON_Delete(o);
    drop_both(s, t);
}
END_TEST

/* The signature of equal launches is equal, whether they run in time, with gaps, or functionally, under each model and
 * with two host threads (host/sampled/timed_survey.c). */
START_TEST(signatures_do_not_depend_on_timing) {
    static const struct sequence programs[] = {{"step", "spe", CTAS, 2, 4, 0}, {"step", "dpe", 8, 1, 9, 0}};
    static uint32_t memory[N];
    for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
        const struct sequence *p = &programs[k];
        struct heddle_plan *plan = heddle_plan_new(0);
        struct heddle *h = heddle_open(
            &(struct heddle_options){
                .model = p->model, .config = "tiny", .set = two_sms, .threads = p->threads, .plan = plan},
            NULL, 0);
        uint32_t timed = 0;
        bool more;
        ck_assert(plan && h);
        run_program(h, p, memory);
        ck_assert_int_eq(heddle_plan_settle(h, &more), HEDDLE_OK);
        for (uint32_t i = 0; i < plan->n; i++) {
            const struct signature *a = &plan->launch[0].signature, *b = &plan->launch[i].signature;
            timed += plan->launch[i].measured;
            /* each access of a warp touches one line, and the 64 threads of a CTA touch 256 bytes */
            ck_assert(plan->launch[i].observed && b->lanes == 1 && b->lines == 1);
            ck_assert(fabs(b->bytes - 8 * 256) < 1);
            ck_assert(signature_distance(a, b) == 0);
        }
        ck_assert(timed > 1 && timed < plan->n);
        heddle_close(h);
        heddle_plan_free(plan);
    }
}
END_TEST

/* The same with gaps inside CTAs, which enter blocks in their middle, and with gaps between CTAs of mixed ages. */
START_TEST(signatures_do_not_depend_on_gaps) {
    static const struct sequence programs[] = {{"rounds", "spe", 8, 1, 4, 0}, {"varied", "spe", 280, 1, 4, 0}};
    static const char *const sms[] = {"gpu.sms=2", "gpu.sms=8"}, *set[2];
    static uint32_t memory[N];
    struct heddle_plan *plan = heddle_plan_new(0);
    set[0] = sms[_i];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = "tiny", .set = set, .plan = plan}, NULL, 0);
    bool more, all = true;
    ck_assert(plan && h);
    run_program(h, &programs[_i], memory);
    ck_assert_int_eq(heddle_plan_settle(h, &more), HEDDLE_OK);
    ck_assert(plan->launch[0].gaps.instructions > 0);
    for (uint32_t i = 0; i < plan->n; i++) {
        all &= plan->launch[i].measured;
        ck_assert(plan->launch[i].observed);
        ck_assert(signature_distance(&plan->launch[0].signature, &plan->launch[i].signature) == 0);
    }
    ck_assert(!all);
    heddle_close(h);
    heddle_plan_free(plan);
}
END_TEST

/* A launch of 8 CTAs follows a launch of 1,600 CTAs with gaps. It runs in time as a whole, but it begins in a state
 * that the gaps have changed. So its cycles count as inexact, and the interval contains 2 % of them. */
START_TEST(launches_after_gaps_are_inexact) {
    const struct sequence p = {"step", "spe", CTAS, 1, 2, 8 - CTAS};
    static uint32_t memory[N];
    struct heddle_plan *plan = heddle_plan_new(0);
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = "tiny", .set = two_sms, .plan = plan}, NULL, 0);
    bool more;
    ck_assert(plan && h);
    run_program(h, &p, memory);
    ck_assert_int_eq(heddle_plan_settle(h, &more), HEDDLE_OK);
    const struct planned *first = &plan->launch[0], *second = &plan->launch[1];
    const double cycles = stats_kept_get(&second->stats, "gpu.cycles"),
                 before = stats_kept_get(&first->stats, "gpu.cycles") * (1 - first->gaps.after);
    const struct sampling_interval *i = &plan->interval[GAP_CYCLES];
    ck_assert(first->measured && first->gaps.skipped && first->inexact == first->gaps.after);
    ck_assert(second->measured && !second->gaps.skipped && second->inexact == 1 && cycles > 0);
    ck_assert(fabs(i->inexact - (i->value - before)) < 1e-6 * i->value);
    ck_assert(i->half >= 0.02 * (i->value - before));
    heddle_close(h);
    heddle_plan_free(plan);
}
END_TEST

START_TEST(threads_change_nothing) {
    struct outcome *one = sample(&(struct sequence){"step", "dpe", CTAS, 1, 6, 0}, 0),
                   *two = sample(&(struct sequence){"step", "dpe", CTAS, 2, 6, 0}, 0);
    ck_assert(one->cycles == two->cycles && one->half == two->half);
    ck_assert(memcmp(one->memory, two->memory, sizeof one->memory) == 0);
    drop_both(one, two);
}
END_TEST

/* A single short launch leaves nothing to skip: the result is that of the whole simulation, and has no interval. */
START_TEST(short_program_is_simulated) {
    const struct sequence p = {"step", "dpe", 4, 1, 1, 0};
    struct outcome *s = sample(&p, 0.02), *t = simulate(&p, "dpe");
    ck_assert(s->cycles == t->cycles && s->half == 0);
    check_no_gaps(s->json, NO_GAPS_ERROR); /* gaps inside CTAs need at least 3 % */
    ck_assert_int_eq(number_in(s->json, "\"skipped_ctas\""), 0);
    drop_both(s, t);
}
END_TEST

/* The results of the atomic depend on the order of CTAs, so the launch runs in time as a whole. */
START_TEST(ordered_ctas_are_not_split) {
    const struct sequence p = {"order", "spe", CTAS, 1, 1, 0};
    struct outcome *s = sample(&p, 0), *t = simulate(&p, "spe");
    ck_assert(s->cycles == t->cycles && number_in(s->json, "\"skipped_ctas\"") == 0);
    check_no_gaps(s->json, NO_GAPS_ORDER);
    ck_assert(memcmp(s->memory, t->memory, sizeof s->memory) == 0);
    drop_both(s, t);
}
END_TEST

/* Every interval contains 2 % of the cycles after the first CTA without time (host/sampled/sampling.c). More samples
 * cannot meet a wanted error of 0.1 %, so the second run simulates all launches as a whole. */
START_TEST(small_error_simulates_everything) {
    const struct sequence p = {"step", "spe", 8, 1, 30, 0};
    struct outcome *s = sample(&p, 0.001), *t = simulate(&p, "spe");
    ck_assert(s->runs == 2 && s->half == 0 && s->cycles == t->cycles);
    check_no_gaps(s->json, NO_GAPS_ERROR);
    ck_assert_int_eq(number_in(s->json, "\"measured_launches\""), 30);
    drop_both(s, t);
}
END_TEST

/* A plan survives a file; a file that is cut off, or of another kind, is no plan. */
START_TEST(plans_are_files) {
    struct heddle_plan *plan = heddle_plan_new(0.05), *copy;
    struct heddle_options o = {.model = "spe", .config = "tiny", .plan = plan};
    static uint32_t memory[N];
    char *data = NULL;
    size_t len = 0;
    struct heddle *h = heddle_open(&o, NULL, 0);
    bool more;
    run_program(h, &(struct sequence){"step", "spe", 8, 1, 5, 0}, memory);
    ck_assert(heddle_plan_settle(h, &more) == HEDDLE_OK && !more);
    heddle_close(h);
    FILE *f = open_memstream(&data, &len);
    ck_assert(heddle_plan_write(plan, f));
    fclose(f);
    f = fmemopen(data, len, "rb");
    ck_assert_ptr_nonnull(copy = heddle_plan_read(f));
    fclose(f);
    heddle_plan_free(copy);
    for (size_t cut = 0; cut < len; cut += len / 9 + 1) {
        f = cut ? fmemopen(data, cut, "rb") : fopen("/dev/null", "rb");
        ck_assert_ptr_null(heddle_plan_read(f));
        fclose(f);
    }
    data[3] ^= 1;
    f = fmemopen(data, len, "rb");
    ck_assert_ptr_null(heddle_plan_read(f));
    fclose(f);
    free(data);
    heddle_plan_free(plan);
}
END_TEST

START_TEST(settle_needs_a_plan) {
    struct heddle *h = heddle_open(NULL, NULL, 0);
    ck_assert_int_eq(heddle_plan_settle(h, NULL), HEDDLE_USAGE);
    ck_assert(strstr(heddle_error(h), "no plan of samples"));
    ck_assert(isnan(heddle_plan_interval(h, "gpu.cycles")));
    heddle_close(h);
}
END_TEST

SUITE(host_sampled_launch) {
    TEST(memory_is_exact_with_gaps);
    /* Each model runs with one number of CTAs, or with HEDDLE_EVERY with both. With the least of tables, spe's launch
     * has other gaps, here and in two tests below. */
    for (int i = LEAST_TABLES; i < 12; i++)
        if (test_every() || (i / 2 + i) % 2 == 0)
            TEST_LOOP(memory_is_exact_with_gaps_inside, i, i + 1);
    TEST_LOOP(memory_is_exact_with_gaps_inside_modern, 0, 5);
    TEST_LOOP(ctas_of_several_waves_end_in_time, LEAST_TABLES, 1);
    TEST_LOOP(memory_is_exact_with_mixed_ages, 0, 3);
    TEST(paths_switch_in_gaps_inside);
    TEST_LOOP(weights_do_not_depend_on_time, 0, 15);
    TEST_LOOP(thread_instructions_do_not_depend_on_time, 0, 7);
    TEST(uneven_ctas_have_no_gaps_inside);
    TEST_LOOP(faults_inside_gaps_have_places, 0, 10);
    TEST(equal_launches_are_drawn);
    TEST(long_launches_need_few_samples);
    TEST(growing_launches_are_a_group);
    TEST(alternating_launches_are_two_groups);
    TEST(signatures_do_not_depend_on_timing);
    TEST_LOOP(signatures_do_not_depend_on_gaps, LEAST_TABLES, 2);
    TEST(launches_after_gaps_are_inexact);
    TEST(threads_change_nothing);
    TEST(short_program_is_simulated);
    TEST(ordered_ctas_are_not_split);
    TEST(small_error_simulates_everything);
    TEST(plans_are_files);
    TEST(settle_needs_a_plan);
}
