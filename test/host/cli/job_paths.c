/* Tests host/cli/job_paths.c, which chooses the launch of each kernel whose paths are drawn. */
#include "host/cli/job.h"
#include "test/test.h"
#include <stdio.h>

/* A kernel whose warps diverge if `part` is not 0: lanes 0 to 7 subtract twice, the other lanes add once. If `part` is
 * 0, every lane jumps over this code. */
static const char text[] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k(.param .u32 part)\n{\n"
                           ".reg .b32 %r<4>; .reg .pred %p;\nld.param.u32 %r1,[part];\nsetp.eq.u32 %p,%r1,0;\n"
                           "@%p bra END;\nmov.u32 %r2,%tid.x;\nsetp.lt.u32 %p,%r2,8;\n@%p bra ELSE;\n"
                           "add.u32 %r2,%r2,1;\nbra.uni END;\nELSE:\nsub.u32 %r2,%r2,1;\nsub.u32 "
                           "%r2,%r2,1;\nEND:\nmov.u32 %r3,%r2;\nret;\n}\n";

/* `launches` has one letter for each launch of a job: 'p' is a launch that diverges, 'w' a launch that does not. `runs`
 * counts the calls of again(), which runs the job. */
static const char *launches;
static int runs;

static void again(struct job *j, struct heddle *h) {
    (void)j;
    runs++;
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, sizeof text - 1);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    for (const char *l = launches; *l; l++) {
        uint32_t part = *l == 'p';
        ck_assert_int_eq(heddle_launch(h, m, "k", (struct heddle_dim){2, 1, 1}, (struct heddle_dim){64, 1, 1}, 0,
                                       &(struct heddle_arg){&part, sizeof part}, 1),
                         HEDDLE_OK);
    }
}

/* Returns the path segments of `kernel` in this model, or NULL if the kernel has no paths. The caller frees *result. */
static const cJSON *segments_of(const char *model, const char *kernel, cJSON **result) {
    char json[128];
    snprintf(json, sizeof json, "{\"profile\":[{\"kernel\":\"%s\"}]}", kernel);
    struct job j = {.options = {.model = model}, .result = cJSON_Parse(json)};
    runs = 0;
    job_add_paths(&j, again);
    *result = j.result;
    const cJSON *k = cJSON_GetArrayItem(cJSON_GetObjectItem(j.result, "profile"), 0);
    return cJSON_GetObjectItem(cJSON_GetObjectItem(k, "paths"), "segments");
}

static double of_segment(const cJSON *segments, int n, int which) {
    return cJSON_GetArrayItem(cJSON_GetArrayItem(segments, n), which)->valuedouble;
}

enum { BEGIN, END, LANES = 6, COLUMN = 7 };

/* All lanes run six instructions. Then 24 lanes run two instructions (add, bra), and 8 lanes run two instructions (sub,
 * sub). Then all lanes run two instructions. With a stack the two sides run one after the other, which takes 12 steps;
 * with two paths they run side by side, which takes 10 steps. */
START_TEST(paths_follow_the_model) {
    static const struct {
        const char *model;
        int steps, columns;
    } rows[] = {{"spe", 12, 1}, {"dpe", 10, 2}, {"spe+dac", 12, 1}, {NULL, 12, 1}};
    launches = "p";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cJSON *result;
        const cJSON *s = segments_of(rows[i].model, "k", &result);
        double lanes[2] = {of_segment(s, 1, LANES), of_segment(s, 2, LANES)};
        int columns = 1;
        ck_assert_int_eq(cJSON_GetArraySize(s), 4);
        ck_assert_double_eq(of_segment(s, 0, LANES), 0xffffffff);
        ck_assert_double_eq(of_segment(s, 0, END) - of_segment(s, 0, BEGIN), 6);
        ck_assert((lanes[0] == 0xff && lanes[1] == 0xffffff00) || (lanes[1] == 0xff && lanes[0] == 0xffffff00));
        ck_assert_double_eq(of_segment(s, 3, LANES), 0xffffffff);
        ck_assert_double_eq(of_segment(s, 3, END) - of_segment(s, 0, BEGIN), rows[i].steps);
        for (int k = 0; k < 4; k++)
            columns = of_segment(s, k, COLUMN) + 1 > columns ? (int)of_segment(s, k, COLUMN) + 1 : columns;
        ck_assert_int_eq(columns, rows[i].columns);
        ck_assert_int_eq(runs, 1);
        cJSON_Delete(result);
    }
}
END_TEST

/* The first divergent launch among the first eight launches is drawn. If none of them diverges, the first launch is
 * drawn; there all lanes jump together, which gives two segments. */
START_TEST(the_first_divergent_launch_is_drawn) {
    static const struct {
        const char *launches;
        int segments; /* 0: the kernel was never launched */
    } rows[] = {{"w", 2}, {"wwp", 4}, {"wwwwwwwp", 4}, {"wwwwwwwwp", 2}, {"pw", 4}, {"", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cJSON *result;
        launches = rows[i].launches;
        const cJSON *s = segments_of("spe", "k", &result);
        ck_assert_msg(cJSON_GetArraySize(s) == rows[i].segments, "%s: %d", launches, cJSON_GetArraySize(s));
        cJSON_Delete(result);
    }
}
END_TEST

/* Only kernels in the profile get paths. Without a profile, job_add_paths() does not run the job again. */
START_TEST(only_kernels_of_the_profile_get_paths) {
    cJSON *result;
    launches = "p";
    ck_assert_ptr_null(segments_of("spe", "other", &result));
    cJSON_Delete(result);
    struct job j = {.options = {.model = "spe"}, .result = cJSON_CreateObject()};
    runs = 0;
    job_add_paths(&j, again);
    ck_assert_int_eq(runs, 0);
    cJSON_Delete(j.result);
}
END_TEST

SUITE(host_cli_job_paths) {
    TEST(paths_follow_the_model);
    TEST(the_first_divergent_launch_is_drawn);
    TEST(only_kernels_of_the_profile_get_paths);
}
