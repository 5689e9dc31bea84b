/* Tests lowered programs: instructions, operands, parameters and source lines. */
#include "frontend/passes/pass.h"
#include "isa/machine/call.h"
#include "test/frontend/frontend_help.h"
#include "test/test.h"
#include <dirent.h>

static uint32_t constant32(const struct program *p, opnd_t o, int lane) {
    uint32_t v;
    ck_assert_uint_eq(o & 1, 1);
    memcpy(&v, p->constants + (o >> 1) + 4 * lane, 4);
    return v;
}

START_TEST(immediates_are_constants_in_all_lanes) {
    struct lowered *l = lower_body("add.u32 %r1, %r2, 77; add.u32 %r3, %r1, 77; add.u32 %r4, %r3, 0; ret;");
    const struct program *p = l->program;
    ck_assert_ptr_nonnull(p);
    for (int lane = 0; lane < 32; lane++)
        ck_assert_uint_eq(constant32(p, p->code[0].b, lane), 77);
    ck_assert_uint_eq(p->code[0].b, p->code[1].b); /* the constant pool contains each constant only once */
    ck_assert_uint_eq((p->code[0].b >> 1) % 64, 0);
    ck_assert_uint_eq(p->code[2].b, OPND_ZERO);
    lowered_free(l);
}
END_TEST

/* -1 as 16 bits and as 32 bits are different constants. */
START_TEST(constants_have_the_size_of_their_type) {
    struct lowered *l = lower_body("mov.u16 %h1, -1; mov.u32 %r1, -1; mov.pred %p1, 1; ret;");
    const struct program *p = l->program;
    uint16_t half;
    ck_assert_ptr_nonnull(p);
    memcpy(&half, p->constants + (p->code[0].a >> 1) + 62, 2); /* lane 31 */
    ck_assert_uint_eq(half, 0xffff);
    ck_assert_uint_ne(p->code[0].a, p->code[1].a);
    ck_assert_uint_eq(constant32(p, p->code[2].a, 0), LANES_ALL);
    lowered_free(l);
}
END_TEST

/* 0.1 in double precision, rounded to single precision, is 0x3dcccccd. A 0f literal gives bits that are not
 * converted: for f64, the upper half is zero, as with ptxas. */
START_TEST(floating_point_constants) {
    struct lowered *l = lower_body("mov.f32 %f1, 0.1; mov.f32 %f2, 0f3F800000; mov.f64 %g1, 0f3F800000; ret;");
    const struct program *p = l->program;
    uint64_t bits;
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq(constant32(p, p->code[0].a, 5), 0x3dcccccd);
    ck_assert_uint_eq(constant32(p, p->code[1].a, 5), 0x3f800000);
    memcpy(&bits, p->constants + (p->code[2].a >> 1), 8);
    ck_assert_uint_eq(bits, 0x3f800000);
    lowered_free(l);
}
END_TEST

START_TEST(parameters_lie_by_their_alignment) {
    struct lowered *l =
        lower_text(".version 7.0 .target sm_70 .address_size 64\n.entry k(.param .u8 a, .param .u64 b,\n"
                   ".param .align 4 .b8 c[6], .param .u32 d, .param .u64 .ptr .global .align 16 e) { ret; }",
                   NULL);
    const struct program *p = l->program;
    /* byte offsets: a is at 0, b at 8, c at 16 (with 6 bytes), d at 24, and e at 32 */
    static const uint32_t offsets[] = {0, 8, 16, 24, 32}, bytes[] = {1, 8, 6, 4, 8};
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq(p->n_params, 5);
    for (int i = 0; i < 5; i++) {
        ck_assert_uint_eq(p->params[i].offset, offsets[i]);
        ck_assert_uint_eq(p->params[i].bytes, bytes[i]);
    }
    ck_assert_uint_eq(p->param_bytes, 40);
    ck_assert_str_eq(p->params[2].name, "c");
    ck_assert_int_eq(p->params[2].type, T_B8);
    ck_assert(p->params[4].is_pointer && !p->params[1].is_pointer);
    lowered_free(l);
}
END_TEST

