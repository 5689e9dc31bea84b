/* Tests the installed library: the names that it exports, and programs that are built only from installed files and run
 * in an empty folder. */
#include "test/test.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1 /* a build with sanitizers has no libheddle.so: programs would need the sanitizer's runtime */
#else
#define SANITIZED 0
#endif

static char build[PATH_MAX], dir[] = "/tmp/heddle-install-XXXXXX";
static bool is_made, is_installed;

/* Runs a shell command, checks its exit status, and returns its stdout and stderr. In the command, $B is the build
 * folder, $D the test's folder, and $U the installation. */
__attribute__((format(printf, 2, 3))) static char *shell(int status, const char *fmt, ...) {
    char command[4096], *out = NULL;
    int n = snprintf(command, sizeof command,
                     "exec 2>&1; B=%s; D=%s; U=$D/root/usr; unset HEDDLE_CONFIGS HEDDLE_KERNELS MAKEFLAGS MFLAGS "
                     "MAKELEVEL; export PKG_CONFIG_PATH=$U/lib/pkgconfig LD_LIBRARY_PATH=$U/lib; "
                     "flags=\"$(pkg-config --define-variable=prefix=$U --define-variable=libdir=$U/lib --cflags --libs "
                     "heddle 2>/dev/null)\"; ",
                     build, dir);
    va_list args;
    va_start(args, fmt);
    vsnprintf(command + n, sizeof command - (size_t)n, fmt, args);
    va_end(args);
    FILE *p = popen(command, "r");
    ck_assert_ptr_nonnull(p);
    size_t len = 0, cap = 0;
    ck_assert(getdelim(&out, &cap, '\0', p) >= 0 || (out = calloc(1, 1)) != NULL);
    len = strlen(out);
    int got = pclose(p);
    ck_assert_msg(WIFEXITED(got) && WEXITSTATUS(got) == status, "%s\nends with %d and says: %.*s", fmt,
                  WIFEXITED(got) ? WEXITSTATUS(got) : -WTERMSIG(got), (int)(len > 1500 ? 1500 : len), out);
    return out;
}

static bool have(const char *tool) {
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", tool);
    bool is = system(command) == 0;
    if (!is)
        fprintf(stderr, "host_install: %s is not there: its part is left out\n", tool);
    return is;
}

static void clean_up(void) { free(shell(0, "rm -rf $D")); }

/* Installs once for all tests, since tests only read the installed files. */
static void setup(void) {
    const char *binary = getenv("HEDDLE_BIN");
    if (is_installed)
        return;
    ck_assert_msg(realpath(binary ? binary : "build/heddle", build) != NULL, "no binary: build it, or set HEDDLE_BIN");
    *strrchr(build, '/') = '\0';
    if (!is_made)
        ck_assert_ptr_nonnull(mkdtemp(dir));
    if (!is_made)
        atexit(clean_up);
    is_made = is_installed = true;
    free(shell(0, "make -s install-built BUILD=$B PREFIX=/usr DESTDIR=$D/root && sed 's|^prefix=.*|prefix=/usr|; "
                  "s|^libdir=.*|libdir=/usr/lib|' $B/heddle.pc > $U/lib/pkgconfig/heddle.pc && mkdir -p $D/empty"));
}

/* Checks the symbols that `nm` lists. Only functions of Heddle (T) and the name of the symbol version (A) may be
 * exported, and no data (D, B). */
