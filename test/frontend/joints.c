/* Tests branch.joint (the number of instructions from a branch's join to the next branch or join), which the model dws
 * compares with a threshold. */
#include "frontend_help.h"
#include "test/test.h"

/* Returns branch.joint of the first guarded branch, whose join must be at label A. */
static uint32_t joint(const struct program *p) {
    for (uint32_t pc = 0; pc < p->n; pc++)
        if (p->code[pc].kind == K_BRANCH && p->code[pc].guard != NO_GUARD) {
            ck_assert_uint_ne(p->code[pc].rpc, PC_EXIT);
            return p->blocks[p->info[p->code[pc].rpc].block].run_end - p->code[pc].rpc;
        }
    ck_abort_msg("no branch");
    return 0;
}

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.func f()\n{\nret;\n}\n.visible .entry k(.param .u64 p)\n{\n"      \
    ".reg .b32 %r<9>; .reg .pred %o; mov.u32 %r1,%laneid; setp.eq.u32 %o,%r1,3;\n@%o bra A;\nadd.u32 %r2,%r2,1;\nA: "
#define ADD "add.u32 %r2,%r2,1;\n"
#define END "ret;\n}\n"
static const struct {
    const char *what, *text;
    uint32_t length;
} codes[] = {
    {"up to the end of the thread, which counts", HEAD ADD ADD END, 3},
    {"a barrier does not end it", HEAD ADD "bar.sync 0;\n" ADD "barrier.sync.aligned 1;\n" ADD END, 6},
    {"a barrier that comes first", HEAD "bar.sync 0;\n" ADD ADD END, 4},
    {"a call is one instruction", HEAD ADD "call f;\n" ADD "call f;\n" END, 5},
    {"a barrier of the warp", HEAD ADD "bar.warp.sync -1;\n" ADD END, 4},
    {"an exit with a guard goes on", HEAD ADD "@%o exit;\n" ADD END, 4},
    {"a branch ends it, and counts", HEAD ADD ADD "@%o bra B;\n" ADD ADD ADD "B: " END, 3},
    {"a jump, too", HEAD ADD "bar.sync 0;\nbra B;\nB: " ADD END, 3},
    {"so does a loop that begins", HEAD ADD ADD "bar.sync 0;\nB: " ADD "@%o bra B;\n" END, 3},
    {"and a join of another branch", HEAD ADD "bar.sync 0;\n@%o bra B;\n" ADD "B: " ADD END, 3},
    {"a join at once", HEAD "bra B;\nB: " ADD END, 1},
};
enum { N_CODES = sizeof codes / sizeof codes[0] };

START_TEST(barriers_and_calls_are_straight_code) {
    struct lowered *l = lower_text(codes[_i].text, "k");
    ck_assert_msg(l->program != NULL, "%s", codes[_i].what);
    ck_assert_msg(joint(l->program) == codes[_i].length, "%s: %u, not %u", codes[_i].what, joint(l->program),
                  codes[_i].length);
    lowered_free(l);
}
END_TEST

/* Expected numbers for benchmarks, counted in the listings of 'heddle inspect --pass emit'. In stencil, a bar and 16
 * more instructions follow the join; in backprop, a bar and 22 more; in dxtc, 248 instructions including barriers. */
static const struct {
    const char *path;
    uint32_t block, length;
} programs[] = {{"kernels/stencil.ptx", 1, 17}, {"kernels/backprop.ptx", 1, 23}, {"kernels/dxtc.ptx", 0, 248}};

START_TEST(joins_of_benchmarks) {
    char *text = read_whole(programs[_i].path);
    ck_assert(text != NULL);
    struct lowered *l = lower_text(text, NULL);
    const struct program *p = l->program;
    bool found = false;
    char all[4096] = "";
    ck_assert(p != NULL);
    for (uint32_t pc = 0; pc < p->n; pc++) {
        if (p->code[pc].kind != K_BRANCH || p->code[pc].guard == NO_GUARD || p->code[pc].rpc == PC_EXIT)
            continue;
        const struct block *b = &p->blocks[p->info[p->code[pc].rpc].block];
        uint32_t block = b->end - b->begin, length = b->run_end - b->begin;
        found |=
            length == programs[_i].length && block < length && (!programs[_i].block || block == programs[_i].block);
        snprintf(all + strlen(all), sizeof all - strlen(all), " %u:%u/%u", p->info[pc].line, block, length);
    }
    ck_assert_msg(found, "%s: %s", programs[_i].path, all);
    lowered_free(l);
    free(text);
}
END_TEST

SUITE(frontend_joints) {
    TEST_LOOP(barriers_and_calls_are_straight_code, 0, N_CODES);
    TEST_LOOP(joins_of_benchmarks, 0, 3);
}
