/* Tests the source lines in the output of `inspect --pass affine` and `decouple`. */
#include "mechanisms/all.h"
#include "test/frontend/frontend_help.h"
#include "test/test.h"
#include <sys/stat.h>
#include <unistd.h>

static char *dump(const char *text, const char *pass) {
    static const char *const dac[] = {"dac", NULL};
    char *out = NULL;
    size_t size;
    FILE *f = open_memstream(&out, &size);
    struct lower_options o = {
        .context = {.extensions = dac, .model = "spe"}, .passes = mechanism_passes(), .dump_after = pass, .dump_to = f};
    struct lowered *l = lower_text(text, NULL);
    struct program *p = frontend_lower(l->image, "k", &o);
    ck_assert_ptr_nonnull(p);
    program_free(p);
    lowered_free(l);
    fclose(f);
    return out;
}

static void has(const char *text, const char *what) {
    ck_assert_msg(strstr(text, what) != NULL, "%s in\n%s", what, text);
}

#define BODY(one, two)                                                                                                 \
    ".version 7.0\n.target sm_70\n.address_size 64\n%s.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<3>;\n"        \
    ".reg .b64 %%a<3>;\n ld.param.u64 %%a1,[p];\n" one "mov.u32 %%r1,%%tid.x;\n  mad.wide.u32 %%a1,%%r1,4,%%a1;\n" two \
    " ld.global.u32 %%r2,[%%a1]; add.u32 %%r2,%%r2,1;\n st.global.u32 [%%a1],%%r2;\n ret;\n}\n"

/* Without .loc, each line of the PTX is printed once, before the instructions made from it, without blanks at its start
 * and end. */
START_TEST(lines_of_the_ptx) {
    char text[1024];
    snprintf(text, sizeof text, BODY("", ""), "");
    char *affine = dump(text, "affine"), *streams = dump(text, "decouple");
    has(affine, "\n; line 10: mad.wide.u32 %a1,%r1,4,%a1;\naffine    *");
    has(affine, "\n; line 11: ld.global.u32 %r2,[%a1]; add.u32 %r2,%r2,1;\nat affine");
    has(streams, "\n; line 11: ld.global.u32 %r2,[%a1]; add.u32 %r2,%r2,1;\n     0  ld.u32 %r2, deq.data  // 11\n"
                 "     1  add.u32 %r2, %r2, 0x1  // 11\n; line 12: st.global.u32 [%a1],%r2;\n");
    free(affine);
    free(streams);
}
END_TEST

/* With .loc, the listing has the location and the text of that line. If the file cannot be read, only the location
 * is printed. */
START_TEST(lines_of_a_source_file) {
    char text[2048], files[600], path[256], fifo[256], want[400];
    snprintf(path, sizeof path, "build/dump-source-%d.cu", (int)getpid());
    snprintf(fifo, sizeof fifo, "build/dump-source-%d.fifo", (int)getpid());
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("int a;\n\tp[i] \x1b[2J+= 1;", f);
    fclose(f);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    snprintf(files, sizeof files, ".file 1 \"%s\"\n.file 2 \"%s\"\n.file 3 \"not/there.cu\"\n", path, fifo);
    snprintf(text, sizeof text, BODY(" .loc 1 2 3\n", " .loc 3 7 1\n"), files);
    char *affine = dump(text, "affine"), *streams = dump(text, "decouple");
    snprintf(want, sizeof want, "\n; %s:2: p[i] ?[2J+= 1;\naffine", path);
    has(affine, want);
    has(affine, "\n; not/there.cu:7\nat affine");
    has(streams, "\n; not/there.cu:7\n     0  ld.u32 %r2, deq.data");
    free(affine);
    free(streams);
    /* the first .loc names a line beyond the end of the file; the second .loc names a file that does not exist */
    snprintf(text, sizeof text, BODY(" .loc 1 3 3\n", " .loc 2 1 1\n"), files);
    affine = dump(text, "affine");
    snprintf(want, sizeof want, "\n; %s:3\naffine", path);
    has(affine, want);
    snprintf(want, sizeof want, "\n; %s:1\nat affine", fifo);
    has(affine, want);
    free(affine);
    unlink(path);
    unlink(fifo);
}
END_TEST

SUITE(frontend_dump_source) {
    TEST(lines_of_the_ptx);
    TEST(lines_of_a_source_file);
}