START_TEST(nothing_else_is_exported) {
    char *names = shell(0, "nm -D --defined-only $U/lib/libheddle.so | awk '{print $2, $3}' | sort -u");
    int ours = 0, others = 0;
    for (char *at = strtok(names, "\n"); at; at = strtok(NULL, "\n")) {
        bool is = strncmp(at, "T heddle_", 9) == 0 || strcmp(at, "T ptx_run@@HEDDLE_0") == 0;
        ours += is;
        if (!is && strcmp(at, "A HEDDLE_0") != 0 && ++others)
            fprintf(stderr, "exported: %s\n", at);
    }
    ck_assert_int_eq(others, 0);
    free(names);
    /* each function declared in heddle.h is exported; in the header a parenthesis follows its name */
    char *missing =
        shell(0, "grep -o '\\bheddle_[a-z_]*(\\|\\bptx_run(' $U/include/heddle.h | tr -d '(' | sort -u > $D/said; "
                 "nm -D --defined-only $U/lib/libheddle.so | sed 's/.* //; s/@.*//' | sort -u > $D/there; "
                 "wc -l < $D/said; comm -23 $D/said $D/there");
    ck_assert_msg(strchr(missing, '\n')[1] == '\0', "not exported: %s", missing);
    ck_assert_int_ge(ours, atoi(missing));
    free(missing);
    char *soname = shell(0, "readelf -d $U/lib/libheddle.so | sed -n 's/.*SONAME.*\\[\\(.*\\)\\]/\\1/p'");
    ck_assert_str_eq(soname, "libheddle.so.0\n");
    free(soname);
}
END_TEST

/* The global names of the static library must be exactly the names in heddle.h. The library must have no weak or common
 * symbols. */
START_TEST(nothing_else_is_global_in_the_archive) {
    char *names = shell(0, "nm -g --defined-only $U/lib/libheddle.a 2>/dev/null | awk 'NF == 3 {print $3}' | sort -u | "
                           "grep -v '^heddle_\\|^ptx_run$' | head -20; true");
    ck_assert_msg(*names == '\0', "global: %s", names);
    free(names);
    char *missing =
        shell(0, "grep -o '\\bheddle_[a-z_]*(\\|\\bptx_run(' $U/include/heddle.h | tr -d '(' | sort -u > $D/said; "
                 "nm -g --defined-only $U/lib/libheddle.a | awk 'NF == 3 {print $3}' | sort -u > $D/there; "
                 "comm -23 $D/said $D/there");
    ck_assert_msg(*missing == '\0', "missing: %s", missing);
    free(missing);
}
END_TEST

/* A program may define functions and variables with the names that Heddle's sources use internally. Such a program must
 * link with the static library. */
