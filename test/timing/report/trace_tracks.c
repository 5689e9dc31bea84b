/* Tests that a viewer can show traces of every model: bars of one track never overlap, and no bar is missing. */
#include "host/heddle.h"
#include "isa/types.h"
#include "test/every_model.h"
#include "test/test.h"
#include "timing/report/trace.h"
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 7.8\n.target sm_75\n.address_size 64\n"

/* A kernel with several loads in flight, results that return out of order, and a store without active lanes. */
static const char loads[] =
    HEAD ".visible .entry k(.param .u64 p) {\n.reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .f32 %f<4>; .reg .pred %p<3>;\n"
         "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 256; add.s64 %rd1, %rd1, %rd2;\n"
         "ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd1+64]; ld.global.u32 %r4, [%rd1+128];\n"
         "ld.global.u32 %r5, [%rd1+192]; ld.global.v2.u32 {%r6,%r7}, [%rd1+32];\n"
         "cvt.rn.f32.u32 %f1, %r1; rcp.approx.f32 %f2, %f1; sin.approx.f32 %f3, %f1; add.u32 %r8, %r1, 1;\n"
         "add.u32 %r9, %r1, 2; xor.b32 %r10, %r8, %r9; add.u32 %r11, %r2, %r3; add.u32 %r11, %r11, %r4;\n"
         "st.global.u32 [%rd1], %r11; setp.eq.u32 %p1, %r1, 9999; @%p1 st.global.u32 [%rd1+4], %r5;\n"
         "@%p1 ld.global.u32 %r12, [%rd1]; @%p1 red.global.add.u32 [%rd1], 1; st.global.f32 [%rd1+8], %f2; ret;\n}\n";

/* A kernel with divergent paths, a loop that lanes leave at different times, shared memory, barriers, and atomics. */
static const char paths[] =
    HEAD ".visible .entry k(.param .u64 p) {\n.reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .pred %p<4>;\n"
         ".shared .align 4 .b8 s[512];\n"
         "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 7; mov.u32 %r3, 0; mov.u32 %r7, s;\n"
         "shl.b32 %r8, %r1, 2; add.u32 %r7, %r7, %r8;\n"
         "L: add.u32 %r3, %r3, %r2; mul.wide.u32 %rd2, %r3, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r4, [%rd3];\n"
         "add.u32 %r3, %r3, %r4; setp.eq.u32 %p1, %r2, 0; @%p1 bra D; sub.u32 %r2, %r2, 1; bra L;\n"
         "D: st.shared.u32 [%r7], %r3; bar.sync 0; and.b32 %r5, %r1, 1; setp.eq.u32 %p2, %r5, 0; @%p2 bra E;\n"
         "atom.global.add.u32 %r6, [%rd1], 0; ld.shared.u32 %r9, [%r7]; add.u32 %r3, %r9, %r6; bra J;\n"
         "E: div.u32 %r3, %r3, 3; red.global.add.u32 [%rd1+4], 0;\n"
         "J: bar.warp.sync -1; vote.sync.ballot.b32 %r10, %p2, -1; shfl.sync.bfly.b32 %r11, %r3, 1, 31, -1;\n"
         "membar.gl; bar.sync 0; setp.lt.u32 %p3, %r1, 20; @%p3 ret; add.u32 %r3, %r3, %r10; ret;\n}\n";

static const char *const texts[] = {loads, paths};
static const char *const machines[] = {"fermi", "turing"};

struct bar {
    uint32_t sm, track;
    double from, to;
};

