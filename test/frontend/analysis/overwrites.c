/* Tests which stores to shared memory the pass `overwrites` marks. Each body is lowered. For every PC, a string has an
 * 'o' if the store there has HINT_OVERWRITES, and a '.' otherwise. */
#include "test/frontend/frontend_help.h"
#include "test/test.h"
#include <string.h>

#define FOUR "add.u32 %r1,%r1,%r2; add.u32 %r1,%r1,%r3; add.u32 %r1,%r1,%r2; add.u32 %r1,%r1,%r3;"
#define LOAD "ld.shared.u32 %r2,[0];"
#define PUT  "st.shared.u32 [4],%r1;"

/* A store counts from the first load on: the 9th instruction after it is the first that is marked. */
static const struct {
    const char *name, *body, *want;
} bodies[] = {
    {"the 9th instruction after a load", LOAD FOUR FOUR PUT "ret;", ".........o."},
    {"the 8th", LOAD FOUR "add.u32 %r1,%r1,%r2; add.u32 %r1,%r1,%r3; add.u32 %r1,%r1,%r2;" PUT "ret;", ".........."},
    {"a sum of two words", LOAD "ld.shared.u32 %r3,[8]; add.u32 %r1,%r2,%r3;" PUT "ret;", "....."},
    {"a barrier between them", LOAD FOUR FOUR "bar.sync 0;" PUT "ret;", "............"},
    {"a load after the store", PUT FOUR FOUR LOAD "ret;", "..........."},
    {"a store to global memory", LOAD FOUR FOUR "st.global.u32 [4],%r1; ret;", "..........."},
    {"a load on one side only", "@%p1 bra E;" LOAD "E:" FOUR FOUR PUT "ret;", "..........o."},
    {"a barrier on one side only", LOAD "@%p1 bra E; bar.sync 0; E:" FOUR FOUR PUT "ret;", "...........o."},
    {"a loop whose barrier is before the store", "L: bar.sync 0;" PUT FOUR FOUR LOAD "@%p1 bra L; ret;",
     "............."},
    {"a loop whose barrier is after the store", "L:" PUT "bar.sync 0;" LOAD FOUR FOUR "@%p1 bra L; ret;",
     "o............"},
};
enum { N_BODIES = sizeof bodies / sizeof bodies[0] };

START_TEST(stores_after_loads) {
    char got[64] = "";
    struct lowered *l = lower_body(bodies[_i].body);
    for (uint32_t pc = 0; pc < l->program->n; pc++) {
        const struct inst *in = &l->program->code[pc];
        got[pc] = in->kind == K_STORE && in->hints & HINT_OVERWRITES ? 'o' : '.';
        got[pc + 1] = 0;
    }
    ck_assert_msg(strcmp(got, bodies[_i].want) == 0, "%s: %s, not %s", bodies[_i].name, got, bodies[_i].want);
    lowered_free(l);
}
END_TEST

/* A cache policy uses the same bit before lowering. */
START_TEST(a_cache_policy_is_no_mark) {
    struct lowered *l =
        lower_text(".version 7.4 .target sm_80 .address_size 64\n.entry k() { .reg .b64 %p; .reg .b32 %r;"
                   " mov.u64 %p,0; mov.u32 %r,1;\n"
                   "st.global.L2::cache_hint.u32 [0],%r,%p; ret; }\n",
                   "k");
    for (uint32_t pc = 0; pc < l->program->n; pc++)
        ck_assert(l->program->code[pc].kind != K_STORE || !(l->program->code[pc].hints & HINT_OVERWRITES));
    lowered_free(l);
}
END_TEST

SUITE(frontend_overwrites) {
    TEST_LOOP(stores_after_loads, 0, N_BODIES);
    TEST(a_cache_policy_is_no_mark);
}
