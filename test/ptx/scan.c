#include "text.h"

/* Returns operand n (counted from 0) of the only instruction in the body. */
static const struct operand *operand(const struct parsed *p, int n) {
    const struct operand *o = body_of(p)->insn.operands;
    while (n--)
        o = o->next;
    return o;
}

START_TEST(a_word_takes_its_suffixes) {
    struct parsed p = parse_body("ld.global.L1::evict_last.L2::128B.v4.f32 $L__BB0_3, %tid.x, _Z3fooPf, a$b, _1;");
    ck_assert_str_eq(body_of(&p)->insn.opcode->text, "ld.global.L1::evict_last.L2::128B.v4.f32");
    ck_assert_str_eq(operand(&p, 0)->name->text, "$L__BB0_3");
    ck_assert_str_eq(operand(&p, 1)->name->text, "%tid.x");
    ck_assert_str_eq(operand(&p, 2)->name->text, "_Z3fooPf");
    ck_assert_str_eq(operand(&p, 3)->name->text, "a$b");
    ck_assert_str_eq(operand(&p, 4)->name->text, "_1");
    parsed_free(&p);
}
END_TEST

START_TEST(suffixes_join_across_space) {
    struct parsed p = parse_body("ld .global\n.1d .weird\t.f32 %f1, [x];");
    ck_assert_str_eq(body_of(&p)->insn.opcode->text, "ld.global.1d.weird.f32");
    ck_assert_int_eq(body_of(&p)->insn.n_operands, 2);
    parsed_free(&p);
}
END_TEST

START_TEST(joined_and_written_words_are_the_same) {
    struct parsed p = parse_body("ld.global.u32 %r1, [x];\nld .global .u32 %r1, [x];");
    ck_assert_ptr_eq(body_of(&p)->insn.opcode, body_of(&p)->next->insn.opcode);
    parsed_free(&p);
}
END_TEST

START_TEST(equal_words_are_one_pointer) {
    struct parsed p = parse_body("add.s32 %r1, %r2, %r1;");
    ck_assert_ptr_eq(operand(&p, 0)->name, operand(&p, 2)->name);
    ck_assert_ptr_ne(operand(&p, 0)->name, operand(&p, 1)->name);
    parsed_free(&p);
}
END_TEST

/* 5,000 names make the name table grow several times. Every name must get its own id below n_words. */
START_TEST(ids_are_dense) {
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    fprintf(f, HEADER ".entry k() {\n");
    for (int i = 0; i < 5000; i++)
        fprintf(f, "L%d:\n", i);
    fprintf(f, "}\n");
    fclose(f);
    struct parsed p = parse_good(text);
    ck_assert_uint_ge(p.module->n_words, 5000);
    ck_assert_uint_lt(p.module->n_words, 5200); /* 5,000 names, and the words of the predefined directives */
    bool *seen = calloc(p.module->n_words, 1);
    int labels = 0;
    for (const struct statement *s = body_of(&p); s; s = s->next) {
        ck_assert_uint_lt(s->label.name->id, p.module->n_words);
        ck_assert(!seen[s->label.name->id]);
        seen[s->label.name->id] = true;
        char expected[16];
        snprintf(expected, sizeof expected, "L%d", labels++);
        ck_assert_str_eq(s->label.name->text, expected);
        ck_assert_uint_eq(s->label.name->len, strlen(expected));
    }
    ck_assert_int_eq(labels, 5000);
    free(seen);
    free(text);
    parsed_free(&p);
}
END_TEST

static const struct {
    const char *text;
    uint64_t value;
    bool is_unsigned;
} integers[] = {
    {"0", 0, false},
    {"12", 12, false},
    {"12U", 12, true},
    {"017", 15, false},
    {"0x1f", 31, false},
    {"0X1FU", 31, true},
    {"0b101", 5, false},
    {"0B11U", 3, true},
    {"9223372036854775807", INT64_MAX, false},
    {"9223372036854775808", (uint64_t)1 << 63, true}, /* the value does not fit into a signed 64-bit number */
    {"0xffffffffffffffff", UINT64_MAX, true},
    {"18446744073709551615U", UINT64_MAX, true},
    {"01777777777777777777777", UINT64_MAX, true},
};

START_TEST(integers_in_every_base) {
    char text[64];
    snprintf(text, sizeof text, "mov %%r1, %s;", integers[_i].text);
    struct parsed p = parse_body(text);
    ck_assert_int_eq(operand(&p, 1)->kind, OPD_INT);
    ck_assert_uint_eq(operand(&p, 1)->integer, integers[_i].value);
    ck_assert_int_eq(operand(&p, 1)->is_unsigned, integers[_i].is_unsigned);
    parsed_free(&p);
}
END_TEST

static const struct {
    const char *text;
    uint64_t bits;
    int size;
} floats[] = {
    {"0f3F800000", 0x3f800000, 32},
    {"0Fc0000000", 0xc0000000, 32},
    {"0d3FF0000000000000", 0x3ff0000000000000, 64},
    {"0DBFF0000000000000", 0xbff0000000000000, 64},
    {"1.5", 0x3ff8000000000000, 64},
    {".5", 0x3fe0000000000000, 64},
    {"2.", 0x4000000000000000, 64},
    {"1e3", 0x408f400000000000, 64}, /* 1000 = 1.953125 * 2^9 */
    {"5.E-1", 0x3fe0000000000000, 64},
};