static int by_track(const void *a, const void *b) {
    const struct bar *x = a, *y = b;
    if (x->sm != y->sm)
        return x->sm < y->sm ? -1 : 1;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Checks that the bars of a track do not overlap. Returns the number of instruction bars. */
static int check(const cJSON *all, const char *what, int *unfinished) {
    struct bar *bars = calloc((size_t)cJSON_GetArraySize(all) + 1, sizeof *bars);
    int n = 0, instructions = 0;
    const cJSON *e;
    *unfinished = 0;
    cJSON_ArrayForEach(e, all) {
        const char *ph = cJSON_GetStringValue(cJSON_GetObjectItem(e, "ph"));
        const char *cat = cJSON_GetStringValue(cJSON_GetObjectItem(e, "cat"));
        if (strcmp(ph, "X") != 0)
            continue;
        double from = cJSON_GetObjectItem(e, "ts")->valuedouble;
        bars[n++] = (struct bar){(uint32_t)cJSON_GetObjectItem(e, "pid")->valuedouble,
                                 (uint32_t)cJSON_GetObjectItem(e, "tid")->valuedouble, from,
                                 from + cJSON_GetObjectItem(e, "dur")->valuedouble};
        instructions += strcmp(cat, "instruction") == 0;
        *unfinished += cJSON_IsTrue(cJSON_GetObjectItem(cJSON_GetObjectItem(e, "args"), "unfinished"));
    }
    qsort(bars, (size_t)n, sizeof *bars, by_track);
    for (int i = 1; i < n; i++)
        ck_assert_msg(bars[i].sm != bars[i - 1].sm || bars[i].track != bars[i - 1].track ||
                          bars[i].from >= bars[i - 1].to,
                      "%s: track %u of SM %u: %g to %g, and %g to %g", what, bars[i].track, bars[i].sm,
                      bars[i - 1].from, bars[i - 1].to, bars[i].from, bars[i].to);
    free(bars);
    return instructions;
}

/* Launches twice with a buffer of `bytes` bytes. Returns the trace, and in *issued the number of issued
 * instructions. */
static cJSON *traced(const char *model, const char *machine, const char *text, uint64_t bytes, double *issued,
                     enum heddle_status want) {
    char *json = NULL, err[512];
    size_t size;
    FILE *out = open_memstream(&json, &size);
    static const char *const set[] = {"gpu.sms=2", NULL};
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = model, .config = machine, .set = set, .trace = out}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, bytes);
    heddle_clear(h, p, bytes);
    *issued = 0;
    for (int i = 0; i < 2; i++) {
        enum heddle_status got = heddle_launch(h, m, "k", (struct heddle_dim){5, 1, 1}, (struct heddle_dim){96, 1, 1},
                                               0, &(struct heddle_arg){&p, 8}, 1);
        ck_assert_msg(got == want, "%s: %d %s", model, got, heddle_error(h));
        *issued += heddle_stat(h, i, "gpu.warp_instructions") + heddle_stat(h, i, "gpu.barrier_instructions");
        *issued += heddle_stat(h, i, "joint.saved_slots"); /* each path has its own bar */
    }
    ck_assert_uint_eq(heddle_trace_lost(h), 0);
    heddle_close(h);
    fclose(out);
    cJSON *all = cJSON_Parse(json);
    ck_assert_msg(cJSON_IsArray(all), "%s: %.300s", model, json);
    free(json);
    return all;
}

START_TEST(bars_do_not_overlap_and_none_is_missing) {
    const struct every_model *models = timed_models();
    if (_i >= models->n)
        return;
    for (int k = 0; k < 4; k++) {
        double issued;
        int unfinished;
        char what[64];
        snprintf(what, sizeof what, "%s, kernel %d, %s", models->name[_i], k / 2, machines[k % 2]);
        cJSON *all = traced(models->name[_i], machines[k % 2], texts[k / 2], 1 << 16, &issued, HEDDLE_OK);
        int n = check(all, what, &unfinished);
        ck_assert_msg(n == (int)issued, "%s: %d bars, %g issued", what, n, issued);
        ck_assert_msg(unfinished == 0, "%s: %d of %d are unfinished", what, unfinished, n);
        cJSON_Delete(all);
    }
}
END_TEST

/* The names of instruction bars are the PTX statements. */
START_TEST(names_are_those_of_the_ptx) {
    static const char *const names[] = {"mul.wide.u32 %rd2, %r1, 256", "ld.global.v2.u32 {%r6,%r7}, [%rd1+32]",
                                        "@%p1 st.global.u32 [%rd1+4], %r5", "rcp.approx.f32 %f2, %f1"};
    double issued;
    cJSON *all = traced("spe", "fermi", loads, 1 << 16, &issued, HEDDLE_OK);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int n = 0;
        const cJSON *e;
        cJSON_ArrayForEach(e, all) {
            const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(e, "name"));
            n += name && strcmp(name, names[i]) == 0;
        }
        ck_assert_msg(n == 30, "%s: %d", names[i], n); /* two launches of 5 CTAs of 3 warps */
    }
    cJSON_Delete(all);
}
END_TEST

/* A launch that faults leaves a complete trace, with instructions in flight and the end of the file. */
START_TEST(a_fault_is_in_the_trace) {
    static const char *const models[] = {"spe", "dpe", "dws50", "its", "si", "dac"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        double issued;
        int unfinished, ends = 0;
        cJSON *all = traced(models[i], "fermi", loads, 4096, &issued, HEDDLE_FAULT); /* thread 16 is out of bounds */
        ck_assert_int_gt(check(all, models[i], &unfinished), 0);
        ck_assert_int_gt(unfinished, 0);
        const cJSON *e;
        cJSON_ArrayForEach(e, all) {
            const char *cat = cJSON_GetStringValue(cJSON_GetObjectItem(e, "cat"));
            if (!cat || strcmp(cat, "end") != 0)
                continue;
            ends++;
            ck_assert_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(e, "name")), "fault");
            const cJSON *text = cJSON_GetObjectItem(cJSON_GetObjectItem(e, "args"), "message");
            ck_assert_str_eq(cJSON_GetStringValue(text), "kernel 'k', line 7"); /* the first load */
        }
        ck_assert_int_eq(ends, 2);
        cJSON_Delete(all);
    }
}
END_TEST

SUITE(timing_trace_tracks) {
    TEST_LOOP(bars_do_not_overlap_and_none_is_missing, 0, MAX_MODELS);
    TEST(names_are_those_of_the_ptx);
    TEST(a_fault_is_in_the_trace);
}
