/* Tests the files that heddle writes: their owner and mode, when an existing file is replaced, and which files are
 * refused before a run. */
#include "cli_help.h"
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes a kernel in which every thread stores 7 to its word of the buffer. */
static void write_sevens(void) {
    write_kernel(".param .u64 p", "ld.param.u64 %rd1,[p]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd2,%r1,4;\n"
                                  "add.s64 %rd1,%rd1,%rd2; mov.u32 %r2,7; st.global.u32 [%rd1],%r2;");
}

#define SEVENS "run k.ptx -g 1 -b 4 -m functional "

static void is_sevens(const char *path) {
    static const uint32_t want[4] = {7, 7, 7, 7};
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s is missing", path);
    uint32_t got[5];
    ck_assert_uint_eq(fread(got, 1, sizeof got, f), sizeof want);
    fclose(f);
    ck_assert_mem_eq(got, want, sizeof want);
}

static void says_mine(const char *path) {
    char *text = slurp(path);
    ck_assert_str_eq(text, "mine");
    free(text);
}

static void write_mine(const char *path) { write_file(path, "mine", 4); }

/* Checks that no temporary file is left. */
static void is_clean(void) { ck_assert_int_ne(system("ls -A | grep -q '^\\.heddle-'"), 0); }

/* Runs a shell command, in which $H stands for heddle. Returns its exit status. */
static int shell(const char *command) {
    setenv("H", cli_binary, 1);
    int how = system(command);
    ck_assert(WIFEXITED(how));
    return WEXITSTATUS(how);
}

START_TEST(other_files_are_left_alone) {
    write_sevens();
    write_mine("y.tmp");
    write_mine("r.json.tmp");
    STATUS(HEDDLE_OK, SEVENS "-a out:y:16 --json r.json");
    is_sevens("y");
    says_mine("y.tmp");
    says_mine("r.json.tmp");
    is_clean();
}
END_TEST

START_TEST(one_file_is_written_once) {
    write_sevens();
    write_mine("y");
    ck_assert_int_eq(symlink("y", "link"), 0);
    ck_assert_int_eq(symlink("new", "ahead"), 0); /* `ahead` links to a file that does not exist yet */
    ck_assert_int_eq(link("y", "hard"), 0);
    ck_assert_int_eq(mkdir("d", 0777), 0);
    static const char *const pairs[] = {
        "-a out:y:16 --json y",           "-a out:y:16 --json ./y",     "-a out:y:16 --json d/../y",
        "-a out:y:16 --json link",        "-a out:link:16 --json hard", "-a out:new:16 --json ahead",
        "-a out:z:16 --json ./z",         "-a out:-:16 --json -",       "-a out:-:16 --json /dev/stdout",
        "-a out:d/../z:16 --json d/../z",
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        STATUS(HEDDLE_USAGE, SEVENS "%s", pairs[i]);
        SAYS(err, "--json and argument 1 both write");
        says_mine("y");
    }
    STATUS(HEDDLE_USAGE, "run k.ptx -g 1 -b 4 -a zero:16 --trace t --sample 10 --samples ./t");
    SAYS(err, "--trace and --samples both write");
    STATUS(HEDDLE_USAGE, "bench vecadd --json r --csv ./r");
    SAYS(err, "--json and --csv both write");
    STATUS(HEDDLE_USAGE, "compare vecadd -m spe,dpe --json r --csv ./r");
    SAYS(err, "--json and --csv both write");
    STATUS(HEDDLE_OK, SEVENS "-a out:/dev/null:16 --json /dev/null");
    ck_assert(!exists("new") && !exists("z") && !exists("r"));
    is_clean();
}
END_TEST

