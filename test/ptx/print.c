#include "text.h"
#include <glob.h>

/* Parses a text, prints the tree, and parses the output again. The second tree and its printed form must be equal to
 * the first. */
static void round_trip(struct parsed *p) {
    char *first = printed(p->module);
    struct parsed again = parse_good(first);
    ck_assert_msg(ptx_equal(p->module, again.module), "differs after printing:\n%s", first);
    char *second = printed(again.module);
    ck_assert_str_eq(first, second);
    free(second);
    free(first);
    parsed_free(&again);
}

static char *read_file(const char *name, size_t *len) {
    FILE *f = fopen(name, "rb");
    ck_assert_msg(f != NULL, "%s", name);
    char *text = NULL;
    FILE *out = open_memstream(&text, len);
    for (int c; (c = fgetc(f)) != EOF;)
        fputc(c, out);
    fclose(out);
    fclose(f);
    return text;
}

START_TEST(samples_survive_printing) {
    glob_t g;
    ck_assert_int_eq(glob("test/compiled/*.ptx", 0, NULL, &g), 0);
    ck_assert_int_ge((int)g.gl_pathc, 12);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        size_t len;
        char *text = read_file(g.gl_pathv[i], &len);
        struct parsed p = parse_bytes(text, len);
        char *output = messages(&p.diags);
        ck_assert_msg(p.diags.errors == 0, "%s: %s", g.gl_pathv[i], output);
        round_trip(&p);
        free(output);
        free(text);
        parsed_free(&p);
    }
    globfree(&g);
}
END_TEST

/* Items of a module, and their printed form. NULL: the printed form equals the input. */
static const struct {
    const char *text, *expected;
} items[] = {
    {".global .u32 x;\n", NULL},
    {".weak .const .align 4 .v4 .f32 a, b[][2], c0, c1;\n", NULL},
    {".shared .b64 %p<2>, q;\n", ".shared .b64 %p0, %p1, q;\n"},
    {".attribute(.unified(1, 2)) .global .u32 x;\n", ".global .attribute(.unified(1, 2)) .u32 x;\n"},
    {".const[3] .b8 x[4];\n", NULL},
    {".global .f32 x[3] = {0f3F800000, 1.0, -0f00000000};\n",
     ".global .f32 x[3] = {0f3F800000, 0d3FF0000000000000, 0f80000000};\n"},
    {".global .b64 x[4] = {-1, 1U, 0x8000000000000000, -9223372036854775807 - 1};\n",
     ".global .b64 x[4] = {-1, 1U, 9223372036854775808U, (.s64)0x8000000000000000};\n"},
    {".global .u64 x[] = {{}, {y, y+1}, generic(y)-1, 0xFF00(generic(y)+1), 255(y)};\n",
     ".global .u64 x[] = {{}, {y, y+1}, generic(y)-1, 0xFF00(generic(y)+1), 0xFF(y)};\n"},
    {".global .samplerref s = {filter_mode = nearest, x = 1};\n", NULL},
    {".file 3 \"a.cu\", 12, 34\n", NULL},
    {".pragma \"a\", \"b\";\n", ".pragma \"a\";\n.pragma \"b\";\n"},
    {".alias a, b;\n", NULL},
    {"@@DWARF .byte 1\n", NULL},
    {".section .debug_x { .b8 1 }\n", NULL},
    {".extern .func (.param .b32 r) f(.param .b32 a, .param .align 8 .b8 _[16]) .noreturn;\n", NULL},
    {".func .attribute(.unified(1, 2)) f() .abi_preserve 3;\n", NULL},
    {".entry k() .maxntid 1, 2, 3 .pragma \"x\", \"y\";;\n", NULL},
    {".entry k(.param .u64 .ptr .global .align 8 p, .param .u64 .ptr q);\n", NULL},
    {".entry k(.hidden .param .align 64 .b8 p[128]);\n", NULL},
    {".visible .entry k { }\n", ".visible .entry k()\n{\n}\n"},
};

START_TEST(items_print) {
    struct parsed p = parse_items(items[_i].text);
    char *text = printed(p.module);
    ck_assert_int_eq(strncmp(text, HEADER "\n", strlen(HEADER) + 1), 0);
    ck_assert_str_eq(text + strlen(HEADER) + 1, items[_i].expected ? items[_i].expected : items[_i].text);
    round_trip(&p);
    free(text);
    parsed_free(&p);
}
END_TEST