START_TEST(places_in_the_text) {
    struct lowered *l =
        lower_text(".version 7.0\n.target sm_70\n.address_size 64\n.file 3 \"a.cu\"\n.entry k()\n{\n"
                   "    .reg .b32 %r<3>;\n    .loc 3 42 7\n    mov.u32 %r1, 1;\n  @!%q mov.u32 %r1, 2;\n"
                   "    .reg .pred %q;\n    .loc 3 43 1\n    ret;\n}\n",
                   NULL);
    ck_assert_ptr_null(l->program); /* %q is used before its declaration */
    lowered_free(l);
    l = lower_text(".version 7.0\n.target sm_70\n.address_size 64\n.file 3 \"a.cu\"\n.entry k()\n{\n"
                   "    .reg .b32 %r<3>; .reg .pred %q;\n    .loc 3 42 7\n    mov.u32 %r1, 1;\n  @!%q mov.u32 %r1, 2;\n"
                   "    .loc 3 43 1\n    ret;\n}\n",
                   NULL);
    const struct program *p = l->program;
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq(p->info[0].line, 9);
    ck_assert_uint_eq(p->info[0].column, 5);
    ck_assert_uint_eq(p->info[1].line, 10);
    ck_assert_uint_eq(p->info[1].column, 3);
    ck_assert_uint_eq(p->info[0].src_file, 3);
    ck_assert_uint_eq(p->info[1].src_line, 42);
    ck_assert_uint_eq(p->info[2].src_line, 43);
    lowered_free(l);
}
END_TEST

/* The list of scoreboard registers of an instruction has the registers that it reads (including its guard), then the
 * registers that it writes. It contains each register once. */
START_TEST(scoreboard_registers) {
    struct lowered *l = lower_body("ld.param.u64 %d1, [p]; setp.eq.u64 %p1, %d1, 0; mov.u32 %r1, 5;\n"
                                   "@%p1 mul.lo.u32 %r2, %r1, %r1; st.global.u32 [%d1], %r2; ret;");
    const struct program *p = l->program;
    ck_assert_ptr_nonnull(p);
    const struct inst_info *mul = &p->info[3];
    ck_assert_uint_eq(mul->n_reads, 2); /* %p1, %r1 */
    ck_assert_uint_eq(mul->n_writes, 1);
    ck_assert_uint_eq(p->reg_words[p->regs[mul->regs]], 0);
    ck_assert_uint_eq(p->reg_words[p->regs[mul->regs + 1]], 1);
    ck_assert_uint_eq(p->regs[mul->regs], p->regs[p->info[1].regs + 1]); /* the register that setp wrote */
    ck_assert_uint_eq(p->reg_words[p->regs[p->info[0].regs]], 2);        /* the 64-bit destination of the load */
    lowered_free(l);
}
END_TEST

START_TEST(special_registers_are_filled_once) {
    struct lowered *l =
        lower_body("mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %clock; add.u32 %r4, %r3, %ntid.y;"
                   "ret;");
    const struct program *p = l->program;
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq(p->n_specials, 2);
    ck_assert_uint_eq(p->specials[0].id, SPECIAL_TID_X);
    ck_assert_uint_eq(p->specials[0].bytes, 4);
    ck_assert_uint_eq(p->code[0].a, p->specials[0].offset << 1);
    ck_assert_uint_eq(p->code[0].a, p->code[1].a);
    ck_assert_int_eq(p->code[2].kind, K_WARP); /* the clock is read when the instruction executes */
    ck_assert_int_eq(p->code[2].imm, SPECIAL_CLOCK);
    lowered_free(l);
}
END_TEST