START_TEST(floats_in_every_form) {
    char text[64];
    snprintf(text, sizeof text, "mov %%f1, %s;", floats[_i].text);
    struct parsed p = parse_body(text);
    ck_assert_int_eq(operand(&p, 1)->kind, OPD_FLOAT);
    ck_assert_uint_eq(operand(&p, 1)->real, floats[_i].bits);
    ck_assert_int_eq(operand(&p, 1)->real_bits, floats[_i].size);
    parsed_free(&p);
}
END_TEST

START_TEST(locations_are_byte_offsets) {
    const char *text = HEADER ".entry k() {\n  @!%p\tadd.s32 %r1,[x + 4];}";
    struct parsed p = parse_good(text);
    const struct statement *s = body_of(&p);
    const char *statement = strchr(text, '@');
    uint32_t at = (uint32_t)(statement - text);
    ck_assert_uint_eq(s->loc.begin, at);
    ck_assert_uint_eq(s->loc.end, at + strlen("@!%p\tadd.s32 %r1,[x + 4];"));
    ck_assert_uint_eq(s->insn.guard_loc.begin, at + 2);
    ck_assert_uint_eq(s->insn.guard_loc.end, at + 4);
    ck_assert_uint_eq(s->insn.opcode_loc.begin, at + 5);
    ck_assert_uint_eq(s->insn.opcode_loc.end, at + 12);
    ck_assert_uint_eq(operand(&p, 1)->loc.begin, at + 17);
    ck_assert_uint_eq(operand(&p, 1)->loc.end, at + 24);
    ck_assert_uint_eq(p.module->statements->function->end.begin, strlen(text) - 1);
    parsed_free(&p);
}
END_TEST

START_TEST(comments_are_space) {
    struct parsed p = parse_body("add/**/.s32 // one\n %r1 /* two; **/,/*/ three /*/ %r2; /***/ // end");
    ck_assert_str_eq(body_of(&p)->insn.opcode->text, "add.s32");
    ck_assert_int_eq(body_of(&p)->insn.n_operands, 2);
    ck_assert_ptr_null(body_of(&p)->next);
    parsed_free(&p);
}
END_TEST

START_TEST(windows_line_ends_and_byte_order_mark) {
    struct parsed p = parse_good("\xef\xbb\xbf.version 6.5\r\n.target sm_30\r\n.entry k()\r\n{\r\nret;\r\n}\r\n");
    ck_assert_int_eq(p.module->version_major, 6);
    ck_assert_int_eq(p.module->version_minor, 5);
    ck_assert_ptr_nonnull(ptx_entry(p.module, 0));
    parsed_free(&p);
}
END_TEST

START_TEST(zeros_at_the_end_are_no_text) {
    struct parsed p = parse_bytes(HEADER ".entry k() { ret; }\0\0", strlen(HEADER) + 21);
    ck_assert_int_eq(p.diags.errors, 0);
    parsed_free(&p);
}
END_TEST

START_TEST(names_may_look_like_opcodes) {
    struct parsed p =
        parse_body(".reg .b32 add, generic, barrier, ret, reg;\nadd.s32 add, generic, barrier;\nret:\nret;");
    ck_assert_str_eq(body_of(&p)->variable->next->next->next->next->name->text, "reg");
    ck_assert_int_eq(body_of(&p)->next->next->kind, ST_LABEL);
    ck_assert_int_eq(body_of(&p)->next->next->next->kind, ST_INSTRUCTION);
    parsed_free(&p);
}
END_TEST

/* The time to scan a token of many megabytes must be linear in its length. */
START_TEST(long_tokens_take_linear_time) {
    const size_t size = 20 << 20;
    char *text = malloc(size + size / 4 + 200);
    int n = sprintf(text, HEADER "/*");
    memset(text + n, '*', size);
    n += (int)size;
    n += sprintf(text + n, "/ .entry ");
    int name = n;
    memset(text + n, 'k', size / 4);
    n += (int)(size / 4);
    sprintf(text + n, "() { ret; }");
    struct parsed p = parse_good(text);
    ck_assert_uint_eq(ptx_entry(p.module, 0)->name->len, size / 4);
    ck_assert_uint_eq(ptx_entry(p.module, 0)->name_loc.begin, (uint32_t)name);
    parsed_free(&p);
    free(text);
}
END_TEST

SUITE(ptx_scan) {
    TEST(a_word_takes_its_suffixes);
    TEST(suffixes_join_across_space);
    TEST(joined_and_written_words_are_the_same);
    TEST(equal_words_are_one_pointer);
    TEST(ids_are_dense);
    TEST_LOOP(integers_in_every_base, 0, sizeof integers / sizeof *integers);
    TEST_LOOP(floats_in_every_form, 0, sizeof floats / sizeof *floats);
    TEST(locations_are_byte_offsets);
    TEST(comments_are_space);
    TEST(windows_line_ends_and_byte_order_mark);
    TEST(zeros_at_the_end_are_no_text);
    TEST(names_may_look_like_opcodes);
    TEST(long_tokens_take_linear_time);
}
