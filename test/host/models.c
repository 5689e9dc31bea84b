/* Tests parsing of --model with a table of extensions made for this test, and with heddle's own table. */
#include "host/models.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdio.h>

static const char *not_on_dpe(const struct model_spec *s) {
    return strcmp(s->base->name, "dpe") == 0 ? "needs one path at a time" : NULL;
}
static const char *needs_toy(const struct model_spec *s) {
    return model_has(s, "toy") ? NULL : "needs 'toy' beside it";
}

static const struct mechanism toy = {.name = "toy", .help = "a toy", .kind = MECHANISM_EXTENSION, .refuse = not_on_dpe},
                              tree = {.name = "tree",
                                      .help = "another",
                                      .kind = MECHANISM_EXTENSION,
                                      .refuse = needs_toy},
                              plain = {.name = "plain", .help = "a third", .kind = MECHANISM_EXTENSION};
static const struct mechanism *const toys[] = {&toy, &tree, &plain, NULL};
static const struct mechanism *listed[MAX_LISTED_MECHANISMS];
static const struct model_word words[] = {{"set", "some of them", "its", {"plain", "nowhere", "toy"}}, {.name = NULL}};
static struct model_tables with_toys;

static void begin(void) { with_toys = (struct model_tables){bases_and(toys, listed), words}; }

static const struct {
    const char *text, *base, *extensions;
} good[] = {
    {"spe", "spe", ""},
    {"dws100", "dws100", ""},
    {"functional+toy", "functional", "toy"},
    {"its+plain+toy+tree", "its", "toy tree plain"}, /* in the table's order */
    {"dpe+plain", "dpe", "plain"},
    {"toy", "spe", "toy"}, /* an extension without a base model is added to spe */
    {"tree+toy", "spe", "toy tree"},
    {"set", "its", "toy plain"}, /* of the three extensions in the set, the table contains only these two */
    {"set+tree", "its", "toy tree plain"},
};

START_TEST(a_base_and_extensions) {
    struct model_spec s;
    char err[256] = "", all[256] = "";
    ck_assert_msg(model_parse(&with_toys, good[_i].text, &s, err, sizeof err), "%s: %s", good[_i].text, err);
    ck_assert_str_eq(s.base->name, good[_i].base);
    for (int i = 0; s.extensions[i]; i++) {
        strcat(all, i ? " " : "");
        strcat(all, s.extensions[i]);
    }
    ck_assert_str_eq(all, good[_i].extensions);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"spe+toi", "model 'spe+toi': unknown extension 'toi'; did you mean 'toy'?"},
    {"spe+zzzzzz", "model 'spe+zzzzzz': unknown extension 'zzzzzz'; there are toy, tree, plain"},
    {"spe+dpe", "model 'spe+dpe': 'spe' and 'dpe' are two bases; '+' joins one with extensions"},
    {"toy+its", "model 'toy+its': 'its' is a base; it must come first, before its extensions"},
    {"spe+toy+toy", "model 'spe+toy+toy': the extension 'toy' stands there twice"},
    {"toy+toy", "model 'toy+toy': the extension 'toy' stands there twice"},
    {"dpe+toy", "model 'dpe+toy' has no meaning: 'toy' needs one path at a time"},
    {"spe+tree", "model 'spe+tree' has no meaning: 'tree' needs 'toy' beside it"},
    {"spe+set", "model 'spe+set': 'spe' and 'set' are two bases; '+' joins one with extensions"},
    {"set+toy", "model 'set+toy': the extension 'toy' stands there twice"},
    {"spe+", "model 'spe+': a name is missing after '+'"},
    {"+toy", "model '+toy': a name is missing before '+'"},
    {"spe++toy", "model 'spe++toy': a name is missing after '+'"},
    {"", "which model? (see 'heddle list models')"},
    {"spee", "no model is called 'spee'; did you mean 'spe'?"},
    {"spe,dpe", "'spe,dpe' is a list, and one model is expected; 'heddle compare' and 'heddle sweep' take lists"},
    {"qqqqqqqq", "no model is called 'qqqqqqqq' (see 'heddle list models')"},
};

START_TEST(refused_with_the_reason) {
    struct model_spec s;
    char err[256] = "";
    ck_assert(!model_parse(&with_toys, bad[_i].text, &s, err, sizeof err));
    ck_assert_str_eq(err, bad[_i].message);
}
END_TEST

/* If the table has no extensions, the message says so. In heddle's own table, each extension can be added to
 * functional, spe, anypc or its. */
