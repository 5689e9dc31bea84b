/* What --model takes, with a table of toy extensions beside the product's own. */
#include "host/models.h"
#include "test/test.h"

static const char *not_on_dpe(const struct model_spec *s) {
    return strcmp(s->base->name, "dpe") == 0 ? "needs one path at a time" : NULL;
}
static const char *needs_toy(const struct model_spec *s) {
    return model_has(s, "toy") ? NULL : "needs 'toy' beside it";
}

static const struct extension toys[] = {
    {"toy", "a toy", not_on_dpe}, {"tree", "another", needs_toy}, {"plain", "a third", NULL}, {.name = NULL}};
static struct model_tables with_toys;

static void begin(void) { with_toys = (struct model_tables){model_tables.models, toys}; }

static const struct {
    const char *text, *base, *extensions;
} good[] = {
    {"spe", "spe", ""},
    {"dws100", "dws100", ""},
    {"functional+toy", "functional", "toy"},
    {"its+plain+toy+tree", "its", "toy tree plain"}, /* in the table's order */
    {"dpe+plain", "dpe", "plain"},
    {"toy", "spe", "toy"}, /* an extension alone is that of spe */
    {"tree+toy", "spe", "toy tree"},
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
    {"toy+its", "model 'toy+its': 'spe' and 'its' are two bases; '+' joins one with extensions"},
    {"spe+toy+toy", "model 'spe+toy+toy': the extension 'toy' stands there twice"},
    {"toy+toy", "model 'toy+toy': the extension 'toy' stands there twice"},
    {"dpe+toy", "model 'dpe+toy' has no meaning: 'toy' needs one path at a time"},
    {"spe+tree", "model 'spe+tree' has no meaning: 'tree' needs 'toy' beside it"},
    {"spe+", "model 'spe+': a name is missing after '+'"},
    {"+toy", "model '+toy': a name is missing before '+'"},
    {"spe++toy", "model 'spe++toy': a name is missing after '+'"},
    {"", "which model? (see 'heddle list models')"},
    {"spee", "no model is called 'spee'; did you mean 'spe'?"},
    {"qqqqqqqq", "no model is called 'qqqqqqqq' (see 'heddle list models')"},
};

START_TEST(refused_with_the_reason) {
    struct model_spec s;
    char err[256] = "";
    ck_assert(!model_parse(&with_toys, bad[_i].text, &s, err, sizeof err));
    ck_assert_str_eq(err, bad[_i].message);
}
END_TEST

/* Decoupled affine computation has no timing model today, and says so. */
START_TEST(what_the_product_has) {
    struct model_spec s;
    char err[256] = "";
    ck_assert(model_parse(&model_tables, "functional+dac", &s, err, sizeof err));
    ck_assert(model_has(&s, "dac") && s.base->functional);
    ck_assert(!model_parse(&model_tables, "dpe+dac", &s, err, sizeof err));
    ck_assert_str_eq(err, "model 'dpe+dac' has no meaning: 'dac' has no timing model: functional+dac runs it, with "
                          "reconv= for its paths");
    ck_assert(!model_parse(&model_tables, "functional+dacs", &s, err, sizeof err));
    ck_assert_str_eq(err, "model 'functional+dacs': unknown extension 'dacs'; did you mean 'dac'?");
    for (const struct model *m = model_tables.models; m->name; m++)
        ck_assert(model_parse(&model_tables, m->name, &s, err, sizeof err) && s.base == m && !s.extensions[0]);
}
END_TEST

/* Names of any length, and a buffer that is too small: no write beyond it. */
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
    TEST(long_names_and_small_buffers);
}
