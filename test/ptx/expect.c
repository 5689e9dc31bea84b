#include "text.h"

/* Checks all messages that parsing a text gives. */
static void check_text(const char *text, size_t len, const char *expected) {
    struct parsed p = parse_bytes(text, len);
    char *output = messages(&p.diags);
    ck_assert_str_eq(output, expected);
    ck_assert_int_gt(p.diags.errors, 0);
    ck_assert_ptr_nonnull(p.module);
    free(output);
    parsed_free(&p);
}

static void check(const char *text, const char *expected) { check_text(text, strlen(text), expected); }

START_TEST(other_texts_are_refused) {
    check("hello\nworld", "t.ptx:1:1: error: not PTX: expected .version first, as in '.version 7.0'\nhello\n^\n");
    check("// a comment\n  .target sm_20",
          "t.ptx:2:3: error: not PTX: expected .version first, as in '.version 7.0'\n  .target sm_20\n  ^\n");
    check(" \n ", "t.ptx:2:2: error: not PTX: the text is empty, expected .version first\n \n ^\n");
    check("", "t.ptx:1:1: error: not PTX: the text is empty, expected .version first\n\n^\n");
    check("/* .version 7.0", "t.ptx:1:1: error: unterminated comment\n/* .version 7.0\n^\n");
    check("\x7f"
          "ELF\x02\x01",
          "t.ptx:1:1: error: not PTX: this is an ELF file\n?ELF??\n^\n");
}
END_TEST

