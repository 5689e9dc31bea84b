/* Tests which targets and PTX versions have an instruction. test/data/targets.txt has the expected needs. */
#include "frontend/lower/target.h"
#include "test/frontend/frontend_help.h"
#include "test/test.h"
#include <stdio.h>

static const char *const targets[] = {
    "10",  "13",   "20",   "30",  "32",   "35",   "50",  "52",   "53",   "60",  "61",   "62",
    "70",  "72",   "75",   "80",  "86",   "87",   "89",  "90",   "90a",  "100", "100a", "100f",
    "103", "103a", "103f", "110", "110a", "110f", "120", "120a", "120f", "121", "121a", "121f",
};
enum { N_TARGETS = sizeof targets / sizeof targets[0], OLDEST = 10, NEWEST = 90 };

/* Returns true if the needs in the file include this target. */
static bool expected(const char *needs, const char *target) {
    char list[160], *save = NULL;
    if (needs[0] == '-')
        return true;
    if (!strpbrk(needs, "af"))
        return atoi(target) >= atoi(needs);
    snprintf(list, sizeof list, "%s", needs);
    for (char *t = strtok_r(list, ",", &save); t; t = strtok_r(NULL, ",", &save))
        if (strcmp(t, target) == 0)
            return true;
    return false;
}

static bool exists(const char *opcode, const char *target, unsigned version) {
    struct target_unmet unmet;
    struct target_need need;
    char text[16];
    snprintf(text, sizeof text, "sm_%s", target);
    target_find_unmet(&unmet, text, version);
    return target_has(&unmet, opcode, &need);
}

/* Each line of test/data/targets.txt has an opcode, its targets and its least PTX version. The opcode must exist on
 * exactly these targets with the newest PTX version. On the newest of its targets, it must exist from its least version
 * on. */
START_TEST(forms) {
    char line[256], needs[160], version[8], opcode[128];
    static struct target_unmet newest[N_TARGETS];
    struct target_need need;
    int n = 0;
    FILE *f = fopen("test/data/targets.txt", "r");
    ck_assert_ptr_nonnull(f);
    for (int t = 0; t < N_TARGETS; t++) {
        snprintf(line, sizeof line, "sm_%s", targets[t]);
        target_find_unmet(&newest[t], line, NEWEST);
    }
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#')
            continue;
        ck_assert_msg(sscanf(line, "%159s %7s %127s", needs, version, opcode) == 3, "%s", line);
        const char *owner = NULL;
        for (int t = 0; t < N_TARGETS; t++) {
            const bool want = expected(needs, targets[t]);
            EXPECT(target_has(&newest[t], opcode, &need) == want, "%s on sm_%s", opcode, targets[t]);
            owner = want ? targets[t] : owner;
        }
        const unsigned least = version[0] == '-' ? 0 : (unsigned)(10 * atof(version) + 0.5);
        EXPECT(exists(opcode, owner, least ? least : OLDEST), "%s in %s", opcode, version);
        EXPECT(!least || !exists(opcode, owner, least - 1), "%s before %s", opcode, version);
        n++;
    }
    fclose(f);
    ck_assert_int_gt(n, 1000);
}
END_TEST

/* shfl and vote without .sync exist on sm_70 and later only before PTX 6.4. */
START_TEST(lost) {
    ck_assert(exists("shfl.down.b32", "62", NEWEST));
    ck_assert(exists("shfl.down.b32", "70", 63));
    ck_assert(!exists("shfl.down.b32", "70", 64));
    ck_assert(!exists("vote.any.pred", "90", NEWEST));
    ck_assert(exists("vote.any.pred", "90", 63));
    ck_assert(exists("mad.f32", "13", 14)); /* only sm_1x has mad.f32 without a rounding mode */
    ck_assert(!exists("vote.ballot.b32", "13", 30));
    ck_assert(exists("vote.ballot.b32", "20", 30));
}
END_TEST

/* ptxas of CUDA 13.0 accepts e4m3x2 and e5m2x2 for sm_90 from PTX 7.8 on, but for sm_89 only from PTX 8.1 on. */
START_TEST(later) {
    ck_assert(exists("cvt.rn.satfinite.e4m3x2.f32", "90", 78));
    ck_assert(!exists("cvt.rn.satfinite.e4m3x2.f32", "90", 77));
    ck_assert(!exists("cvt.rn.satfinite.e4m3x2.f32", "89", 80));
    ck_assert(exists("cvt.rn.f16x2.e5m2x2", "89", 81));
    ck_assert(!exists("cvt.rn.f16x2.e5m2x2", "87", 81));
}
END_TEST

