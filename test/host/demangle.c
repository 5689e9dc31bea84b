/* Tests demangling of C++ names, and the search for the kernel that a user's name selects. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

static struct heddle *h;
static void setup(void) {
    char err[256];
    h = heddle_open(&(struct heddle_options){.model = "functional"}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
}
static void teardown(void) { heddle_close(h); }

/* Mangled names and their demangled form, by the Itanium C++ ABI. A mangled name is _Z, then a length and a name (or N,
 * several names, E), then template arguments (I ... E), then parameter types: i int, f float, P pointer, K const, F
 * result and parameters E function. The name of a template instance has its result type before its parameters. */
START_TEST(names_are_as_they_were_written) {
    static const struct {
        const char *mangled, *text;
    } names[] = {{"_Z5saxpyifPKfPf", "saxpy(int, float, float const*, float*)"},
                 {"_ZN2ns1fEv", "ns::f()"},
                 {"_Z4fillIiEvPT_i", "void fill<int>(int*, int)"},
                 {"_ZN2ns1fILi3EEEvi", "void ns::f<3>(int)"},
                 {"saxpy", "saxpy"},
                 {"_Z", "_Z"},
                 {"_Zwhat", "_Zwhat"}, /* none of C++ */
                 {"", ""}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char out[64];
        heddle_demangle(names[i].mangled, out, sizeof out);
        ck_assert_str_eq(out, names[i].text);
    }
    char little[6] = "xxxxx";
    heddle_demangle("_ZN2ns1fEv", little, sizeof little);
    ck_assert_str_eq(little, "ns::f");
    heddle_demangle("_ZN2ns1fEv", little, 1);
    ck_assert_str_eq(little, "");
    little[0] = 'x';
    heddle_demangle("_ZN2ns1fEv", little, 0);
    ck_assert_int_eq(little[0], 'x');
    heddle_demangle(NULL, little, sizeof little);
    ck_assert_str_eq(little, "");
    heddle_demangle("_ZN2ns1fEv", NULL, 9);
}
END_TEST

/* Loads a module that has a kernel for each of these names. */
static struct heddle_module *load(const char *const *names) {
    char text[4096];
    int at = snprintf(text, sizeof text, ".version 7.0\n.target sm_70\n.address_size 64\n");
    for (; *names; names++)
        at += snprintf(text + at, sizeof text - (size_t)at, ".visible .entry %s()\n{\nret;\n}\n", *names);
    struct heddle_module *m = heddle_module_text(h, "names.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    return m;
}

/* A name on the command line may omit parameters, template arguments and the result type. Parentheses inside the
 * parameters do not end the parameter list. */
START_TEST(a_name_may_be_part_of_what_was_written) {
    static const char *const kernels[] = {
        "_ZN2ns1fILi3EEEvi", "_Z4fillIPFviEEvT_S1_", "_Z1gPFviE", "plain", "_Z2hhi", NULL};
    static const struct {
        const char *wanted;
        int kernel; /* -1: none */
    } cases[] = {{"_ZN2ns1fILi3EEEvi", 0},
                 {"void ns::f<3>(int)", 0},
                 {"ns::f<3>(int)", 0},
                 {"ns::f<3>", 0},
                 {"ns::f", 0},
                 {"f", -1},
                 {"ns::f<4>", -1},
                 {"ns::f<3>(", -1},
                 {"void ns::f", -1},
                 {"fill", 1},
                 {"fill<void (*)(int)>", 1},
                 {"fill<void (*)(int)>(void (*)(int), void (*)(int))", 1},
                 {"fil", -1},
                 {"g", 2},
                 {"g(void (*)(int))", 2},
                 {"plain", 3},
                 {"plain()", -1},
                 {"hh", 4},
                 {"", -1}};
    struct heddle_module *m = load(kernels);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *found = heddle_find(h, m, cases[i].wanted);
        if (cases[i].kernel < 0)
            ck_assert_msg(!found, "'%s': %s", cases[i].wanted, found);
        else
            ck_assert_msg(found && strcmp(found, kernels[cases[i].kernel]) == 0, "'%s': %s", cases[i].wanted,
                          found ? found : heddle_error(h));
    }
}
END_TEST

/* If two kernels match a name, the message lists both kernels, mangled and demangled. A longer name then selects one
 * kernel. */
START_TEST(several_may_be_meant) {
    static const char *const kernels[] = {"_Z1fIiEvT_", "_Z1fIfEvT_", "_Z1gi", NULL};
    struct heddle_module *m = load(kernels);
    ck_assert_ptr_null(heddle_find(h, m, "f"));
    ck_assert_int_eq(heddle_status(h), HEDDLE_USAGE);
    ck_assert_msg(strstr(heddle_error(h), "names.ptx: 'f' may be several:\n    _Z1fIiEvT_, void f<int>(int)\n    "
                                          "_Z1fIfEvT_, void f<float>(float)\n"),
                  "%s", heddle_error(h));
    ck_assert_ptr_null(strstr(heddle_error(h), "_Z1gi"));
    ck_assert_str_eq(heddle_find(h, m, "f<float>"), "_Z1fIfEvT_");
    ck_assert_str_eq(heddle_find(h, m, "f<int>(int)"), "_Z1fIiEvT_");
}
END_TEST

SUITE(host_demangle) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(names_are_as_they_were_written);
    TEST(a_name_may_be_part_of_what_was_written);
    TEST(several_may_be_meant);
}