/* Modules with one line (line 4), and the messages about this line. */
static const struct {
    const char *text, *expected;
} items[] = {
    {".globl .u32 x;", "t.ptx:4:1: error: unknown directive '.globl'\n.globl .u32 x;\n^~~~~~\nhelp: did you mean "
                       "'.global'?\n"},
    {".zebra x;", "t.ptx:4:1: error: unknown directive '.zebra'\n.zebra x;\n^~~~~~\n"},
    {".visible .entri k();", "t.ptx:4:10: error: unknown directive '.entri'\n.visible .entri k();\n         ^~~~~~\n"
                             "help: did you mean '.entry'?\n"},
    {".entry k() .maxntidd 5;",
     "t.ptx:4:12: error: unknown directive '.maxntidd'\n.entry k() .maxntidd 5;\n           ^~~~~~~~~\n"
     "help: did you mean '.maxntid'?\n"},
    {"x;", "t.ptx:4:1: error: expected a directive such as .entry, .func or .global, found 'x'\nx;\n^\n"},
    {".b32 x;",
     "t.ptx:4:1: error: expected a directive such as .entry, .func or .global, found '.b32'\n.b32 x;\n^~~~\n"},
    {"}", "t.ptx:4:1: error: '}' without '{'\n}\n^\n"},
    {".global .u33 x;", "t.ptx:4:9: error: unknown type '.u33'\n.global .u33 x;\n        ^~~~\nhelp: did you mean "
                        "'.u32'?\n"},
    {".global x;", "t.ptx:4:9: error: missing type before 'x'\n.global x;\n        ^\n"},
    {".global u32;",
     "t.ptx:4:9: error: missing type before 'u32'\n.global u32;\n        ^~~\nhelp: a type begins with a "
     "dot: '.u32'\n"},
    {".align 4 .u32 x;", "t.ptx:4:15: error: missing state space before 'x'\n.align 4 .u32 x;\n              ^\n"},
    {".global .shared .u32 x;", "t.ptx:4:9: error: '.shared' after '.global': a declaration has one state space\n"
                                ".global .shared .u32 x;\n        ^~~~~~~\n"},
    {".global .u32 .s32 x;",
     "t.ptx:4:14: error: '.s32' after '.u32': a declaration has one type\n.global .u32 .s32 x;\n             ^~~~\n"},
    {".global .align 3 .u32 x;",
     "t.ptx:4:16: error: alignment must be a power of two\n.global .align 3 .u32 x;\n               ^\n"},
    {".global .u32 x<0>;",
     "t.ptx:4:16: error: number of names must be 1 to 2147483647\n.global .u32 x<0>;\n               ^\n"},
    {".global .u32 x<65537>;", "t.ptx:4:14: error: 'x<65537>' declares 65537 variables; outside of .reg the limit is "
                               "65536\n.global .u32 x<65537>;\n             ^\n"},
    {".global .u32 x[2][];",
     "t.ptx:4:19: error: only the first array size may be empty\n.global .u32 x[2][];\n                  ^\n"},
    {".global .u32 x[-1];", "t.ptx:4:16: error: array size must be a non-negative constant\n"
                            ".global .u32 x[-1];\n               ^~\n"},
    {".global .u32 x[y];", "t.ptx:4:16: error: array size must be a non-negative constant\n"
                           ".global .u32 x[y];\n               ^\n"},
    {".global .u32 x[1][1][1][1][1][1][1][1][1][1];",
     "t.ptx:4:40: error: an array has at most 8 dimensions\n.global .u32 x[1][1][1][1][1][1][1][1][1][1];\n"
     "                                       ^\n"},
    {".global .u32;", "t.ptx:4:13: error: expected a name, found ';'\n.global .u32;\n            ^\n"},
    {".global .u32 x 1;", "t.ptx:4:16: error: expected '=', ',', '[' or ';', found '1'\n.global .u32 x 1;\n"
                          "               ^\n"},
    {".global .u32 x[2] = {1 2};",
     "t.ptx:4:24: error: expected ',' or '}', found '2'\n.global .u32 x[2] = {1 2};\n                       ^\n"},
    {".global .u32 x = ;", "t.ptx:4:18: error: expected a value, found ';'\n.global .u32 x = ;\n                 ^\n"},
    {".entry ();", "t.ptx:4:8: error: expected a name, found '('\n.entry ();\n       ^\n"},
    {".func 3();", "t.ptx:4:7: error: expected a name or '(', found '3'\n.func 3();\n      ^\n"},
    {".entry k(.param .u64);", "t.ptx:4:21: error: expected a name, found ')'\n.entry k(.param .u64);\n"
                               "                    ^\n"},
    {".entry k() ret;", "t.ptx:4:12: error: expected '{' or ';', found 'ret'\n.entry k() ret;\n           ^~~\n"},
    {".pragma nounroll;",
     "t.ptx:4:9: error: expected a string, found 'nounroll'\n.pragma nounroll;\n        ^~~~~~~~\n"},
    {".address_size 48", "t.ptx:4:15: error: address size must be 32 or 64\n.address_size 48\n              ^~\n"},
    {".version 8.0", "t.ptx:4:1: error: duplicate .version\n.version 8.0\n^~~~~~~~~~~~\n"},
    {".section .debug_x;", "t.ptx:4:18: error: expected '{' after the section's name\n.section .debug_x;\n"
                           "                 ^\n"},
    {".section .debug_x { .b8 1", "t.ptx:4:1: error: unterminated section\n.section .debug_x { .b8 1\n^\n"},
    {"/* never", "t.ptx:4:1: error: unterminated comment\n/* never\n^\n"},
    {".pragma \"x;", "t.ptx:4:9: error: unterminated string\n.pragma \"x;\n        ^~~\n"
                     "t.ptx:4:12: error: expected ',' or ';', found the end of the text\n.pragma \"x;\n"
                     "           ^\n"},
    {".global .u32 x", "t.ptx:4:15: error: expected '=', ',', '[' or ';', found the end of the text\n.global .u32 x\n"
                       "              ^\n"},
};

START_TEST(mistakes_in_a_module) {
    char text[200];
    snprintf(text, sizeof text, HEADER "%s", items[_i].text);
    check(text, items[_i].expected);
}
END_TEST

