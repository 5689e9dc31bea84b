/* Tests the text of configuration files: included files and their folders, comments, long names, unreadable files, and
 * the line number in each message. */
#include "test/test.h"
#include "timing/config/config.h"
#include "timing/config/config_scan.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_TEXT = (1 << 20) + 16 };
static char err[8192], dir[32], path[64], text[MOST_TEXT];
static struct config c;

static void setup(void) {
    snprintf(dir, sizeof dir, "/tmp/heddle-text-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}

static const char *file(const char *name, const char *what) {
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(what, f), 0);
    ck_assert_int_eq(fclose(f), 0);
    return path;
}

static void taken(const char *what) {
    *err = 0;
    ck_assert_msg(config_load(&c, file("main.cfg", what), err, sizeof err), "%s: %.200s", err, what);
}

/* Checks that heddle refuses the text. The message must be the path of file `name` in the folder, followed by
 * `says`. */
static void refused(const char *what, const char *name, const char *says) {
    ck_assert_msg(!config_load(&c, file("main.cfg", what), err, sizeof err), "taken: %.200s", what);
    size_t len = strlen(dir);
    ck_assert_msg(strncmp(err, dir, len) == 0 && err[len] == '/' && strncmp(err + len + 1, name, strlen(name)) == 0 &&
                      strcmp(err + len + 1 + strlen(name), says) == 0,
                  "%s", err);
}

/* An included file is found in the folder of the including file, or by its absolute path. Nine includes one after
 * another are not nested, so they are accepted. */
START_TEST(files_are_found_beside_each_other) {
    char absolute[256];
    snprintf(absolute, sizeof absolute, "%s/sub", dir);
    ck_assert_int_eq(mkdir(absolute, 0700), 0);
    file("sub/inner.cfg", "sm = { warps = 24; };");
    file("sub/outer.cfg", "@include \"inner.cfg\"\nsm = { ctas = 3; };");
    taken("@include \"sub/outer.cfg\"\n");
    ck_assert(c.sm.warps == 24 && c.sm.ctas == 3);
    snprintf(absolute, sizeof absolute, "@include \"%s/sub/outer.cfg\"\n", dir);
    taken(absolute);
    ck_assert(c.sm.warps == 24 && c.sm.ctas == 3);
    *text = 0;
    for (int i = 0; i < 9; i++)
        strcat(text, "@include \"sub/inner.cfg\"\n");
    taken(text);
    ck_assert_uint_eq(c.sm.warps, 24);
}
END_TEST

/* Files may be nested eight deep. If the eighth file includes a ninth, it is refused. */
START_TEST(eight_files_may_be_nested) {
    file("8", "sm = { warps = 24; };");
    for (int i = 7; i >= 1; i--) {
        char name[16], what[64];
        snprintf(name, sizeof name, "%d", i);
        snprintf(what, sizeof what, "\n@include \"%d\"", i + 1);
        file(name, what);
    }
    taken("@include \"1\"");
    ck_assert_uint_eq(c.sm.warps, 24);
    file("8", "# more\n@include \"9\"");
    file("9", "");
    refused("@include \"1\"", "8", ":2: more than 8 files include each other");
}
END_TEST

START_TEST(forms_of_an_include) {
    refused("# one\n@include sub.cfg\n", "main.cfg", ":2: @include takes a file name in quotes");
    refused("@include \"sub.cfg\n\"", "main.cfg", ":1: @include takes a file name in quotes");
    refused("sm = {\n@include sub.cfg\n};", "main.cfg", ":2: @include takes a file name in quotes");
    refused("@include \"missing.cfg\"", "missing.cfg", ": cannot read this configuration: No such file or directory");
    refused("sm = {\n@include \"missing.cfg\"\n};", "missing.cfg",
            ": cannot read this configuration: No such file or directory");
    /* the folder, a slash, the name and the final zero byte must fit in PATH_MAX, which is 4096 bytes */
    for (int more = 0; more < 2; more++) {
        int n = 4096 - (int)strlen(dir) - 2 + more;
        snprintf(text, sizeof text, "\n@include \"%0*d\"", n, 0);
        ck_assert(!config_load(&c, file("main.cfg", text), err, sizeof err));
        ck_assert_ptr_nonnull(strstr(err, more ? "main.cfg:2: the file name is too long" : "cannot read this"));
    }
}
END_TEST

/* A key may have up to 126 bytes, including its group and the dot. */
START_TEST(names_have_a_length) {
    for (int n = 126; n <= 127; n++) {
        char says[256];
        snprintf(text, sizeof text, "a%0*d = 1;", n - 1, 0);
        snprintf(says, sizeof says, ":1: unknown option \"a%0*d\"; `heddle list options` shows them all", n - 1, 0);
        if (n == 127)
            snprintf(says, sizeof says, ":1: the name is too long");
        refused(text, "main.cfg", says);
        snprintf(text, sizeof text, "\nsm = {\n a%0*d = 1; };", n - 4, 0); /* three for "sm." */
        *strstr(says, "1:") = '3';
        if (n == 127)
            refused(text, "main.cfg", says);
        else
            ck_assert(!config_load(&c, file("main.cfg", text), err, sizeof err) && strstr(err, ":3: unknown option"));
    }
}
END_TEST

/* A file of one MiB is refused. A file with one byte less is accepted. */
START_TEST(files_have_a_size) {
    memset(text, ' ', (1 << 20) - 1);
    text[(1 << 20) - 1] = 0;
    memcpy(text, "sm={warps=24;};", 15);
    taken(text);
    ck_assert_uint_eq(c.sm.warps, 24);
    text[(1 << 20) - 1] = ' ', text[1 << 20] = 0;
    refused(text, "main.cfg", ": cannot read this configuration: File too large");
}
END_TEST

/* heddle checks only the numbers that libconfig reads, and not digits in comments, names and strings. */
START_TEST(only_values_are_numbers) {
    taken("gpu = { sms = 0xE; name = \"99999999999\"; }; // 99999999999\n# 99999999999\n/* 99999999999 */\n");
    ck_assert_uint_eq(c.gpu.sms, 14);
    taken("gpu = { sms = 2; }; /* 99999999999 // */ clock = { core_mhz = 1.5e3; };");
    ck_assert(c.gpu.sms == 2 && c.gpu.core_mhz == 1500);
    refused("a99999999999 = 1;", "main.cfg",
            ":1: unknown option \"a99999999999\"; `heddle list options` shows them all");
    refused("gpu = { name = \"a\\\"99999999999\"; };", "main.cfg",
            ":1: gpu.name cannot hold quotes, backslashes or control characters");
    refused("gpu = { name = \"a\\\\\"; sms = 99999999999; };", "main.cfg",
            ":1: 99999999999 is out of range: no option takes more than 2147483647");
    refused("gpu = { name = \"1\n2\"; /*\n*/ sms = 99999999999; };", "main.cfg",
            ":3: 99999999999 is out of range: no option takes more than 2147483647");
    taken("gpu = { sms = 1; }; /* 99999999999");
    taken("/* 99999999999");
    refused("/* a\n\n*/ @include \"none\"", "none", ": cannot read this configuration: No such file or directory");
    refused("/* a\n\n*/ @include none", "main.cfg", ":3: @include takes a file name in quotes");
}
END_TEST

/* A space replaces a comment; its newlines and everything in strings stay. A comment without an end stays, too. */
static const struct {
    const char *text, *left;
} comments[] = {
    {"a = 1; # x\nb = 2;", "a = 1;  \nb = 2;"},
    {"a // \"x\n/* y\nz */ b", "a  \n \n b"},
    {"a = \"# // /* x\"; # y", "a = \"# // /* x\";  "},
    {"a = \"\\\" # x\"; b", "a = \"\\\" # x\"; b"},
    {"a /* x", "a /* x"},
    {"a /*/ b", "a /*/ b"},
    {"a/**/b / c", "a b / c"},
    {"a /* x/", "a /* x/"},
    {"#* x", " "},
    {"", ""},
};

START_TEST(comments_are_dropped) {
    snprintf(text, sizeof text, "%s", comments[_i].text);
    config_drop_comments(text);
    ck_assert_str_eq(text, comments[_i].left);
}
END_TEST

SUITE(timing_config_text) {
    TEST_LOOP(comments_are_dropped, 0, (int)(sizeof comments / sizeof *comments));
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(files_are_found_beside_each_other);
    TEST(eight_files_may_be_nested);
    TEST(forms_of_an_include);
    TEST(names_have_a_length);
    TEST(files_have_a_size);
    TEST(only_values_are_numbers);
}
