/* Tests the drawing of the paths of one warp. The kernel is an if-else with two instructions on each side. */
#include "host/paths.h"
#include "host/heddle.h"
#include "test/test.h"
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

/* Lanes 0 to 7 branch to ELSE. PCs: 0 mov, 1 setp, 2 bra; then side: 3 add, 4 bra; else side: 5 sub, 6 sub; after the
 * join: 7 add, 8 ret. */
static const char ptx[] = ".version 6.0\n" /* line 1 */
                          ".target sm_50\n"
                          ".address_size 64\n"
                          ".visible .entry k()\n"
                          "{\n"
                          ".reg .pred %p; .reg .b32 %r<3>;\n"
                          "mov.u32 %r1, %tid.x;\n" /* line 7 */
                          "setp.lt.u32 %p, %r1, 8;\n"
                          "@%p bra ELSE;\n"
                          "add.u32 %r2, %r1, 1;\n" /* line 10 */
                          "bra.uni JOIN;\n"
                          "ELSE:\n"
                          "sub.u32 %r2, %r1, 1;\n" /* line 13 */
                          "sub.u32 %r2, %r2, 1;\n"
                          "JOIN:\n"
                          "add.u32 %r1, %r1, %r2;\n" /* line 16 */
                          "ret;\n"
                          "}\n";

/* Lanes 1 to 31 exit at a guarded return; lane 0 continues. PCs: 0 mov, 1 setp, 2 ret, 3 add, 4 ret. */
static const char leaving[] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k()\n{\n"
                              ".reg .pred %p; .reg .b32 %r<3>;\nmov.u32 %r1, %tid.x;\nsetp.ne.u32 %p, %r1, 0;\n"
                              "@%p ret;\nadd.u32 %r2, %r1, 1;\nret;\n}\n";
static const char *text_of_kernel = ptx;

static char *draw(const char *set, uint32_t warp, enum heddle_status *status, char **svg) {
    char err[256], *text = NULL;
    size_t len, svg_len;
    const char *const sets[] = {set, NULL};
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "functional", .set = sets}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    ck_assert_int_eq(heddle_record_paths(h, warp), HEDDLE_OK);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text_of_kernel, strlen(text_of_kernel));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    ck_assert_int_eq(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, NULL, 0),
                     HEDDLE_OK);
    FILE *out = open_memstream(&text, &len), *drawing = svg ? open_memstream(svg, &svg_len) : NULL;
    *status = heddle_print_paths(h, out, drawing);
    fclose(out);
    if (drawing)
        fclose(drawing);
    heddle_close(h);
    return text;
}

/* All lanes execute steps 1 to 3. From step 4 on, each side executes two instructions, and both sides run in parallel.
 * They join at step 6. */
START_TEST(dpe_runs_both_sides_at_once) {
    enum heddle_status status;
    char *text = draw("reconv=dpe", 0, &status, NULL);
    ck_assert_str_eq(text, "k, warp 0, dpe\n"
                           "  step   one column a path; a row where a path begins, diverges or joins\n"
                           "     1 | pc 0-2, lines 7-9                   |\n"
                           "       |   ffffffff  32 lanes                |\n"
                           "       |   < diverges                        |\n"
                           "     4 | pc 5-6, lines 13-14                 | pc 3-4, lines 10-11\n"
                           "       |   000000ff  8 lanes                 |   ffffff00  24 lanes\n"
                           "     6 | > joins at pc 7-8, lines 16-17      |\n"
                           "       |   ffffffff  32 lanes                |\n");
    ck_assert_int_eq(status, HEDDLE_OK);
    free(text);
}
END_TEST

/* spe runs one side after the other, so the join comes two steps later */
START_TEST(spe_runs_one_side_after_the_other) {
    enum heddle_status status;
    char *text = draw("reconv=spe", 0, &status, NULL);
    ck_assert_ptr_nonnull(strstr(text, "     4 | pc 5-6"));
    ck_assert_ptr_nonnull(strstr(text, "     6 | pc 3-4"));
    ck_assert_ptr_nonnull(strstr(text, "     8 | > joins at pc 7-8"));
    free(text);
}
END_TEST

/* If some lanes of a path exit while other lanes continue, the exit itself is not drawn as an instruction. */
START_TEST(lanes_that_leave_are_not_drawn) {
    static const char *const sets[] = {"reconv=spe", "reconv=dpe", "reconv=dws", "reconv=its", "reconv=si"};
    text_of_kernel = leaving;
    for (int i = 0; i < 5; i++) {
        enum heddle_status status;
        char *text = draw(sets[i], 0, &status, NULL);
        ck_assert_int_eq(status, HEDDLE_OK);
        ck_assert_msg(strstr(text, "     1 | pc 0-2, lines 7-9") != NULL, "%s\n%s", sets[i], text);
        ck_assert_msg(strstr(text, "     4 | pc 3-4, lines 10-11") != NULL, "%s\n%s", sets[i], text);
        ck_assert_msg(strstr(text, "00000001  1 lane") != NULL, "%s\n%s", sets[i], text);
        ck_assert_ptr_null(strstr(text, " \n")); /* no line ends with blanks */
        free(text);
    }
}
END_TEST