START_TEST(inputs_are_not_overwritten) {
    write_sevens();
    write_file("x", "0123456789abcdef", 16);
    ck_assert_int_eq(link("x", "hard"), 0);
    static const struct {
        const char *args, *part;
    } cases[] = {
        {"-a in:x --json x", "--json would overwrite x, which argument 1 reads"},
        {"-a in:x --json hard", "--json would overwrite hard, which argument 1 reads"},
        {"-a in:x --json k.ptx", "--json would overwrite k.ptx, which this command reads"},
        {"-a out:./k.ptx:16", "argument 1 would overwrite ./k.ptx"},
        {"-a inout:x:k.ptx", "argument 1 would overwrite k.ptx"},
        {"-a inout:x:y --json x", "--json would overwrite x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        STATUS(HEDDLE_USAGE, SEVENS "%s", cases[i].args);
        SAYS(err, cases[i].part);
    }
    STATUS(HEDDLE_USAGE, "inspect k.ptx --paths -g 1 -b 4 -a zero:16 --svg ./k.ptx");
    SAYS(err, "--svg would overwrite ./k.ptx");
    char *kernel = slurp("k.ptx");
    SAYS(kernel, ".visible .entry k");
    free(kernel);
    STATUS(HEDDLE_OK, SEVENS "-a inout:x:x"); /* asked for */
    is_sevens("x");
    STATUS(HEDDLE_OK, SEVENS "-a inout:x:./hard");
    is_clean();
}
END_TEST

START_TEST(mode_and_links_stay) {
    struct stat st;
    write_sevens();
    ck_assert_int_eq(mkdir("d", 0777), 0);
    write_mine("d/y");
    ck_assert_int_eq(chmod("d/y", 0640), 0);
    ck_assert_int_eq(symlink("d/y", "one"), 0);
    ck_assert_int_eq(symlink("one", "two"), 0);
    ck_assert_int_eq(symlink("../one", "d/back"), 0);
    static const char *const names[] = {"d/y", "one", "two", "d/back"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        STATUS(HEDDLE_OK, SEVENS "-a out:%s:16", names[i]);
        is_sevens("d/y");
        ck_assert_int_eq(stat("d/y", &st), 0);
        ck_assert_uint_eq(st.st_mode & 07777, 0640);
        ck_assert(lstat(names[i], &st) == 0 && S_ISLNK(st.st_mode) == (i > 0));
        write_mine("d/y"); /* keeps the mode */
    }
    ck_assert_int_eq(symlink("d/later", "dangling"), 0);
    STATUS(HEDDLE_OK, SEVENS "-a out:dangling:16");
    is_sevens("d/later");
    ck_assert_int_eq(symlink("round", "round"), 0);
    STATUS(HEDDLE_USAGE, SEVENS "-a out:round:16");
    SAYS(err, "Too many levels of symbolic links");
    ck_assert_int_eq(shell("umask 027; $H run k.ptx -g 1 -b 4 -m functional -a out:fresh:16 >/dev/null"), 0);
    ck_assert_int_eq(stat("fresh", &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0640);
    is_clean();
}
END_TEST

START_TEST(what_cannot_be_written_is_refused_beforehand) {
    write_sevens();
    write_mine("y");
    ck_assert_int_eq(chmod("y", 0444), 0);
    ck_assert_int_eq(mkdir("d", 0777), 0);
    char longest[300];
    memset(longest, 'n', 256); /* one character more than a file name may have */
    longest[256] = '\0';
    const struct {
        const char *path, *part;
    } cases[] = {{"y", "y: is write-protected"},
                 {"d", "d: Is a directory"},
                 {"d/", "d/: Is a directory"},
                 {"new/", "new/: Is a directory"},
                 {"no/where", "no/where: No such file or directory"},
                 {"y/z", "y/z: Not a directory"},
                 {"/proc/heddle", "/proc/heddle: "},
                 {"/dev/fd/77", "/dev/fd/77: is not open"},
                 {"/dev/fd/0", "/dev/fd/0: is open for reading only"},
                 {longest, "File name too long"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        /* the kernel never ends, so heddle must refuse the file before the run */
        write_kernel(".param .u64 p", "L: bra L;");
        STATUS(HEDDLE_USAGE, SEVENS "-a out:%s:16", cases[i].path);
        SAYS(err, cases[i].part);
        STATUS(HEDDLE_USAGE, SEVENS "-a zero:16 --json %s", cases[i].path);
        SAYS(err, cases[i].part);
    }
    says_mine("y");
    is_clean();
}
END_TEST

START_TEST(names_may_be_as_long_as_they_come) {
    char longest[300];
    write_sevens();
    memset(longest, 'n', 255);
    longest[255] = '\0';
    for (int again = 0; again < 2; again++) { /* first a new file, then the existing file */
        STATUS(HEDDLE_OK, SEVENS "-a out:%s:16", longest);
        is_sevens(longest);
    }
    is_clean();
}
END_TEST

START_TEST(a_full_disk_loses_nothing) {
    write_sevens();
    write_mine("y");
    STATUS(HEDDLE_USAGE, SEVENS "-a out:y:16 --json /dev/full");
    SAYS(err, "/dev/full: the result cannot be written: No space left on device\n");
    says_mine("y");
    STATUS(HEDDLE_USAGE, "run k.ptx -g 1 -b 4 -a out:y:16 --trace /dev/full");
    SAYS(err, "/dev/full: No space left on device");
    STATUS(HEDDLE_USAGE, "bench vecadd -m functional --csv /dev/full");
    SAYS(err, "/dev/full: No space left on device");
    write_mine("y");
    /* the file size limit is 512 bytes, and the result needs some thousand bytes */
    ck_assert_int_eq(
        shell("(ulimit -f 1; exec $H run k.ptx -g 1 -b 4 -m functional -a zero:16 --json y >o.txt 2>e.txt)"),
        HEDDLE_USAGE);
    char *text = slurp("e.txt");
    SAYS(text, "File too large");
    free(text);
    says_mine("y");
    is_clean();
}
END_TEST

START_TEST(pipes_and_open_files_are_written_directly) {
    write_sevens();
    ck_assert_int_eq(shell("mkfifo p && (cat p >got & $H run k.ptx -g 1 -b 4 -m functional -a out:p:16 >/dev/null; "
                           "s=$?; wait; exit $s)"),
                     0);
    is_sevens("got");
    struct stat st;
    ck_assert(stat("p", &st) == 0 && S_ISFIFO(st.st_mode));
    ck_assert_int_eq(
        shell("(printf ab; $H run k.ptx -g 1 -b 4 -m functional -a out:/dev/fd/5:16 5>&1 >/dev/null) >five"), 0);
    char *text = slurp("five");
    ck_assert_mem_eq(text, "ab\7\0\0\0\7\0\0\0\7\0\0\0\7\0\0\0", 18);
    free(text);
    is_clean();
}
END_TEST

/* Writes a kernel in which each thread prints the line "Hej!". */
static void write_printer(void) {
    static const char text[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                               ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
                               ".global .align 1 .b8 hello[6] = {72, 101, 106, 33, 10, 0};\n"
                               ".visible .entry k()\n{\n.reg .b64 %rd<3>; .reg .b32 %r<2>;\n"
                               "mov.u64 %rd1, hello; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, 0;\n"
                               "{ .param .b64 f; .param .b64 a; .param .b32 r;\n"
                               "st.param.b64 [f], %rd1; st.param.b64 [a], %rd2;\n"
                               "call.uni (r), vprintf, (f, a);\nld.param.b32 %r1, [r]; }\nret;\n}\n";
    write_file("k.ptx", text, sizeof text - 1);
}

START_TEST(a_result_on_stdout_is_alone_there) {
    static const char *const paths[] = {"-", "/dev/stdout", "/dev/fd/1"}, *const models[] = {"functional", "spe"};
    write_printer();
    for (int i = 0; i < 3; i++)
        for (int m = 0; m < 2; m++) {
            STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 2 -m %s --json %s", models[m], paths[i]);
            cJSON *o = cJSON_ParseWithOpts(out, NULL, true);
            ck_assert_msg(o != NULL, "no JSON: %.300s", out);
            cJSON_Delete(o);
            ck_assert_str_eq(err, "Hej!\nHej!\n");
        }
    STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 2 --trace - --profile");
    cJSON *o = cJSON_ParseWithOpts(out, NULL, true);
    ck_assert_msg(o != NULL, "no JSON: %.300s", out);
    cJSON_Delete(o);
    SAYS(err, "Hej!\nHej!\n");
    STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 2 --sample 100 --samples -");
    ck_assert_msg(strncmp(out, "Hej", 3) != 0 && !strstr(out, "lane utilisation"), "%.300s", out);
    STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 2");
    SAYS(out, "Hej!\nHej!\n");
    ck_assert_str_eq(err, "");
    /* stdout is redirected to the file that heddle would write */
    ck_assert_int_eq(shell("$H run k.ptx -g 1 -b 2 --json same >same 2>e.txt"), HEDDLE_USAGE);
    char *text = slurp("e.txt");
    SAYS(text, "--json writes same, and so does the standard output of this command");
    free(text);
}
END_TEST

/* The file is longer than the parts in which heddle copies it, and no multiple of them. */
START_TEST(a_large_input_is_copied_whole) {
    write_sevens();
    ck_assert_int_eq(shell("seq 400000 >x"), 0); /* 2,688,895 bytes */
    STATUS(HEDDLE_OK, SEVENS "-a inout:x:y");
    ck_assert_int_eq(shell("cmp -i 16 x y && test $(wc -c <y) = 2688895"), 0);
}
END_TEST

SUITE(cli_files) {
    TEST(a_large_input_is_copied_whole);
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(other_files_are_left_alone);
    TEST(one_file_is_written_once);
    TEST(inputs_are_not_overwritten);
    TEST(mode_and_links_stay);
    TEST(what_cannot_be_written_is_refused_beforehand);
    TEST(names_may_be_as_long_as_they_come);
    TEST(a_full_disk_loses_nothing);
    TEST(pipes_and_open_files_are_written_directly);
    TEST(a_result_on_stdout_is_alone_there);
}