START_TEST(thread_counts) {
    struct lowered *l =
        lower_text(".version 7.0 .target sm_70 .address_size 64\n.entry k() .maxntid 128,2 .minnctapersm 2 "
                   "{ ret; } .entry m() .reqntid 8 { ret; }",
                   "k");
    ck_assert_uint_eq(l->program->maxntid.x, 128);
    ck_assert_uint_eq(l->program->maxntid.y, 2);
    ck_assert_uint_eq(l->program->maxntid.z, 1);
    ck_assert_uint_eq(l->program->reqntid.x, 0);
    lowered_free(l);
}
END_TEST

/* Threads that do not take the branch only exit. So no thread waits for them, and the join is the branch's target. */
START_TEST(branch_over_exit_meets_at_its_target) {
    struct lowered *l = lower_body("setp.eq.u32 %p1, %r1, 1; @%p1 bra GO; exit; GO: mov.u32 %r2, 1; ret;");
    ck_assert_uint_eq(l->program->code[1].rpc, 3);
    lowered_free(l);
}
END_TEST

/* In the first kernel, both sides execute an instruction and exit, so they have no join. In the second kernel, the
 * sides meet at END, but END is no join, since threads only exit there. */
START_TEST(exiting_sides_have_no_join) {
    struct lowered *l = lower_body("setp.eq.u32 %p1, %r1, 1; @%p1 bra GO; mov.u32 %r2, 2; exit; GO: mov.u32 %r2, 1; "
                                   "ret;");
    ck_assert_uint_eq(l->program->code[1].rpc, PC_EXIT);
    lowered_free(l);
    l = lower_body("setp.eq.u32 %p1, %r1, 1; @%p1 bra GO; mov.u32 %r2, 2; bra END; GO: mov.u32 %r2, 1; END: ret;");
    ck_assert_uint_eq(l->program->code[1].rpc, PC_EXIT);
    lowered_free(l);
}
END_TEST

/* A guarded exit removes lanes. The remaining lanes continue together, so it is not a branch. */
START_TEST(guarded_exit_is_no_branch) {
    struct lowered *l =
        lower_body("setp.eq.u32 %p1, %r1, 1; @%p1 bra L; @%p2 exit; mov.u32 %r2, 1; L: mov.u32 %r2, 1; ret;");
    const struct program *p = l->program;
    ck_assert_uint_eq(p->code[1].rpc, 4);
    ck_assert_uint_eq(p->code[2].ends_block, 1);
    lowered_free(l);
}
END_TEST

/* %p<2> declares the parameters %p0, at 0 in the frame, and %p1, at 8: the call passes 8 bytes of each. */
START_TEST(a_call_with_parameters_of_a_range) {
    struct lowered *l = lower_text(".version 7.0 .target sm_70 .address_size 64\n"
                                   ".func f(.param .b64 a, .param .b64 b) { ret; }\n"
                                   ".entry k() { .param .b64 %p<2>; call.uni f, (%p0, %p1); ret; }",
                                   "k");
    const struct program *p = l->program;
    ck_assert_ptr_nonnull(p);
    const opnd_t *list = p->lists + p->code[0].list;
    static const uint32_t expected[] = {1, 2, 0, 0, 0, 8, 8, 8, 8};
    for (int i = 0; i < 9; i++)
        ck_assert_uint_eq(list[i], expected[i]);
    lowered_free(l);
}
END_TEST

/* The operand list of a call (isa/machine/call.h) has the callee, the numbers of inputs and results, and for each input
 * and result its byte offsets in the caller and in the callee, and its size. */