static struct path_segment segment(uint32_t begin, uint32_t end, uint32_t pc, lanemask_t lanes, int column) {
    return (struct path_segment){.begin = begin,
                                 .end = end,
                                 .step = begin,
                                 .first_pc = pc,
                                 .last_pc = pc + 1,
                                 .rounds = 1,
                                 .lanes = lanes,
                                 .column = column};
}

/* The drawing has two columns: one with three loop iterations, one with two. Then both paths join. */
START_TEST(rounds_of_a_loop_are_one_segment) {
    struct path_segment list[] = {segment(1, 3, 4, 0xff, 0), segment(1, 4, 8, 0xff00, 1),
                                  segment(3, 5, 4, 0xff, 0), segment(4, 7, 8, 0xff00, 1),
                                  segment(5, 7, 4, 0xff, 0), segment(7, 9, 4, 0xffff, 0)};
    struct path_log log = {.list = list, .n = 6, .columns = 2}, back;
    list[5].joins = true;
    path_log_fold(&log);
    ck_assert_uint_eq(log.n, 3);
    ck_assert_uint_eq(list[0].rounds, 3);
    ck_assert_uint_eq(list[0].end, 7);
    ck_assert_uint_eq(list[1].rounds, 2);
    ck_assert_uint_eq(list[1].end, 7);
    ck_assert_uint_eq(list[2].rounds, 1);
    /* JSON has no step numbers, only the order of steps. After conversion to JSON and back, the order of steps 1, 7 and
     * 9 is kept. */
    cJSON *o = path_log_json(&log, 10);
    ck_assert(path_log_read(o, &back));
    ck_assert_uint_eq(back.n, 3);
    ck_assert_int_eq(back.columns, 2);
    ck_assert(!back.truncated);
    ck_assert_uint_eq(back.list[0].begin, 1);
    ck_assert_uint_eq(back.list[0].end, 2);
    ck_assert_uint_eq(back.list[1].rounds, 2);
    ck_assert_uint_eq(back.list[1].lanes, 0xff00);
    ck_assert_uint_eq(back.list[2].begin, 2);
    ck_assert_uint_eq(back.list[2].end, 3);
    ck_assert_uint_eq(back.list[2].step, 7);
    ck_assert(back.list[2].joins && !back.list[2].splits);
    path_log_free(&back);
    cJSON_Delete(o);
    o = path_log_json(&log, 2);
    ck_assert(path_log_read(o, &back));
    ck_assert_uint_eq(back.n, 2);
    ck_assert(back.truncated);
    path_log_free(&back);
    cJSON_Delete(o);
}
END_TEST

/* A database may contain any text in the place of a path log, so the reader must refuse invalid text. */
START_TEST(nonsense_is_no_drawing) {
    static const char *const texts[] = {"{}",
                                        "[]",
                                        "{\"segments\":[]}",
                                        "{\"segments\":[[1,2,3]]}",
                                        "{\"segments\":[[2,2,0,0,1,1,1,0,0,1]]}",
                                        "{\"segments\":[[1,2,0,0,1,1,0,0,0,1]]}",
                                        "{\"segments\":[[1,2,0,0,1,1,1,32,0,1]]}",
                                        "{\"segments\":[[1,2,0,0,1,1,1,-1,0,1]]}",
                                        "{\"segments\":[[1,1e300,0,0,1,1,1,0,0,1]]}",
                                        "{\"segments\":[[1,2,0,0,1,1,\"x\",0,0,1]]}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct path_log log;
        cJSON *o = cJSON_Parse(texts[i]);
        ck_assert_msg(!path_log_read(o, &log), "%s", texts[i]);
        path_log_free(&log);
        cJSON_Delete(o);
    }
    struct path_log log;
    cJSON *o = cJSON_Parse("{\"segments\":[[1,4000000000,0,0,1,1,1,31,0,1]]}");
    /* steps are renumbered, so that huge step numbers do not make the reader allocate gigabytes */
    ck_assert(path_log_read(o, &log));
    FILE *out = fopen("/dev/null", "w");
    path_log_svg(&log, "t", out);
    fclose(out);
    path_log_free(&log);
    cJSON_Delete(o);
}
END_TEST