/* Statements of a body, and their printed form. NULL: the printed form equals the input. */
static const struct {
    const char *text, *expected;
} statements[] = {
    {"ret;", NULL},
    {"@%p bra L;", NULL},
    {"@ ! %p bra.uni L ;", "@!%p bra.uni L;"},
    {"ld.v2.u32 {%r1, _}, [%r2+-4];", NULL},
    {"ld.u32 %r1, [%r2 - 4];", "ld.u32 %r1, [%r2+-4];"},
    {"ld.u32 %r1, [%r2+0];", "ld.u32 %r1, [%r2];"},
    {"ld.u32 %r1, [x+8];", NULL},
    {"ld.u32 %r1, [4096];", NULL},
    {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, s, {%r1}];", NULL},
    {"cp [%r1+4, {%r2, %r3}], [%r4];", NULL},
    {"setp.lt.and.s32 %p|%q, %r1, -%r2, !%r;", NULL},
    {"mov.u64 %rd1, x+4;", NULL},
    {"mov.u64 %rd1, x-4;", NULL},
    {"mov.u32 %r1, x[%r2+1];", NULL},
    {"mov.u32 %r1, x[1];", NULL},
    {"add .s32 %r1, (1), 2 * 3;", "add.s32 %r1, 1, 6;"},
    {"call (r), f, (a, (b), 1);", NULL},
    {"call f, ();", NULL},
    {"a: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;", NULL},
    {"a: .callprototype ()_;", "a: .callprototype _ ();"},
    {"a: .branchtargets b, c;", NULL},
    {"a: .calltargets b, c;", NULL},
    {".loc 1 2 3", NULL},
    {".loc 1 2 3, function_name a+1, inlined_at 4 5 6", NULL},
    {".pragma \"x\";", NULL},
    {".reg .pred p, %q<4>;", NULL},
    {"{}", "{\n\t}"},
};

START_TEST(statements_print) {
    struct parsed p = parse_body(statements[_i].text);
    char expected[300], *text = printed(p.module);
    snprintf(expected, sizeof expected, HEADER "\n.entry k()\n{\n\t%s\n}\n",
             statements[_i].expected ? statements[_i].expected : statements[_i].text);
    ck_assert_str_eq(text, expected);
    round_trip(&p);
    free(text);
    parsed_free(&p);
}
END_TEST

START_TEST(labels_stand_out) {
    struct parsed p = parse_body("a: { b: ret; }");
    char *text = printed(p.module);
    ck_assert_str_eq(text, HEADER "\n.entry k()\n{\na:\n\t{\n\tb:\n\t\tret;\n\t}\n}\n");
    free(text);
    parsed_free(&p);
}
END_TEST