START_TEST(what_the_product_has) {
    static const struct mechanism *const none[] = {NULL};
    const struct model_tables without = {bases_and(none, listed), NULL};
    const struct model *m;
    const struct mechanism *e;
    struct model_spec s;
    char err[256] = "";
    ck_assert(model_parse(&model_tables, "functional+dac", &s, err, sizeof err));
    ck_assert(model_has(&s, "dac") && s.base->functional);
    ck_assert(model_parse(&model_tables, "dpe+dac", &s, err, sizeof err));
    ck_assert(!model_parse(&model_tables, "functional+dacs", &s, err, sizeof err));
    ck_assert_str_eq(err, "model 'functional+dacs': unknown extension 'dacs'; did you mean 'dac'?");
    ck_assert(!model_parse(&without, "spe+toy", &s, err, sizeof err));
    ck_assert_str_eq(err, "model 'spe+toy': unknown extension 'toy'; this version has no extensions");
    for (int i = 0; (m = model_at(&model_tables, i)); i++)
        ck_assert(model_parse(&model_tables, m->name, &s, err, sizeof err) && s.base == m && !s.extensions[0]);
    for (int i = 0; (e = extension_at(&model_tables, i)); i++) {
        char text[64];
        snprintf(text, sizeof text, "functional+%s", e->name);
        bool has = model_parse(&model_tables, text, &s, err, sizeof err) ||
                   (model_parse(&model_tables, e->name, &s, err, sizeof err) && strcmp(s.base->name, "spe") == 0);
        snprintf(text, sizeof text, "anypc+%s", e->name); /* extensions that need several paths */
        has = has || model_parse(&model_tables, text, &s, err, sizeof err);
        snprintf(text, sizeof text, "its+%s", e->name); /* extensions that need convergence barriers */
        ck_assert_msg(has || model_parse(&model_tables, text, &s, err, sizeof err), "%s", err);
        ck_assert(model_has(&s, e->name));
    }
}
END_TEST

static const struct {
    const char *text, *message;
} of_time[] = {
    {"spe+cea", "model 'spe+cea': unknown extension 'cea'; did you mean 'cae'?"},
    {"cae+spe+cae", "model 'cae+spe+cae': 'spe' is a base; it must come first, before its extensions"},
    {"spe+cae+cae", "model 'spe+cae+cae': the extension 'cae' stands there twice"},
    {"mta+mta", "model 'mta+mta': the extension 'mta' stands there twice"},
    {"functional+cae", "model 'functional+cae' has no meaning: 'cae' changes how long a kernel takes, not what it "
                       "computes; take a timing model"},
    {"spe+dac+cae",
     "model 'spe+dac+cae' has no meaning: 'dac' and 'cae' are two units for affine values; take one of them"},
    {"cae+dac", "model 'cae+dac' has no meaning: 'dac' and 'cae' are two units for affine values; take one of them"},
    {"dpe+mta+dac",
     "model 'dpe+mta+dac' has no meaning: 'dac' and 'mta' are two ways to load ahead into the L1; take one of them"},
    {"functional+ddp", "model 'functional+ddp' has no meaning: 'ddp' changes how long a kernel takes, not what it "
                       "computes; take a timing model"},
    {"stride+ddp", "model 'stride+ddp' has no meaning: 'stride' and 'ddp' are two prefetchers; take one of them"},
    {"dpe+mta+ddp", "model 'dpe+mta+ddp' has no meaning: 'mta' and 'ddp' are two prefetchers; take one of them"},
    {"mta+stride", "model 'mta+stride' has no meaning: 'mta' and 'stride' are two prefetchers; take one of them"},
    {"functional+mta", "model 'functional+mta' has no meaning: 'mta' changes how long a kernel takes, not what it "
                       "computes; take a timing model"},
};

START_TEST(extensions_that_need_time) {
    struct model_spec s;
    char err[256] = "";
    ck_assert(!model_parse(&model_tables, of_time[_i].text, &s, err, sizeof err));
    ck_assert_str_eq(err, of_time[_i].message);
}
END_TEST

/* Names of any length with a small buffer: nothing may be written beyond the buffer. */
START_TEST(long_names_and_small_buffers) {
    struct model_spec s;
    char name[300], err[16];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memset(err, '#', sizeof err);
    ck_assert(!model_parse(&with_toys, name, &s, err, 8));
    ck_assert_uint_lt(strlen(err), 8);
    ck_assert_int_eq(err[8], '#');
}
END_TEST

SUITE(host_models) {
    tcase_add_checked_fixture(tc, begin, NULL);
    TEST_LOOP(a_base_and_extensions, 0, 7);
    TEST_LOOP(refused_with_the_reason, 0, 14);
    TEST(what_the_product_has);
    TEST_LOOP(extensions_that_need_time, 0, (int)(sizeof of_time / sizeof of_time[0]));
    TEST(long_names_and_small_buffers);
}