START_TEST(a_call_s_list) {
    struct lowered *l =
        lower_text(".version 7.0 .target sm_70 .address_size 64\n"
                   ".func (.param .b64 r) f(.param .b32 a) { .reg .b64 %d; st.param.b64 [r], %d; ret; }\n"
                   ".entry k() { { .param .b8 pad[3]; .param .b32 x; .param .b64 y; call.uni (y), f, (x); } ret; }",
                   "k");
    const struct program *p = l->program;
    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(p->code[0].kind, K_CALL);
    ck_assert_uint_eq(p->code[0].target, p->functions[1].entry);
    ck_assert_uint_eq(p->code[0].rpc, 1);
    const opnd_t *list = p->lists + p->code[0].list;
    /* byte offsets: caller's x at 4 and formal a at 0; caller's y at 8 and formal r at 8 */
    static const uint32_t expected[] = {1, 1, 1, 4, 0, 4, 8, 8, 8};
    for (int i = 0; i < 9; i++)
        ck_assert_uint_eq(list[i], expected[i]);
    ck_assert_uint_eq(p->functions[0].frame_bytes, 16);
    ck_assert_uint_eq(p->functions[1].frame_base, 16);
    ck_assert(!p->functions[1].recursive);
    lowered_free(l);
}
END_TEST

/* All returns of a function jump to one return instruction. */
START_TEST(one_return_a_function) {
    struct lowered *l = lower_text(".version 7.0 .target sm_70 .address_size 64\n"
                                   ".func f() { .reg .pred q; @q ret; @!q ret; ret; }\n.entry k() { call f; ret; }",
                                   "k");
    const struct program *p = l->program;
    uint32_t n = 0;
    for (uint32_t pc = p->functions[1].entry; pc < p->functions[1].end; pc++)
        n += p->code[pc].kind == K_RET;
    ck_assert_uint_eq(n, 1);
    lowered_free(l);
}
END_TEST

START_TEST(uncalled_functions_are_dropped) {
    struct lowered *l =
        lower_text(".version 7.0 .target sm_70 .address_size 64\n.func f() { ret; } .func g() { ret; }\n"
                   ".entry k() { call g; ret; }",
                   "k");
    ck_assert_uint_eq(l->program->n_functions, 2);
    ck_assert_str_eq(l->program->functions[1].name, "g");
    lowered_free(l);
}
END_TEST

/* A conversion between registers of exactly its types is lowered without extra instructions or flags. */
START_TEST(conversions_of_exact_width_are_simple) {
    struct lowered *l = lower_body("cvt.u32.u16 %r1, %h1; cvt.u16.u32 %r1, %r2; cvt.rn.f32.s32 %f1, %r1; ret;");
    const struct program *p = l->program;
    ck_assert_int_eq(p->code[0].kind, K_LANE);
    ck_assert_int_eq(p->code[1].kind, K_CVT);
    ck_assert_uint_eq(p->code[1].rsize, 4);
    ck_assert_uint_eq(p->code[1].dsize, 2);
    ck_assert_int_eq(p->code[2].kind, K_LANE);
    lowered_free(l);
}
END_TEST

START_TEST(loads_and_stores) {
    struct lowered *l =
        lower_body("ld.param.u64 %d1, [p]; ld.global.s8 %r1, [%d1-4]; ld.volatile.shared.v2.f32 {%f1, _}, [16];\n"
                   "st.global.cg.u16 [%d1], %r1; ret;");
    const struct program *p = l->program;
    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(p->code[0].space, SPACE_PARAM);
    ck_assert_int_eq(p->code[1].imm, -4);
    ck_assert_uint_eq(p->code[1].msize, 1);
    ck_assert_uint_eq(p->code[1].rsize, 4);
    ck_assert_uint_eq(p->code[1].is_signed, 1);
    ck_assert_uint_eq(p->code[1].asize, 8);
    ck_assert_uint_eq(p->code[2].n_list, 2);
    ck_assert_uint_eq(p->code[2].a, OPND_ZERO);
    ck_assert_int_eq(p->code[2].imm, 16);
    ck_assert_uint_eq(p->lists[p->code[2].list + 1], OPND_SINK);
    ck_assert_uint_eq(p->code[2].hints & HINT_VOLATILE, HINT_VOLATILE);
    ck_assert_uint_eq(p->code[3].cache_op, CACHE_CG);
    ck_assert_uint_eq(p->code[3].msize, 2);
    ck_assert_uint_eq(p->code[3].rsize, 4);
    lowered_free(l);
}
END_TEST

