/* Tests which instructions lead only to an exit, and how branches change because of them. Each body is lowered. For
 * every PC, a string has an 'x' if a thread at this PC can only exit, and a '.' otherwise. */
#include "test/frontend/frontend_help.h"
#include "test/test.h"
#include <string.h>

#define TWO_CALLS(behind)                                                                                              \
    ".version 7.0 .target sm_70 .address_size 64\n.func f(.param .u32 a) { .reg .b32 %r<3>; .reg .pred %p;\n"          \
    " ld.param.u32 %r1,[a]; setp.eq.u32 %p,%r1,1; @%p bra END; st.global.u32 [0],%r1; END: ret; }\n"                   \
    ".entry k() { .reg .b32 %r<3>; .reg .pred %p; mov.u32 %r1,%tid.x; setp.eq.u32 %p,%r1,9; @%p bra B;\n"              \
    " { .param .u32 a; st.param.u32 [a],%r1; call f,(a); } ret;\n"                                                     \
    "B: { .param .u32 a; st.param.u32 [a],%r1; call f,(a); }" behind " ret; }\n"

static const struct {
    const char *name, *body, *want;
} bodies[] = {
    {"a bare ret", "@%p1 bra E; mov.u32 %r1,1; E: ret;", "..x"},
    {"a bare exit", "@%p1 bra E; mov.u32 %r1,1; E: exit;", "..x"},
    {"a jump to one", "@%p1 bra E; mov.u32 %r1,1; ret; E: bra.uni F; F: ret;", "..xxx"},
    {"a chain, backwards", "bra A; E: ret; D: bra E; C: bra D; A: @%p1 bra C; mov.u32 %r1,1; ret;", ".xxx..x"},
    {"both sides", "mov.u32 %r1,1; @%p1 bra E; ret; E: exit;", ".xxx"},
    {"a guarded exit before another", "mov.u32 %r1,1; @%p1 exit; @!%p1 exit; ret;", ".xxx"},
    {"something behind a guarded exit", "@%p1 exit; mov.u32 %r1,1; ret;", "..x"},
    {"a loop that never ends", "@%p1 bra L; ret; L: bra L;", ".x."},
    {"a store on the way", "@%p1 bra E; mov.u32 %r1,1; E: st.global.u32 [0],%r1; ret;", "...x"},
    {"a fence on the way", "@%p1 bra E; mov.u32 %r1,1; E: membar.gl; ret;", "...x"},
    {"a trap", "@%p1 bra E; ret; E: trap;", ".x."},
};
enum { N_BODIES = sizeof bodies / sizeof bodies[0] };

static void shape(const struct program *p, char *out) {
    for (uint32_t pc = 0; pc < p->n; pc++)
        *out++ = p->info[pc].only_exits ? 'x' : '.';
    *out = 0;
}

START_TEST(only_exits) {
    char got[64];
    struct lowered *l = lower_body(bodies[_i].body);
    shape(l->program, got);
    ck_assert_msg(strcmp(got, bodies[_i].want) == 0, "%s: %s, not %s", bodies[_i].name, got, bodies[_i].want);
    for (uint32_t pc = 0; pc < l->program->n; pc++) {
        const struct inst *in = &l->program->code[pc];
        bool may = in->kind == K_BRANCH && (l->program->info[in->target].only_exits ||
                                            (in->guard != NO_GUARD && l->program->info[pc + 1].only_exits));
        ck_assert_msg(may == !!(in->ends_block & BLOCK_MAY_EXIT), "%s: pc %u", bodies[_i].name, pc);
    }
    lowered_free(l);
}
END_TEST

/* The ret of a function is 'x' if an exit follows every call of the function. A store after one of the calls makes
 * the ret '.'. */
START_TEST(functions) {
    static const char *const texts[] = {TWO_CALLS(""), TWO_CALLS(" st.global.u32 [4],%r1;")};
    for (int i = 0; i < 2; i++) {
        struct lowered *l = lower_text(texts[i], "k");
        const struct program_function *f = &l->program->functions[1];
        ck_assert_uint_eq(l->program->code[f->end - 1].kind, K_RET);
        ck_assert_int_eq(l->program->info[f->end - 1].only_exits, i == 0);
        lowered_free(l);
    }
}
END_TEST

/* A chain of 20,000 jumps, each to the jump before it. An analysis of quadratic time would take minutes. */
START_TEST(a_long_chain) {
    enum { N = 20000 };
    char *text = malloc(64 * N), *at = text;
    ck_assert_ptr_nonnull(text);
    at += sprintf(at, ".version 7.0 .target sm_70 .address_size 64\n.entry k() { bra L%d;\nL0: ret;\n", N - 1);
    for (int i = 1; i < N; i++)
        at += sprintf(at, "L%d: bra L%d;\n", i, i - 1);
    strcpy(at, "}\n");
    struct lowered *l = lower_text(text, "k");
    for (uint32_t pc = 0; pc < l->program->n; pc++)
        ck_assert(l->program->info[pc].only_exits);
    lowered_free(l);
    free(text);
}
END_TEST

SUITE(frontend_exits) {
    TEST_LOOP(only_exits, 0, N_BODIES);
    TEST(functions);
    TEST(a_long_chain);
}