START_TEST(a_program_with_names_of_ours) {
    static const char *const names[] = {"fail",       "note",      "given",     "emit",     "dest",
                                        "cache_read", "arena_new", "inst_name", "mem_init", "yyparse"};
    if (!have("pkg-config"))
        return;
    free(shell(0, "sed 's/int main(/int heddle_example(/' examples/vecadd.c > $D/own.c"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        /* most of these names must occur in the internal archive, so that the test has an effect; `yyparse` is in
         * generated code */
        free(shell(0, "printf 'int %s(int x);\\nint %s(int x) { return x + %zu; }\\n' >> $D/own.c", names[i], names[i],
                   i));
    }
    char *ours =
        shell(0, "nm -g --defined-only $B/libheddle-internal.a 2>/dev/null | awk 'NF == 3 {print $3}' | grep -cx "
                 "'fail\\|note\\|given\\|emit\\|dest\\|cache_read\\|arena_new\\|mem_init'");
    ck_assert_int_ge(atoi(ours), 8);
    free(ours);
    free(shell(
        0, "printf 'int main(int n, char **v) { return heddle_example(n, v) ? 1 : fail(0) + note(0) + given(0) + "
           "emit(0) + dest(0) + cache_read(0) + arena_new(0) + inst_name(0) + mem_init(0) + yyparse(0) != 45; }"
           "\\n' >> $D/own.c && static=\"$(pkg-config --define-variable=prefix=$U --define-variable=libdir=$U/lib "
           "--static --cflags --libs heddle | sed 's/-lheddle/-l:libheddle.a/')\" && cc $D/own.c -o $D/own $static"));
    char *out = shell(0, "cd $D/empty && HEDDLE_KERNELS=$U/share/heddle/kernels ../own"); /* 0 + 1 + ... + 9 = 45 */
    ck_assert_msg(strncmp(out, "4096 sums are right: 2816 warp instructions, ", 45) == 0, "%s", out);
    free(out);
    free(shell(1, "ldd $D/own | grep -q libheddle"));
}
END_TEST

START_TEST(example_in_c) {
    if (!have("pkg-config"))
        return;
    free(shell(0, "cc -Wall -Wextra -Wpedantic -Werror examples/vecadd.c -o $D/vecadd $flags"));
    /* 4096 threads are 128 warps, and vecadd.ptx has 22 instructions: 2816. On volta the pass select folds 9 of the 22:
     * four loads of parameters, three cvta, the move of the CTA's size, and the product of the addresses. It adds a
     * move of the factor 4 of the addresses. So 14 instructions are left. The pass added adds a move and a shuffle at
     * the begin of the kernel: 16 * 128 = 2048 */
    char *timed = shell(0, "cd $D/empty && ../vecadd"), *plain = shell(0, "cd $D/empty && ../vecadd functional volta");
    ck_assert_msg(strncmp(timed, "4096 sums are right: 2816 warp instructions, ", 45) == 0, "%s", timed);
    ck_assert_str_eq(plain, "4096 sums are right: 2048 warp instructions\n");
    free(timed);
    free(plain);
    char *own = shell(0, "cd $D/empty && mkdir mine && printf '@include \"tiny.cfg\"\\ngpu: { sms = 2; };\\n' > "
                         "mine/fermi.cfg && HEDDLE_CONFIGS=mine ../vecadd");
    ck_assert_msg(strncmp(own, "4096 sums are right: 2816 warp instructions, ", 45) == 0, "%s", own);
    free(own);
    free(shell(2, "cd $D/empty && ../vecadd spe nosuch"));
}
END_TEST

START_TEST(example_in_cpp) {
    if (!have("pkg-config") || !have("c++"))
        return;
    free(shell(0, "c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror examples/saxpy.cpp -o $D/saxpy $flags"));
    char *out = shell(0, "cd $D/empty && ../saxpy"); /* 2 * 3 + 1 */
    ck_assert_str_eq(out, "y[0] is 7, y[127] is 7\n");
    free(out);
}
END_TEST

START_TEST(example_in_python) {
    if (!have("python3"))
        return;
    char *out = shell(0, "cp examples/ptx_run.py $D/empty && cd $D/empty && python3 ptx_run.py");
    ck_assert_str_eq(out, "64 products are right\n100000 products are right\n");
    free(out);
}
END_TEST

/* The shared library works without other installed files, since presets are compiled in. */
START_TEST(library_alone) {
    free(shell(0, "printf '#include <heddle.h>\\nint main(int n, char **v) { char e[512]; struct heddle_options o = "
                  "{.config = v[1]}; struct heddle *h = heddle_open(&o, e, sizeof e); puts(h ? heddle_machine(h) : e); "
                  "heddle_close(h); return n - 2; }' > $D/machine.c && mkdir $D/alone && cp $U/lib/libheddle.so.0 "
                  "$D/alone && cc $D/machine.c -I$U/include -L$D/alone -l:libheddle.so.0 -o $D/alone/machine"));
    char *volta = shell(0, "cd $D/empty && LD_LIBRARY_PATH=$D/alone ../alone/machine volta");
    ck_assert_str_eq(volta, "Quadro GV100\n");
    char *none = shell(0, "cd $D/empty && LD_LIBRARY_PATH=$D/alone ../alone/machine nosuch");
    ck_assert_msg(strstr(none, "there is no preset \"nosuch\"; known are: a100 a6000 ampere fermi ") == none, "%s",
                  none);
    free(volta);
    free(none);
}
END_TEST

/* Each function of the header has a manual page with its declaration and a description. */
START_TEST(every_function_has_a_page) {
    char *missing = shell(
        0, "for f in $(grep -o '\\bheddle_[a-z_]*(\\|\\bptx_run(' $U/include/heddle.h | tr -d '(' | sort -u); do "
           "m=$U/share/man/man3/$f.3; [ -r $m ] || m=/dev/null; "
           "awk -v f=$f '/^\\.SH/ {inside = /^\\.SH DESC/} inside {words += NF} "
           "index($0, \".B \") == 1 && index($0, f \"(\") {declared = 1} index($0, f \" \") == 1 && NF > 2 {named = 1} "
           "END {if (!declared || !named || words < 7) print f}' $m; done");
    ck_assert_msg(*missing == '\0', "no page, or an empty one: %s", missing);
    free(missing);
    if (have("groff")) {
        char *warnings = shell(0, "groff -mandoc -wmac -k -Tutf8 -z $U/share/man/man3/*.3");
        ck_assert_str_eq(warnings, "");
        free(warnings);
    }
}
END_TEST

/* Each command has a manual page with its name and every option of its --help; heddle(1) lists every command. */
START_TEST(every_command_has_a_page) {
    if (!have("help2man"))
        return;
    char *out = shell(
        0, "M=$U/share/man/man1; for c in $($B/heddle help --names); do grep -q \"^heddle-$c .. ..*\" "
           "$M/heddle-$c.1 && grep -q \"^.BR heddle-$c (1)\" $M/heddle.1 || echo no page: $c; "
           "sed 's/\\\\-/-/g' $M/heddle-$c.1 > $D/page; for o in $($B/heddle help $c | "
           "sed -n 's/^  \\(-.,\\|   \\) \\(--[a-z-]*\\).*/\\2/p'); do grep -q \"fB$o.f\" $D/page && echo found || "
           "echo no option: $c $o; done; done | sort | uniq -c");
    /* the output is a single line, which has the number of options of all commands */
    ck_assert_msg(atoi(out) >= 80 && strchr(out, '\n')[1] == '\0', "%s", out);
    free(out);
    if (have("groff")) {
        char *warnings = shell(0, "groff -mandoc -wmac -k -Tutf8 -z $U/share/man/man1/*.1");
        ck_assert_str_eq(warnings, "");
        free(warnings);
    }
}
END_TEST

/* The installed files are moved to a folder other than the build's prefix. They work there, without the source tree. */
START_TEST(another_prefix) {
    if (!have("pkg-config"))
        return;
    char *out =
        shell(0, "make -s install-built BUILD=$B PREFIX=$D/opt/heddle >/dev/null && cd $D/empty && P=$D/opt/heddle "
                 "&& export LD_LIBRARY_PATH=$P/lib && flags=$(PKG_CONFIG_PATH=$P/lib/pkgconfig pkg-config "
                 "--define-variable=prefix=$P --define-variable=libdir=$P/lib --cflags --libs heddle) && "
                 "cp $OLDPWD/examples/*.* . && cc vecadd.c -o v $flags && c++ saxpy.cpp -o s $flags && ./v && ./s && "
                 "$P/bin/heddle help memory | cmp - $OLDPWD/docs/memory.md && "
                 "cd $OLDPWD && make -s uninstall BUILD=$B PREFIX=$D/opt/heddle && find $D/opt ! -type d");
    ck_assert_msg(strncmp(out, "4096 sums are right: 2816 warp instructions, ", 45) == 0, "%s", out);
    const char *second = strchr(out, '\n') + 1;
    ck_assert_str_eq(second, "y[0] is 7, y[127] is 7\n");
    free(out);
}
END_TEST

START_TEST(uninstalled_without_a_trace) {
    is_installed = false;
    char *left = shell(0, "make -s uninstall BUILD=$B PREFIX=/usr DESTDIR=$D/root && find $D/root ! -type d");
    ck_assert_str_eq(left, "");
    free(left);
}
END_TEST

/* Builds with a packager's flags. The flags on which results depend come after the packager's flags. The build must use
 * neither -march=native nor -Werror. `make -n -B` prints the compiler command of each file. */
START_TEST(flags_that_results_depend_on) {
    static const char *const kept[] = {"-std=gnu11",
                                       "-fno-fast-math",
                                       "-ffp-contract=off",
                                       "-fno-math-errno",
                                       "-fno-trapping-math",
                                       "-fno-strict-aliasing",
                                       "-I."};
    char *lines =
        shell(0, "make -n -B V=1 BUILD=$D/b CFLAGS='-O2 -ffast-math' CPPFLAGS=-DMINE $D/b/isa/exec/exec_int.o "
                 "$D/b/host/context.o $D/b/host/cli/main.o $D/b/libheddle.so.0.1.0 2>/dev/null | "
                 "grep -- '-o .*[.]o \\|-shared'");
    int n = 0;
    for (char *at = strtok(lines, "\n"); at; at = strtok(NULL, "\n"), n++) {
        const char *theirs = strstr(at, "-O2 -ffast-math");
        bool compiled = strstr(at, " -c ") != NULL;
        ck_assert_msg(theirs != NULL, "%s", at);
        ck_assert_msg(!strstr(at, "-march=native") && !strstr(at, "-Werror"), "%s", at);
        ck_assert_msg(!compiled || strstr(at, "-DMINE"), "%s", at);
        for (int i = 0; i < 6; i++)
            ck_assert_msg(strstr(theirs, kept[i]) != NULL, "%s is not behind: %s", kept[i], at);
        ck_assert_msg(!compiled || strstr(at, kept[6]), "%s", at);
    }
    ck_assert_int_gt(n, 100); /* one line for each source file of libheddle.so, and one line for the link */
    free(lines);
}
END_TEST

/* gcc finds the profile of a source file by the name of the auxiliary output. So both builds of PGO=1 (the build with
 * counters, and the build that uses the profile) must use the same name. */
START_TEST(profiles_have_one_name) {
    static const char *const want[] = {"-fprofile-generate -dumpbase", "-fprofile-use"};
    char name[PATH_MAX], *lines = shell(0, "make -n -B V=1 PGO=1 CC=gcc SAN= POLL= TINY= BUILD=$D/b $D/b/isa/decode.o "
                                           "2>/dev/null | grep -- '-o .*/isa/decode[.]o '");
    snprintf(name, sizeof name, " -dumpbase %s/b-train/profile/isa/decode ", dir);
    int n = 0;
    for (char *at = strtok(lines, "\n"); at; at = strtok(NULL, "\n"), n++)
        ck_assert_msg(n < 2 && strstr(at, want[n]) && strstr(at, name), "%d: %s", n, at);
    ck_assert_int_eq(n, 2);
    free(lines);
}
END_TEST

/* PGO=1 needs gcc, and cannot be combined with SAN, POLL or TINY. The Makefile must refuse other builds before it
 * compiles anything. */
START_TEST(profiles_need_gcc_and_a_fast_build) {
    static const char *const variants[] = {"SAN=1", "SAN=thread", "POLL=1", "TINY=1"};
    for (int i = 0; i < 4; i++) {
        char *said = shell(2, "make -n PGO=1 CC=gcc SAN= POLL= TINY= %s", variants[i]);
        ck_assert_msg(strstr(said, "PGO=1 is for speed: it does not go with SAN, POLL or TINY") != NULL, "%s", said);
        free(said);
    }
    if (!have("clang"))
        return;
    char *said = shell(2, "make -n PGO=1 CC=clang SAN= POLL= TINY=");
    ck_assert_msg(strstr(said, "PGO=1 needs gcc, and clang is clang: make PGO=1 CC=gcc") != NULL, "%s", said);
    free(said);
}
END_TEST

SUITE(host_install) {
    if (SANITIZED)
        return;
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_set_timeout(tc, 120);
    TEST(nothing_else_is_exported);
    TEST(nothing_else_is_global_in_the_archive);
    TEST(a_program_with_names_of_ours);
    TEST(example_in_c);
    TEST(example_in_cpp);
    TEST(example_in_python);
    TEST(library_alone);
    TEST(every_function_has_a_page);
    TEST(every_command_has_a_page);
    TEST(another_prefix);
    TEST(uninstalled_without_a_trace);
    TEST(flags_that_results_depend_on);
    TEST(profiles_have_one_name);
    TEST(profiles_need_gcc_and_a_fast_build);
}