/* Targets that targets.def does not name: a newer target has every opcode, and sm_101a is an older name of sm_110a. */
START_TEST(names) {
    struct target_unmet unmet;
    ck_assert(exists("tcgen05.wait::ld.sync.aligned", "130a", NEWEST));
    ck_assert(exists("tcgen05.wait::ld.sync.aligned", "101a", NEWEST));
    ck_assert(!exists("tcgen05.wait::ld.sync.aligned", "101", NEWEST));
    target_find_unmet(&unmet, NULL, OLDEST);
    ck_assert_int_eq(unmet.n, 0);
    target_find_unmet(&unmet, "debug", OLDEST);
    ck_assert_int_eq(unmet.n, 0);
}
END_TEST

/* Opcodes, and the text that target_explain() writes about them. */
static const struct {
    unsigned version;
    const char *target, *opcode, *text;
} helps[] = {
    {90, "75", "redux.sync.add.s32", "needs .target sm_80 or later, and .version 7.0 or later"},
    {90, "90a", "tcgen05.mma.cta_group::1.kind::i8", "needs .target sm_100a, sm_110a, and .version 8.6 or later"},
    {64, "80", "shfl.down.b32", "does not exist on .target sm_70 and later from PTX 6.4 on"},
    {40, "30", "suq.memory_layout.b32", "needs .version 4.2 or later"},
};
START_TEST(explanations) {
    struct target_unmet unmet;
    struct target_need need;
    char text[192];
    snprintf(text, sizeof text, "sm_%s", helps[_i].target);
    target_find_unmet(&unmet, text, helps[_i].version);
    ck_assert(!target_has(&unmet, helps[_i].opcode, &need));
    target_explain(&need, text, sizeof text);
    ck_assert_str_eq(text, helps[_i].text);
    target_explain(&need, text, 12); /* a text without room is cut */
    ck_assert_uint_lt(strlen(text), 12);
}
END_TEST

/* Modules, and a part of their error message; NULL: the module has no error. */
static const struct {
    const char *version, *target, *statement, *message;
} modules[] = {
    {"9.0", "sm_75", "redux.sync.add.s32 %r1, %r2, -1",
     "4:1: 'redux.sync.add.s32' does not exist on .target sm_75 with .version 9.0"},
    {"9.0", "sm_90", "setmaxnreg.inc.sync.aligned.u32 64", "'setmaxnreg.inc.sync.aligned.u32' does not exist"},
    {"6.4", "sm_80, debug", "shfl.down.b32 %r1, %r2, 1, 31", "'shfl.down.b32' does not exist"},
    {"9.0", "sm_80", "mov.u32 %r1, %clusterid.x", "4:14: '%clusterid.x' does not exist on .target sm_80"},
    {"7.8", "sm_90", "add.u32 %r1, %aggr_smem_size, 1", "4:14: '%aggr_smem_size' does not exist"},
    {"7.8", "sm_80", "mov.v4.u32 %v, %cluster_ctaid", "'%cluster_ctaid.x' does not exist"},
    {"7.8", "sm_90", "mov.v4.u32 %v, %cluster_ctaid", NULL},
    {"3.0", "sm_30, texmode_independent", "shfl.down.b32 %r1, %r2, 1, 31", NULL},
    {"2.0", "sm_12, map_f64_to_f32", "add.f64 %d1, %d1, %d2", NULL},
    {"9.0", "texmode_unified, sm_100a, debug", "add.rn.f32x2 %d1, %d2, %d3", NULL},
};
START_TEST(messages) {
    char text[1024], errors[1024];
    snprintf(
        text, sizeof text,
        ".version %s\n.target %s\n.entry k() { .reg .b32 %%r<5>; .reg .b64 %%d<5>; .reg .v4 .u32 %%v;\n%s;\nret;\n}\n",
        modules[_i].version, modules[_i].target, modules[_i].statement);
    struct lowered *low = lower_text(text, "k");
    lowered_errors(low, errors, sizeof errors);
    const bool right = modules[_i].message ? !low->program && strstr(errors, modules[_i].message) : !!low->program;
    ck_assert_msg(right, "%s", errors);
    lowered_free(low);
}
END_TEST

SUITE(frontend_lower_target) {
    TEST(forms);
    TEST(lost);
    TEST(later);
    TEST(names);
    TEST_LOOP(explanations, 0, sizeof helps / sizeof helps[0]);
    TEST_LOOP(messages, 0, sizeof modules / sizeof modules[0]);
}