/* A texture instruction has four destinations, two coordinates, and the handle in the texture variable. */
START_TEST(textures) {
    struct lowered *l =
        lower_text(".version 7.0 .target sm_70 .address_size 64\n.global .u32 other; .global .texref t;\n"
                   ".entry k() { .reg .f32 %f<9>; .reg .b32 %r<3>;\n"
                   "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}];\n"
                   "tex.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%r1, %f5, %f6, %f6}]; ret; }",
                   "k");
    const struct program *p = l->program;
    uint32_t n_rows;
    if (!isa_op_rows(OP_TEX, &n_rows)) { /* this build has no textures */
        lowered_free(l);
        return;
    }
    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(p->code[0].kind, K_TEX);
    ck_assert_uint_eq(p->code[0].msize, 4);
    ck_assert_uint_eq(p->code[0].n_list, 6);
    ck_assert_uint_eq(constant32(p, p->code[0].a, 0), DEVICE_BASE + 4096);
    ck_assert_uint_eq(p->info[0].n_writes, 4);
    ck_assert_uint_eq(p->code[1].n_list, 7); /* the coordinates are the layer, x and y; the fourth one is padding */
    lowered_free(l);
}
END_TEST

START_TEST(passes_have_names) {
    ck_assert_str_eq(frontend_pass_name(NULL, 0), "lower");
    for (int i = 0; frontend_pass_name(NULL, i); i++)
        ck_assert_ptr_nonnull(frontend_pass_help(NULL, i));
    ck_assert_ptr_null(frontend_pass_name(NULL, 100));
}
END_TEST

/* The program can be listed after every pass, with the register names of the source. */
START_TEST(dumps_after_every_pass) {
    static const char text[] =
        ".version 7.0 .target sm_70 .address_size 64\n.entry k(.param .u64 p) { .reg .b32 %r<3>; "
        ".reg .pred %p1; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; mov.u32 %r1, 9; L: ret; }";
    for (int i = 0; frontend_pass_name(NULL, i); i++) {
        struct lowered *l = lower_text(text, "k");
        char *shown = NULL;
        size_t size;
        FILE *f = open_memstream(&shown, &size);
        struct lower_options opt = {.dump_after = frontend_pass_name(NULL, i), .dump_to = f};
        bool wanted = !passes[i].wanted;
        program_free(frontend_lower(l->image, "k", &opt));
        fclose(f);
        ck_assert_msg(!wanted || passes[i].dump || strstr(shown, "mov.u32"), "after %s: %s",
                      frontend_pass_name(NULL, i), shown);
        if (strcmp(frontend_pass_name(NULL, i), "lower") == 0)
            ck_assert_ptr_nonnull(strstr(shown, "mov.u32 %r1, 0x9"));
        if (strcmp(frontend_pass_name(NULL, i), "postdom") == 0)
            ck_assert_ptr_nonnull(strstr(shown, "block 0 -> 2 1  ipdom 1"));
        free(shown);
        lowered_free(l);
    }
}
END_TEST

