/* Every option over the edges of its range, and many together: a run ends with the right memory or is refused with a
 * message. HEDDLE_WALK=all in the environment takes every value with every model and preset. */
#include "test/test.h"
#include "walk.h"
#include <stdio.h>

enum { PARTS = 8 };

/* The sets of a run: fewer SMs than the presets have, so that a run is short. */
static const char *one(const char *model, const char *config, const char *assignment) {
    const char *few = strncmp(assignment, "gpu.sms=", 8) == 0 ? NULL : "gpu.sms=2";
    return walk_run(model, config, (const char *const[]){assignment, few, NULL});
}

static int bad;
static void note(const char *wrong) {
    if (!wrong)
        return;
    fprintf(stderr, "%s\n", wrong);
    bad++;
}

START_TEST(every_option_at_the_edges_of_its_range) {
    bool all = getenv("HEDDLE_WALK") != NULL;
    const struct opt *options = config_options();
    walk_begin();
    int n = 0;
    while (options[n].key)
        n++;
    for (int i = _i; i < n; i += PARTS) {
        char value[64], assignment[128];
        for (int v = 0; walk_value(&options[i], v, value, sizeof value); v++) {
            snprintf(assignment, sizeof assignment, "%s=%s", options[i].key, value);
            int turn = i / PARTS * 5 + v;
            for (int k = 0; k < (all ? WALK_MODELS * WALK_CONFIGS : 1); k++, turn += all)
                note(one(walk_models[turn % WALK_MODELS], walk_configs[turn / (all ? WALK_MODELS : 1) % WALK_CONFIGS],
                         assignment));
        }
    }
    ck_assert_int_eq(bad, 0);
    fprintf(stderr, "%d runs %d ended\n", walk_counts().runs, walk_counts().ended);
}
END_TEST

SUITE(timing_options) {
    tcase_set_timeout(tc, 100000);
    TEST_LOOP(every_option_at_the_edges_of_its_range, 0, PARTS);
}