START_TEST(svg_has_a_box_for_every_segment) {
    enum heddle_status status;
    char *svg = NULL, *text = draw("reconv=dpe", 0, &status, &svg);
    ck_assert_ptr_nonnull(strstr(svg, "<svg"));
    ck_assert_ptr_nonnull(strstr(svg, "</svg>"));
    int boxes = 0;
    for (const char *at = svg; (at = strstr(at, "stroke=")); at++)
        boxes++;
    ck_assert_int_eq(boxes, 4);
    free(svg);
    free(text);
}
END_TEST

/* 64 threads are two warps. The second warp is drawn; it does not diverge. A third warp does not exist. */
START_TEST(other_warps) {
    enum heddle_status status;
    char *text = draw("reconv=dpe", 1, &status, NULL);
    ck_assert_ptr_null(strstr(text, "< diverges"));
    ck_assert_int_eq(status, HEDDLE_OK);
    free(text);
    text = draw("reconv=dpe", 2, &status, NULL);
    ck_assert_int_eq(status, HEDDLE_USAGE);
    free(text);
}
END_TEST

/* Half of the warp spins on a flag, and the other half sets the flag after counting to 300,000. All iterations of the
 * spin loop are equal. The path recorder must report that another path can run, because the interpreter would otherwise
 * report a livelock. */
START_TEST(a_spin_that_another_path_ends) {
    static const char spin[] =
        ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 flag)\n{\n"
        ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %a;\n"
        "ld.param.u64 %a, [flag]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0; setp.lt.u32 %p, %r1, 16;\n@%p bra COUNT;\n"
        "SPIN: ld.volatile.global.u32 %r3, [%a]; setp.eq.u32 %p, %r3, 0; @%p bra SPIN; bra.uni END;\n"
        "COUNT: add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 300000; @%p bra COUNT;\n"
        "st.volatile.global.u32 [%a], %r2;\nEND: st.volatile.global.u32 [%a], %r2; ret;\n}\n";
    char err[256];
    const char *const sets[] = {"reconv=its", NULL};
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "functional", .set = sets}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    ck_assert_int_eq(heddle_record_paths(h, 0), HEDDLE_OK);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", spin, sizeof spin - 1);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t flag = heddle_alloc(h, 4);
    ck_assert_int_eq(heddle_write(h, flag, &(uint32_t){0}, 4), HEDDLE_OK);
    const struct heddle_arg arg = {&flag, 8};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, &arg, 1) ==
                      HEDDLE_OK,
                  "%s", heddle_error(h));
    heddle_close(h);
}
END_TEST

/* Lanes 8 to 31 branch to an exit. They end at the branch, without executing another instruction. The other lanes
 * execute steps 4 and 5. PCs: 0 mov, 1 setp, 2 bra, 3 add, 4 ret. */
static const char leaves[] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k()\n{\n"
                             ".reg .pred %p; .reg .b32 %r<3>;\n"
                             "mov.u32 %r1, %tid.x;\n" /* line 7 */
                             "setp.gt.u32 %p, %r1, 7;\n"
                             "@%p bra DONE;\n"
                             "add.u32 %r2, %r1, 1;\n" /* line 10 */
                             "DONE:\n"
                             "ret;\n"
                             "}\n";

START_TEST(lanes_that_exit_with_a_branch) {
    char err[256], *text = NULL, *drawing = NULL;
    size_t len, svg_len;
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "functional"}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    ck_assert_int_eq(heddle_record_paths(h, 0), HEDDLE_OK);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", leaves, sizeof leaves - 1);
    ck_assert_int_eq(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, NULL, 0),
                     HEDDLE_OK);
    FILE *out = open_memstream(&text, &len), *svg = open_memstream(&drawing, &svg_len);
    ck_assert_int_eq(heddle_print_paths(h, out, svg), HEDDLE_OK);
    fclose(out);
    fclose(svg);
    ck_assert_str_eq(text, "k, warp 0, spe\n"
                           "  step   one column a path; a row where a path begins, diverges or joins\n"
                           "     1 | pc 0-2, lines 7-9\n"
                           "       |   ffffffff  32 lanes\n"
                           "       |   < diverges\n"
                           "     4 | pc 3-4, lines 10-12\n"
                           "       |   000000ff  8 lanes\n");
    free(text);
    free(drawing);
    heddle_close(h);
}
END_TEST

SUITE(host_paths) {
    TEST(lanes_that_exit_with_a_branch);
    TEST(a_spin_that_another_path_ends);
    TEST(dpe_runs_both_sides_at_once);
    TEST(spe_runs_one_side_after_the_other);
    TEST(svg_has_a_box_for_every_segment);
    TEST(lanes_that_leave_are_not_drawn);
    TEST(rounds_of_a_loop_are_one_segment);
    TEST(nonsense_is_no_drawing);
    TEST(other_warps);
}