/* The verifier reports an error in a program that the test has damaged. */
START_TEST(verifier_reports_broken_programs) {
    struct lowered *l = lower_body("setp.eq.u32 %p1, %r1, 0; @%p1 bra L; mov.u32 %r2, 9; add.u32 %r2, %r2, 1; L: ret;");
    struct program *p = l->program;
    char buffer[256];
    ck_assert_ptr_null(verify_program(p, buffer, sizeof buffer));
    p->code[1].target = 3; /* makes a branch target point into the middle of a block */
    ck_assert_ptr_nonnull(verify_program(p, buffer, sizeof buffer));
    ck_assert_ptr_nonnull(strstr(buffer, "begins no block"));
    p->code[1].target = 4;
    p->code[2].d = p->reg_bytes << 1;
    ck_assert_ptr_nonnull(verify_program(p, buffer, sizeof buffer));
    p->code[2].d = OPND_SINK;
    p->code[2].ends_block = 1;
    ck_assert_ptr_nonnull(verify_program(p, buffer, sizeof buffer));
    p->code[2].ends_block = 0;
    p->regs[0] = (uint16_t)p->n_regs;
    ck_assert_ptr_nonnull(verify_program(p, buffer, sizeof buffer));
    lowered_free(l);
}
END_TEST

/* The program remains valid after its module and all other inputs of lowering have been freed. */
START_TEST(programs_own_what_they_need) {
    struct lowered *l = lower_body("ld.param.u64 %d1, [p]; st.global.u32 [%d1], 1; ret;");
    struct program *p = l->program;
    char text[256];
    l->program = NULL;
    lowered_free(l);
    ck_assert_str_eq(p->name, "k");
    ck_assert_str_eq(p->params[0].name, "p");
    program_print_inst(p, 0, text, sizeof text);
    program_free(p);
}
END_TEST

/* Lowers all kernels of the files in a folder. `known` lists the kernels that use features that Heddle does not
 * support, each with the expected first error message. */
static void lower_folder(const char *folder, const char *const *known) {
    DIR *dir = opendir(folder);
    int n = 0;
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        char path[400], got[8192];
        size_t len = strlen(e->d_name);
        if (len < 4 || strcmp(e->d_name + len - 4, ".ptx") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        char *text = read_whole(path);
        struct lowered *l = lower_text(text, NULL);
        lowered_errors(l, got, sizeof got);
        bool excused = false;
        for (int k = 0; known && known[k]; k++)
            excused |= strcmp(known[k], e->d_name) == 0;
        ck_assert_msg(excused || got[0] == '\0', "%s: %s", path, got);
        n++;
        lowered_free(l);
        free(text);
    }
    closedir(dir);
    ck_assert_int_gt(n, 0);
}

/* Files that cannot be lowered: clang_opencl calls OpenCL's library, clang_pointers has an initialiser that clang wrote
 * wrongly, forms has declarations that only the parser supports. */
START_TEST(samples_of_real_compilers) {
    const char *known[] = {"clang_opencl.ptx", "clang_pointers.ptx", "forms.ptx", NULL, NULL};
    uint32_t n_rows;
    if (!isa_op_rows(OP_TEX, &n_rows)) /* this build has no textures */
        known[3] = "nvcc_features.ptx";
    lower_folder("test/compiled", known);
    lower_folder("test/kernels", (const char *const[]){"launches.ptx", NULL}); /* the loader adds functions */
    lower_folder("kernels", NULL);
}
END_TEST

SUITE(frontend_lower) {
    TEST(immediates_are_constants_in_all_lanes);
    TEST(constants_have_the_size_of_their_type);
    TEST(floating_point_constants);
    TEST(parameters_lie_by_their_alignment);
    TEST(places_in_the_text);
    TEST(scoreboard_registers);
    TEST(special_registers_are_filled_once);
    TEST(thread_counts);
    TEST(branch_over_exit_meets_at_its_target);
    TEST(exiting_sides_have_no_join);
    TEST(guarded_exit_is_no_branch);
    TEST(a_call_s_list);
    TEST(a_call_with_parameters_of_a_range);
    TEST(one_return_a_function);
    TEST(uncalled_functions_are_dropped);
    TEST(conversions_of_exact_width_are_simple);
    TEST(loads_and_stores);
    TEST(textures);
    TEST(passes_have_names);
    TEST(dumps_after_every_pass);
    TEST(verifier_reports_broken_programs);
    TEST(programs_own_what_they_need);
    TEST(samples_of_real_compilers);
}