/* Pairs of modules that differ in one detail, so their trees must differ. */
static const struct {
    const char *a, *b;
} different[] = {
    {".global .u32 x;", ".global .u32 y;"},
    {".global .u32 x;", ".global .s32 x;"},
    {".global .u32 x;", ".shared .u32 x;"},
    {".global .u32 x;", ".visible .global .u32 x;"},
    {".global .u32 x;", ".global .v2 .u32 x;"},
    {".global .u32 x;", ".global .align 8 .u32 x;"},
    {".global .u32 x;", ".global .attribute(.managed) .u32 x;"},
    {".global .u32 x;", ".global .u32 x; .global .u32 y;"},
    {".global .u32 x;", ".global .u32 x, y;"},
    {".global .u32 x0;", ".global .u32 x<2>;"},
    {".global .u32 x;", ".global .u32 x[1];"},
    {".global .u32 x[1];", ".global .u32 x[2];"},
    {".global .u32 x[];", ".global .u32 x[][2];"},
    {".global .u32 x;", ".global .u32 x = 0;"},
    {".global .u32 x = 0;", ".global .u32 x = 1;"},
    {".global .u32 x = 0;", ".global .u32 x = 0U;"},
    {".global .f32 x = 1.0;", ".global .f32 x = 0f3F800000;"},
    {".global .u32 x = y;", ".global .u32 x = y+1;"},
    {".global .u32 x = y;", ".global .u32 x = generic(y);"},
    {".global .u32 x = y;", ".global .u32 x = 1(y);"},
    {".global .u32 x = y;", ".global .u32 x = z = y;"},
    {".global .u32 x = {1};", ".global .u32 x = {1, 1};"},
    {".pragma \"a\";", ".pragma \"b\";"},
    {".file 1 \"a\"", ".file 2 \"a\""},
    {".file 1 \"a\"", ".file 1 \"b\""},
    {".file 1 \"a\"", ".file 1 \"a\", 1, 2"},
    {".alias a, b;", ".alias a, c;"},
    {".section .a {}", ".section .b {}"},
    {".entry k();", ".func k();"},
    {".entry k();", ".entry k() {}"},
    {".entry k();", ".entry l();"},
    {".entry k();", ".weak .entry k();"},
    {".entry k();", ".entry k(.param .u32 x);"},
    {".entry k(.param .u64 x);", ".entry k(.param .u64 .ptr x);"},
    {".entry k(.param .u64 x);", ".entry k(.hidden .param .u64 x);"},
    {".entry k(.param .u64 .ptr x);", ".entry k(.param .u64 .ptr .global x);"},
    {".entry k(.param .u64 .ptr x);", ".entry k(.param .u64 .ptr .align 4 x);"},
    {".entry k() .maxnreg 1;", ".entry k() .maxnreg 2;"},
    {".entry k() .maxnreg 1;", ".entry k() .minnctapersm 1;"},
    {".func f();", ".func (.param .u32 r) f();"},
    {".func f() {ret;}", ".func f() {exit;}"},
    {".func f() {ret;}", ".func f() {ret; ret;}"},
    {".func f() {ret;}", ".func f() {{ret;}}"},
    {".func f() {ret;}", ".func f() {@p ret;}"},
    {".func f() {@p ret;}", ".func f() {@!p ret;}"},
    {".func f() {a b;}", ".func f() {a b, b;}"},
    {".func f() {a b;}", ".func f() {a {b};}"},
    {".func f() {a [b];}", ".func f() {a [b+1];}"},
    {".func f() {a:}", ".func f() {b:}"},
    {".func f() {.loc 1 1 1}", ".func f() {.loc 1 2 1}"},
    {".func f() {.loc 1 1 1}", ".func f() {.loc 1 1 1, function_name a}"},
    {".func f() {a: .branchtargets b;}", ".func f() {a: .calltargets b;}"},
    {".func f() {a: .branchtargets b;}", ".func f() {c: .branchtargets b;}"},
    {".func f() {a: .branchtargets b;}", ".func f() {a: .branchtargets b, b;}"},
    {".func f() {a: .callprototype _;}", ".func f() {a: .callprototype _ (.param .u32 _);}"},
    {".target x", ""},
};

START_TEST(difference_is_seen) {
    struct parsed a = parse_items(different[_i].a), b = parse_items(different[_i].b);
    ck_assert(!ptx_equal(a.module, b.module));
    ck_assert(!ptx_equal(b.module, a.module));
    ck_assert(ptx_equal(a.module, a.module));
    parsed_free(&a);
    parsed_free(&b);
}
END_TEST

START_TEST(header_difference_is_seen) {
    struct parsed a = parse_good(HEADER), b = parse_good(".version 7.1\n.target sm_75\n.address_size 64\n"),
                  c = parse_good(".version 7.0\n.target sm_75\n.address_size 32\n");
    ck_assert(!ptx_equal(a.module, b.module));
    ck_assert(!ptx_equal(a.module, c.module));
    parsed_free(&a);
    parsed_free(&b);
    parsed_free(&c);
}
END_TEST

START_TEST(layout_and_comments_make_no_difference) {
    struct parsed a = parse_items(".entry k()\n{\n\tadd.s32 %r1, %r2, 3; // sum\n}\n"),
                  b = parse_items("/* sum */.entry k(){add .s32 %r1,%r2,0x3;}");
    ck_assert(ptx_equal(a.module, b.module));
    parsed_free(&a);
    parsed_free(&b);
}
END_TEST

SUITE(ptx_print) {
    TEST(samples_survive_printing);
    TEST_LOOP(items_print, 0, sizeof items / sizeof *items);
    TEST_LOOP(statements_print, 0, sizeof statements / sizeof *statements);
    TEST(labels_stand_out);
    TEST_LOOP(difference_is_seen, 0, sizeof different / sizeof *different);
    TEST(header_difference_is_seen);
    TEST(layout_and_comments_make_no_difference);
}
