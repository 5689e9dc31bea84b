/* Tests the drawings of paths in a report. The test writes the profiles itself. */
#include "report_rig.h"

/* Fields of a path segment: begin, end, PCs, lines, lanes, column, marks, rounds. All lanes run HEAD and then diverge.
 * With BOTH, 8 lanes run in column 0 and 24 lanes in column 1; with ONE, both groups run in one column. Then all lanes
 * run TAIL. */
#define HEAD                 "[1,4,0,2,10,12,4294967295,0,1,1]"
#define TAIL                 "[9,10,9,9,19,19,4294967295,0,2,1]"
#define BOTH                 HEAD ",[4,7,3,5,13,15,255,0,0,1],[4,9,6,8,16,18,4294967040,1,0,1]," TAIL
#define ONE                  HEAD ",[4,7,3,5,13,15,255,0,0,1],[7,9,6,8,16,18,4294967040,0,0,1]," TAIL
#define PATHS(segments, cut) "\"paths\":{\"segments\":[" segments "],\"truncated\":" cut "}"
#define RUN(kernel, rest)    "{\"stats\":{\"gpu.cycles\":9},\"profile\":[{\"kernel\":\"" kernel "\"" rest "}]}"

/* Runs whose paths are equal share one drawing. A column of a drawing is 270 points wide; the margins are 60 points. */
START_TEST(equal_paths_share_a_drawing) {
    struct report_rig g;
    rig_open(&g);
    rig_add(&g, "p", "spe", RUN("k<int>", "," PATHS(ONE, "false")));
    rig_add(&g, "p", "spe", RUN("k<int>", "," PATHS(ONE, "false")));
    rig_add(&g, "q", "spe", RUN("k<int>", "," PATHS(ONE, "true"))); /* a different program */
    rig_add(&g, "p", "dpe", RUN("k<int>", "," PATHS(BOTH, "false")));
    rig_add(&g, "p", "spe", RUN("j", "," PATHS(HEAD, "false"))); /* its warp never diverges */
    /* the warp of this kernel jumps, but does not diverge */
    rig_add(&g, "p", "spe", RUN("i", "," PATHS(HEAD "," TAIL, "false")));
    char *text = rig_page(&g, report_paths);
    says(text, "<summary>k&#60;int&#62; of p in spe, 2 runs</summary>\n<div class=wide><svg "
               "xmlns='http://www.w3.org/2000/svg' width='330'");
    says(text, "<summary>k&#60;int&#62; of p in dpe, 1 run</summary>\n<div class=wide><svg "
               "xmlns='http://www.w3.org/2000/svg' width='600'");
    says(text, "<summary>k&#60;int&#62; of q in spe, 1 run</summary>");
    ck_assert_int_eq(occurrences(text, "warp 0, its first segments"), occurrences(text, "q in spe"));
    ck_assert_int_eq(occurrences(text, "<details>"), 3);
    ck_assert_int_eq(occurrences(text, ", diverges</text>"), 3);
    says(text, "<p>In 2 kernels of all runs the lanes of this warp stay together.</p>");
    ck_assert_ptr_null(strstr(text, "None of the runs"));
    free(text);
}
END_TEST

/* A kernel has equal paths on two machines, so one drawing shows both runs. There are 41 kernels, and one of them is
 * not drawn. */
START_TEST(drawings_are_limited) {
    struct report_rig g;
    rig_open(&g);
    char json[1024];
    for (int i = 0; i < 41; i++) {
        snprintf(json, sizeof json,
                 "{\"stats\":{\"gpu.cycles\":9},\"profile\":[{\"kernel\":\"k%d\"," PATHS(BOTH, "false") "}]}", i);
        rig_add(&g, "p", "dpe", json);
    }
    rig_add(&g, "p", "dpe", RUN("k0", "," PATHS(BOTH, "false")));
    char *text = rig_page(&g, report_paths);
    ck_assert_int_eq(occurrences(text, "<details>"), 40);
    says(text, "k0 of p in dpe, 2 runs</summary>");
    says(text, "k39 of p in dpe, 1 run</summary>");
    ck_assert_ptr_null(strstr(text, "k40 of"));
    says(text, "<p>1 more is not drawn.</p>");
    ck_assert_ptr_null(strstr(text, "stay together"));
    free(text);
}
END_TEST

/* Three cases without a drawing: a run without a profile, a profile without paths, and invalid segments. */
START_TEST(runs_without_paths) {
    struct report_rig g;
    rig_open(&g);
    rig_add(&g, "p", "spe", "{\"stats\":{\"gpu.cycles\":9}}");
    rig_add(&g, "q", "spe", RUN("k", ""));
    char *text = rig_page(&g, report_paths);
    says(text, "None of the runs has them: <code>heddle sweep ... --profile</code> records them.");
    ck_assert_ptr_null(strstr(text, "<details>"));
    free(text);
    rig_open(&g);
    rig_add(&g, "p", "spe", RUN("k", "," PATHS(HEAD ",[0,0,0,0,0,0,255]", "false")));
    text = rig_page(&g, report_paths);
    says(text, "k of p in spe, 1 run</summary>\n<div class=wide></div></details>");
    free(text);
}
END_TEST

SUITE(host_cli_report_paths) {
    TEST(equal_paths_share_a_drawing);
    TEST(drawings_are_limited);
    TEST(runs_without_paths);
}