/* Kernel bodies with one line (line 5), and the messages about this line. */
static const struct {
    const char *text, *expected;
} statements[] = {
    {"add.s32 %r1, %r2 %r3;",
     "t.ptx:5:18: error: expected ',' or ';', found '%r3'\nadd.s32 %r1, %r2 %r3;\n                 ^~~\n"},
    {"add.s32 %r1,;", "t.ptx:5:13: error: expected an operand, found ';'\nadd.s32 %r1,;\n            ^\n"},
    {"ret }", "t.ptx:5:4: error: missing ';' after 'ret'\nret }\n   ^\nt.ptx:6:1: error: '}' without '{'\n}\n^\n"},
    {"ld.u32 %r1, [];", "t.ptx:5:14: error: expected an operand, found ']'\nld.u32 %r1, [];\n             ^\n"},
    {"ld.u32 %r1, [%r2;", "t.ptx:5:17: error: expected ',' or ']', found ';'\nld.u32 %r1, [%r2;\n                ^\n"},
    {"ld.u32 %r1, [%r2 + %r3];",
     "t.ptx:5:20: error: '%r3' is not a constant\nld.u32 %r1, [%r2 + %r3];\n                   ^~~\n"},
    {"call (a, f;", "t.ptx:5:11: error: expected ',' or ')', found ';'\ncall (a, f;\n          ^\n"},
    {"@%p1;", "t.ptx:5:5: error: expected an instruction, found ';'\n@%p1;\n    ^\n"},
    {"@1 ret;", "t.ptx:5:2: error: expected a predicate, found '1'\n@1 ret;\n ^\n"},
    {"5;", "t.ptx:5:1: error: expected a statement or '}', found '5'\n5;\n^\n"},
    {".maxntid 3;", "t.ptx:5:1: error: expected a statement or '}', found '.maxntid'\n.maxntid 3;\n^~~~~~~~\n"},
    {".rge .b32 x;", "t.ptx:5:1: error: unknown directive '.rge'\n.rge .b32 x;\n^~~~\nhelp: did you mean '.reg'?\n"},
    {"l: .branchtarget a;",
     "t.ptx:5:4: error: unknown directive '.branchtarget'\nl: .branchtarget a;\n   ^~~~~~~~~~~~~\n"
     "help: did you mean '.branchtargets'?\n"},
    {"l: .branchtargets 1;",
     "t.ptx:5:19: error: expected a name, found '1'\nl: .branchtargets 1;\n                  ^\n"},
    {".loc 1 2;", "t.ptx:5:9: error: expected an integer, found ';'\n.loc 1 2;\n        ^\n"},
    {".loc 1 4294967296 3", "t.ptx:5:8: error: number does not fit into 32 bits\n.loc 1 4294967296 3\n"
                            "       ^~~~~~~~~~\n"},
    {"mov.u32 %r1, 08;", "t.ptx:5:14: error: '8' is not an octal digit\nmov.u32 %r1, 08;\n             ^~\n"
                         "help: a number that begins with 0 is octal\n"},
    {"mov.u32 %r1, 0x;", "t.ptx:5:14: error: '0x' is not a number\nmov.u32 %r1, 0x;\n             ^~\n"
                         "help: 0x takes hexadecimal digits\n"},
    {"mov.u32 %r1, 0b12;", "t.ptx:5:14: error: '0b12' is not a number\nmov.u32 %r1, 0b12;\n             ^~~~\n"
                           "help: 0b takes binary digits\n"},
    {"mov.u32 %r1, 1u;", "t.ptx:5:14: error: '1u' is not a number\nmov.u32 %r1, 1u;\n             ^~\n"
                         "help: the unsigned suffix is a capital U\n"},
    {"mov.f32 %f1, 0f3f80;", "t.ptx:5:14: error: '0f3f80' is not a number\nmov.f32 %f1, 0f3f80;\n             ^~~~~~\n"
                             "help: 0f takes exactly 8 hexadecimal digits, the bits of a 32-bit float\n"},
    {"mov.f64 %f1, 0d0;", "t.ptx:5:14: error: '0d0' is not a number\nmov.f64 %f1, 0d0;\n             ^~~\n"
                          "help: 0d takes exactly 16 hexadecimal digits, the bits of a 64-bit float\n"},
    /* a quoted text of more than 40 bytes is cut */
    {"mov.u32 %r1, 0x0123456789012345678901234567890123456789z;",
     "t.ptx:5:14: error: '0x01234567890123456789012345678901234567...' is not a number\n"
     "mov.u32 %r1, 0x0123456789012345678901234567890123456789z;\n"
     "             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\nhelp: 0x takes hexadecimal digits\n"},
    {"mov.u32 %r1, 1 + %a12345678901234567890123456789012345678z;",
     "t.ptx:5:18: error: '%a12345678901234567890123456789012345678...' is not a constant\n"
     "mov.u32 %r1, 1 + %a12345678901234567890123456789012345678z;\n"
     "                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"},
    {"mov.u32 %r1, #2;", "t.ptx:5:14: error: unexpected '#'\nmov.u32 %r1, #2;\n             ^\n"},
    {"mov.u32 %r1, \x01;", "t.ptx:5:14: error: unexpected 0x01\nmov.u32 %r1, ?;\n             ^\n"},
    {"mov.u32 %r1, \"x\";", "t.ptx:5:14: error: expected an operand, found '\"x\"'\nmov.u32 %r1, \"x\";\n"
                            "             ^~~\n"},
    {"if (x) { y = 1; z = 2; }", "t.ptx:5:8: error: expected ',' or ';', found '{'\nif (x) { y = 1; z = 2; }\n"
                                 "       ^\n"},
};

