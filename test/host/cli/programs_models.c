/* The example programs bfs.heddle and lud.heddle do the same work as the built-in benchmarks. So every statistic is
 * equal, in total and for each launch, in every model and extension and on every preset. */
#include "cli_help.h"
#include "host/models.h"
#include <cjson/cJSON.h>
#include <glob.h>
#include <stdio.h>

enum { MOST = 48 };

/* Writes all model names to test: "functional", "spe" and so on, "spe+dac" and so on, and names with several
 * extensions. */
static int models(char names[MOST][32]) {
    int n = 0;
    const struct model *m;
    const struct mechanism *x;
    for (int i = 0; (m = model_at(&model_tables, i)); i++)
        snprintf(names[n++], 32, "%s", m->name);
    for (int i = 0; (x = extension_at(&model_tables, i)); i++) {
        struct model_spec s;
        char why[512];
        /* the first base that the extension can have: some need several paths of a warp, or convergence barriers */
        static const char *const bases[] = {"spe", "anypc", "its"};
        bool has = false;
        for (size_t k = 0; k < 3 && !has; k++) {
            snprintf(names[n], 32, "%s+%s", bases[k], x->name);
            has = model_parse(&model_tables, names[n], &s, why, sizeof why);
        }
        ck_assert_msg(has, "%s", why);
        n++;
    }
    for (const struct model_word *w = model_tables.words; w && w->name; w++)
        snprintf(names[n++], 32, "%s", w->name);
    ck_assert_int_gt(n, 12);
    return n;
}

static int presets(char names[MOST][32]) {
    char pattern[PATH_MAX + 32];
    glob_t g;
    snprintf(pattern, sizeof pattern, "%s/configs/*.cfg", cli_root);
    ck_assert_int_eq(glob(pattern, 0, NULL, &g), 0);
    int n = (int)g.gl_pathc;
    ck_assert_int_gt(n, 8);
    ck_assert_int_le(n, MOST);
    for (int i = 0; i < n; i++) {
        const char *file = strrchr(g.gl_pathv[i], '/') + 1;
        snprintf(names[i], 32, "%.*s", (int)strcspn(file, "."), file);
    }
    globfree(&g);
    return n;
}

/* Compares all statistics except the host's. */
static void same_stats(const cJSON *a, const cJSON *b) {
    const cJSON *v = cJSON_GetObjectItem(a, "stats")->child, *w = cJSON_GetObjectItem(b, "stats")->child;
    int n = 0;
    for (; v && w; v = v->next, w = w->next) { /* both have the same order */
        EXPECT(strcmp(v->string, w->string) == 0, "%s stands beside %s", v->string, w->string);
        if (strncmp(v->string, "host.", 5) == 0)
            continue;
        n++;
        EXPECT(v->valuedouble == w->valuedouble, "%s: %.17g and %.17g", v->string, v->valuedouble, w->valuedouble);
    }
    ck_assert(!v && !w);
    ck_assert_int_gt(n, 100);
}

static void runs_are_equal(const char *name, const char *options) {
    STATUS(HEDDLE_OK, "bench %s '%s/benchmarks/%s.heddle' %s --json r.json", name, cli_root, name, options);
    char *text = slurp("r.json");
    cJSON *o = cJSON_Parse(text), *runs = cJSON_GetObjectItem(o, "runs");
    const cJSON *a = cJSON_GetArrayItem(runs, 0), *b = cJSON_GetArrayItem(runs, 1);
    ck_assert_str_eq(cJSON_GetObjectItem(b, "check")->valuestring, "pass");
    same_stats(a, b);
    a = cJSON_GetObjectItem(a, "kernels");
    b = cJSON_GetObjectItem(b, "kernels");
    ck_assert_int_gt(cJSON_GetArraySize(a), 10);
    ck_assert_int_eq(cJSON_GetArraySize(a), cJSON_GetArraySize(b));
    for (int i = 0; i < cJSON_GetArraySize(a); i++)
        same_stats(cJSON_GetArrayItem(a, i), cJSON_GetArrayItem(b, i));
    cJSON_Delete(o);
    free(text);
}

static void run_pair(bool lud, const char *model, const char *preset) {
    char options[128];
    snprintf(options, sizeof options, "-m %s -c %s", model, preset);
    runs_are_equal(lud ? "lud" : "bfs", options);
}

/* Runs an eighth of the models and a quarter of the presets, and alternates between the two programs. With
 * HEDDLE_EVERY: runs both programs with all combinations of models and presets. */
START_TEST(in_models_and_on_presets) {
    static char model[MOST][32], preset[MOST][32];
    int n_models = models(model), n_presets = presets(preset),
        most = n_models / 2 > n_presets ? n_models / 2 : n_presets;
    if (test_every())
        for (int i = _i; i < 2 * n_models * n_presets; i += 4)
            run_pair(i % 2, model[i / 2 / n_presets], preset[i / 2 % n_presets]);
    else
        for (int i = 4 * _i; i < most; i += 16)
            run_pair(i / 16 % 2, model[(2 * i + i / 16 % 2) % n_models], preset[i % n_presets]);
}
END_TEST

/* Compares the programs at size paper in the functional model only; with HEDDLE_EVERY, lud runs in the timing model
 * its. */
START_TEST(at_size_paper) {
    runs_are_equal("lud", test_every() ? "-m its --size paper" : "-m functional --size paper");
    runs_are_equal("bfs", "-m functional --size paper");
}
END_TEST

SUITE(host_cli_programs_models) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST_LOOP(in_models_and_on_presets, 0, 4);
    TEST(at_size_paper);
}
