/* Tests the error messages for the files in test/bad. Each file contains mistakes, and lists the expected messages in
 * comments:
 *     // expect: LINE:COLUMN: message
 * The compiler must report exactly these messages, in this order. */
#include "frontend_help.h"
#include "test/test.h"
#include <dirent.h>

enum { MAX_FILES = 400 };

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int bad_files(char *names[MAX_FILES]) {
    DIR *dir = opendir("test/bad");
    int n = 0;
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir)) && n < MAX_FILES;) {
        size_t len = strlen(e->d_name);
        if (len > 4 && strcmp(e->d_name + len - 4, ".ptx") == 0)
            names[n++] = strdup(e->d_name);
    }
    closedir(dir);
    qsort(names, (size_t)n, sizeof *names, by_name);
    return n;
}

/* Writes the messages that the "expect:" comments of `text` contain, one message per line. */
static void expected_errors(const char *text, char *out, size_t size) {
    static const char mark[] = "// expect: ";
    size_t n = 0;
    out[0] = '\0';
    for (const char *at = text; (at = strstr(at, mark)); at++) {
        const char *from = at + sizeof mark - 1;
        int len = (int)strcspn(from, "\n");
        n += (size_t)snprintf(out + n, size - n, "%.*s\n", len, from);
    }
}

START_TEST(messages_are_as_the_file_says) {
    static char *names[MAX_FILES], expected[65536], got[65536];
    int n = bad_files(names), wrong = 0;
    ck_assert_int_ge(n, 60);
    for (int i = 0; i < n; i++) {
        char path[300];
        snprintf(path, sizeof path, "test/bad/%s", names[i]);
        char *text = read_whole(path);
        struct lowered *l = lower_text(text, NULL);
        lowered_errors(l, got, sizeof got);
        expected_errors(text, expected, sizeof expected);
        if (!expected[0] || strcmp(got, expected) != 0) {
            fprintf(stderr, "%s: expected\n%sbut got\n%s", path, expected, got);
            wrong++;
        }
        ck_assert_msg(!l->program || l->diags.errors, "%s gave a program", path);
        lowered_free(l);
        free(text);
        free(names[i]);
    }
    ck_assert_int_eq(wrong, 0);
}
END_TEST

/* If a file of test/bad is truncated at any byte, the compiler must report errors and must not crash. */
START_TEST(cut_files_do_not_crash) {
    static char *names[MAX_FILES];
    int n = bad_files(names);
    for (int i = 0; i < n; i++) {
        char path[300];
        snprintf(path, sizeof path, "test/bad/%s", names[i]);
        char *text = read_whole(path);
        size_t len = strlen(text);
        for (size_t cut = 20; cut < len; cut += 1 + len / 12) {
            char *part = strndup(text, len - cut);
            lowered_free(lower_text(part, NULL));
            free(part);
        }
        free(text);
        free(names[i]);
    }
}
END_TEST

START_TEST(a_missing_kernel_is_named_with_those_that_exist) {
    struct lowered *l = lower_text(".version 7.0 .target sm_70 .address_size 64 .entry first() { ret; }"
                                   ".entry second() { ret; }",
                                   "frist");
    char got[512];
    ck_assert_ptr_null(l->program);
    ck_assert_str_eq(lowered_errors(l, got, sizeof got), "1:1: there is no kernel 'frist' in this module\n");
    ck_assert_int_eq(l->diags.list[1].kind, DIAG_HELP);
    ck_assert_str_eq(l->diags.list[1].message, "did you mean 'first'?");
    lowered_free(l);
    l = lower_text(".version 7.0 .target sm_70 .address_size 64 .entry first() { ret; } .entry second() { ret; }",
                   "something");
    ck_assert_str_eq(l->diags.list[1].message, "its kernels are 'first', 'second'");
    lowered_free(l);
}
END_TEST

/* An unknown instruction has help if the text's version is later than 9.0. */
START_TEST(text_of_a_later_version_is_named) {
    static const struct {
        const char *version, *help;
    } rows[] = {{"9.0", ""},
                {"9.1", "the text is PTX 9.1, and Heddle knows PTX up to 9.0: compile with an older CUDA"}};
    for (int i = 0; i < 2; i++) {
        char text[128];
        snprintf(text, sizeof text, ".version %s .target sm_70 .address_size 64 .entry k() { foo.b32; ret; }",
                 rows[i].version);
        struct lowered *l = lower_text(text, NULL);
        ck_assert_str_eq(l->diags.list[0].message, "unknown instruction 'foo'");
        ck_assert_int_eq(l->diags.n, 1 + i);
        if (i)
            ck_assert_str_eq(l->diags.list[1].message, rows[i].help);
        lowered_free(l);
    }
}
END_TEST

/* The error about a second declaration has a note with the location of the first declaration. */
START_TEST(redefinitions_show_the_first) {
    struct lowered *l = lower_body(".reg .u32 x;\n.reg .f32 x;\nret;");
    int line, column;
    ck_assert_int_eq(l->diags.n, 2);
    ck_assert_int_eq(l->diags.list[1].kind, DIAG_NOTE);
    diag_position(&l->diags, l->diags.list[1].loc.begin, &line, &column);
    ck_assert_int_eq(line, 3);
    ck_assert_int_eq(column, 11);
    lowered_free(l);
}
END_TEST

START_TEST(suggestions) {
    static const struct {
        const char *body, *help;
    } cases[] = {
        {"bra DUNE; DONE: ret;", "did you mean 'DONE'?"},
        {".reg .u32 count; mov.u32 %r1, coumt; ret;", "did you mean 'count'?"},
        {".shared .u32 buffer; mov.u32 %r1, bufer; ret;", "did you mean 'buffer'?"},
        {"addd.s32 %r1, %r2, 1; ret;", "did you mean 'add'?"},
        {"mov.u32 %r1, %tidx; ret;", "did you mean '%tid.x'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lowered *l = lower_body(cases[i].body);
        ck_assert_msg(l->diags.n >= 2, "%s", cases[i].body);
        ck_assert_int_eq(l->diags.list[1].kind, DIAG_HELP);
        ck_assert_str_eq(l->diags.list[1].message, cases[i].help);
        lowered_free(l);
    }
}
END_TEST

/* A declaration of two billion registers, of which two are used, takes neither time nor memory. */
START_TEST(huge_ranges_are_free) {
    struct lowered *l = lower_body(".reg .u32 %x<2147483647>; ld.param.u64 %d1, [p]; ld.global.u32 %x2147483646, [%d1];"
                                   "st.global.u32 [%d1+4], %x2147483646; ret;");
    ck_assert_ptr_nonnull(l->program);
    ck_assert_uint_eq(l->program->n_regs, 2);
    lowered_free(l);
}
END_TEST

SUITE(frontend_bad) {
    TEST(messages_are_as_the_file_says);
    TEST(cut_files_do_not_crash);
    TEST(a_missing_kernel_is_named_with_those_that_exist);
    TEST(text_of_a_later_version_is_named);
    TEST(redefinitions_show_the_first);
    TEST(suggestions);
    TEST(huge_ranges_are_free);
}