START_TEST(mistakes_in_a_body) {
    char text[200];
    snprintf(text, sizeof text, HEADER ".entry k() {\n%s\n}", statements[_i].text);
    check(text, statements[_i].expected);
}
END_TEST

START_TEST(missing_semicolon_is_shown_where_it_belongs) {
    check(HEADER ".entry k() {\n\tadd.s32 %r1, %r2, 1\n\tsub.s32 %r1, %r2,;\n\tret\n}",
          "t.ptx:5:21: error: missing ';' after '1'\n\tadd.s32 %r1, %r2, 1\n\t                   ^\n"
          "t.ptx:6:19: error: expected an operand, found ';'\n\tsub.s32 %r1, %r2,;\n\t                 ^\n"
          "t.ptx:7:5: error: missing ';' after 'ret'\n\tret\n\t   ^\n");
}
END_TEST

START_TEST(unclosed_body_points_at_its_brace) {
    check(HEADER ".entry k()\n{\n\t{\n\tret;\n",
          "t.ptx:7:6: error: expected a statement or '}', found the end of the text\n\tret;\n\t    ^\n"
          "t.ptx:6:2: note: this '{' is not closed\n\t{\n\t^\n");
}
END_TEST

START_TEST(function_in_a_function) {
    check(HEADER ".entry k()\n{\n{ ret;\n.visible .entry l() { 1; }\n.func f() { 2; }",
          "t.ptx:7:10: error: '.entry' inside a function\n.visible .entry l() { 1; }\n         ^~~~~~\n"
          "t.ptx:5:1: note: the function begins here; is its '}' missing?\n{\n^\n"
          "t.ptx:7:23: error: expected a statement or '}', found '1'\n.visible .entry l() { 1; }\n"
          "                      ^\n"
          "t.ptx:8:13: error: expected a statement or '}', found '2'\n.func f() { 2; }\n            ^\n");
}
END_TEST

START_TEST(missing_target) {
    check(".version 7.0\n.entry k() { ret; }",
          "t.ptx:2:20: error: missing .target\n.entry k() { ret; }\n                   ^\n"
          "help: a module begins with .version, .target and .address_size\n");
}
END_TEST

START_TEST(bad_version) {
    check(".version seven\n.target x",
          "t.ptx:1:10: error: expected a number such as 9.0, found 'seven'\n.version seven\n         ^~~~~\n");
    check(".version 7.123\n.target x",
          "t.ptx:1:10: error: malformed version, expected a number such as 9.0\n.version 7.123\n         ^~~~~\n");
}
END_TEST

SUITE(ptx_expect) {
    TEST(other_texts_are_refused);
    TEST_LOOP(mistakes_in_a_module, 0, sizeof items / sizeof *items);
    TEST_LOOP(mistakes_in_a_body, 0, sizeof statements / sizeof *statements);
    TEST(missing_semicolon_is_shown_where_it_belongs);
    TEST(unclosed_body_points_at_its_brace);
    TEST(function_in_a_function);
    TEST(missing_target);
    TEST(bad_version);
}
