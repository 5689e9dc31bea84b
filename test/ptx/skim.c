/* Tests that a parser which skips bodies of kernels, ptx_parse_heads(), gives the messages and the tree of ptx_parse():
 * for texts of compilers, for wrong texts, and for random changes of bodies. */
#include "test/random.h"
#include "text.h"
#include <glob.h>

/* Parses into `p`, where the messages about bodies go later. */
static void parse_heads(struct parsed *p, const char *bytes, size_t len) {
    p->text = malloc(len ? len : 1);
    ck_assert_ptr_nonnull(p->text);
    memcpy(p->text, bytes, len);
    diags_init(&p->diags, "t.ptx", p->text, len);
    p->module = ptx_parse_heads(&p->diags);
}

/* Parses all skipped bodies. Returns the number of bodies, and adds their instructions. */
static uint32_t need_bodies(const struct parsed *p, uint32_t *instructions) {
    uint32_t n = 0;
    for (const struct statement *s = p->module->statements; s; s = s->next) {
        if (s->kind != ST_FUNCTION || !s->function->skipped.end)
            continue;
        n++;
        *instructions += s->function->skipped_instructions;
        ck_assert(s->function->has_body && !s->function->body);
        ck_assert(ptx_need_body(p->module, s->function));
        ck_assert_uint_eq(s->function->skipped.end, 0);
        ck_assert_uint_eq(s->function->skipped_instructions, 0);
    }
    return n;
}

static uint32_t count(const struct statement *s) {
    uint32_t n = 0;
    for (; s; s = s->next)
        n += s->kind == ST_BLOCK ? count(s->block.body) : s->kind == ST_INSTRUCTION;
    return n;
}

/* Parses both ways and compares. Returns the number of skipped bodies. */
static uint32_t compare(const char *name, const char *text, size_t len) {
    struct parsed whole = parse_bytes(text, len), heads;
    parse_heads(&heads, text, len);
    char *expected = messages(&whole.diags), *have = messages(&heads.diags);
    uint32_t skipped = 0, instructions = 0, n = 0;
    ck_assert_msg(strcmp(expected, have) == 0, "%s:\n%s\nheads:\n%s\n%.*s", name, expected, have, (int)len, text);
    if (!whole.diags.errors) {
        bool all = true;
        for (const struct statement *s = heads.module->statements; s; s = s->next)
            all &= s->kind != ST_FUNCTION || !s->function->body;
        skipped = need_bodies(&heads, &instructions);
        ck_assert_msg(heads.diags.errors == 0 && ptx_equal(whole.module, heads.module), "%s\n%.*s", name, (int)len,
                      text);
        for (const struct statement *s = whole.module->statements; s; s = s->next)
            n += s->kind == ST_FUNCTION ? count(s->function->body) : 0;
        ck_assert_msg(!all || n == instructions, "%s: %u instructions, not %u", name, instructions, n);
        ck_assert_uint_eq(whole.module->n_words, heads.module->n_words);
    }
    free(expected);
    free(have);
    parsed_free(&whole);
    parsed_free(&heads);
    return skipped;
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

/* Folders, and the least number of bodies that are skipped in them. */
static const struct {
    const char *files;
    uint32_t least;
} folders[] = {
    {"kernels/*.ptx", 60}, {"test/compiled/*.ptx", 10}, {"test/kernels/*.ptx", 1},      {"test/reference/*.ptx", 43},
    {"test/bad/*.ptx", 0}, {"test/fuzz/seeds/*", 0},    {"test/fuzz/found/parse/*", 0},
};

START_TEST(files_parse_alike) {
    glob_t g = {.gl_pathc = 0};
    uint32_t skipped = 0;
    glob(folders[_i].files, 0, NULL, &g);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        size_t len;
        char *text = read_file(g.gl_pathv[i], &len);
        skipped += compare(g.gl_pathv[i], text, len);
        free(text);
    }
    ck_assert_msg(skipped >= folders[_i].least, "%s: %u bodies", folders[_i].files, skipped);
    globfree(&g);
}
END_TEST

/* Bodies that must be skipped, with the number of their instructions. */
static const struct {
    const char *body;
    uint32_t instructions;
} skipped[] = {
    {"", 0},
    {"ret;", 1},
    {"L: L2:ret; // }\n /* } */", 1},
    {".reg .pred %p<3>, q; .reg .v4 .f32 v; .local .align 16 .b8 d[16][2]; .shared .b32 s;", 0},
    {"@%p1 bra L; @!%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1+-8];", 2},
    {"add.s32 %r1, -%r2, -1; add.f32 %f, 0f3F800000, 0D3ff0000000000000; mov.u32 a, 0xffU;", 3},
    {"{ .param .b64 p; st.param.b64 [p+0], %rd1; call.uni (r), f, (p, 1); { ret; } }", 3},
    {"setp.lt.s32 %p1|_, %r1, 5; tex.2d.v4.f32.s32 {a, b, c, _}, [t, {x, y}];", 2},
    {".loc 1 2 3\n.loc 1 2 3, function_name $L__a+7, inlined_at 1 4 5\n.pragma \"nounroll\", \"x\"; ret;", 1},
    {"mov.u64 %rd, table-8; ld.const.u32 %r, [16]; ld.shared::cta.u32 %r, [s];", 3},
};

START_TEST(known_statements_are_skipped) {
    char text[512];
    int len = snprintf(text, sizeof text, HEADER ".entry k(.param .u64 p)\n{\n%s\n}\n", skipped[_i].body);
    struct parsed p;
    parse_heads(&p, text, (size_t)len);
    const struct function *f = p.module->statements->function;
    ck_assert_int_eq(p.diags.errors, 0);
    ck_assert_msg(f->skipped.end != 0, "%s", skipped[_i].body);
    ck_assert_uint_eq(f->skipped_instructions, skipped[_i].instructions);
    ck_assert_uint_eq((uint32_t)f->end.begin, (uint32_t)len - 2); /* the } before the last newline */
    parsed_free(&p);
    compare(skipped[_i].body, text, (size_t)len);
}
END_TEST

/* Texts whose bodies must have a tree: WARP_SZ and variables in device memory concern the whole module, functions are
 * called by kernels, and accesses tell the address size where the header does not. */
static const char *const parsed_at_once[] = {
    HEADER ".entry k() { mov.u32 %r, WARP_SZ; }",
    HEADER ".entry k() { .global .u32 x; }",
    HEADER ".func f() { ret; }",
    ".version 2.0\n.target sm_20\n.entry k() { ret; }",
    HEADER ".global .u32 x[] = {1, 2};\n.func (.reg .u32 r) f() { ret; }",
};

START_TEST(these_bodies_are_parsed_at_once) {
    struct parsed p;
    parse_heads(&p, parsed_at_once[_i], strlen(parsed_at_once[_i]));
    ck_assert_int_eq(p.diags.errors, 0);
    const struct statement *s = p.module->statements;
    while (s->kind != ST_FUNCTION)
        s = s->next;
    ck_assert(s->function->has_body && s->function->body && !s->function->skipped.end);
    parsed_free(&p);
}
END_TEST

/* Texts whose last } closes a vector or an inner block: the parser must not read past them. */
static const char *const cut[] = {
    HEADER ".entry k() { mov.u32 %r, {a}", HEADER ".entry k() { mov.u32 %r, {a},{b}", HEADER ".entry k() { { ret; }",
    HEADER ".entry k() { ret; /* } */",    HEADER ".entry k() { ret; // }",           HEADER ".entry k() {",
    HEADER ".entry k() { .pragma \"}",
};

START_TEST(cut_texts_parse_alike) { compare("cut", cut[_i], strlen(cut[_i])); }
END_TEST

/* Text that a change inserts: pieces of tokens and of statements, which join with the text around them. */
static const char *const pieces[] = {
    ".",        ",",
    ";",        ":",
    "::",       "[",
    "]",        "{",
    "}",        "(",
    ")",        "<",
    ">",        "|",
    "+",        "-",
    "!",        "@",
    "%",        "_",
    "$",        "#",
    "/",        "\"",
    "//",       "/*",
    "*/",       "\n",
    " ",        "0",
    "09",       "0x",
    "0f1",      "1.5",
    "1e5",      "99999999999999999999",
    "U",        "a",
    "WARP_SZ",  ".const[2]",
    ".section", ".b32",
    ".reg",     ".align 3",
    ".param",   ".global .u32 g;",
    "=",        "\\",
    "\x80",     "@@DWARF",
    ".loc 1 2", ".v2",
    ".func",
};

static const char changed[] =
    HEADER ".visible .entry a(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.shared .align 4 .b8 s[64];\n@%p1 bra $L; // x\n"
           "ld.param.u64 %rd1, [p+8];\n$L:\n{\n.param .b32 q;\ncall.uni (q), f, (%r1, 3);\n}\n"
           "st.global.v2.f32 [%rd1], {%f1, 0f00000000};\n.loc 1 2 3, function_name $x, inlined_at 1 2 3\n"
           ".pragma \"nounroll\";\nadd.s32 %r1, %r2, -7;\nret;\n}\n.entry b() { ret; }\n";

/* 20,000 texts with one to three changes: a piece replaces up to three characters. */
START_TEST(changed_bodies_parse_alike) {
    enum { TEXTS = 5000, N_PIECES = sizeof pieces / sizeof *pieces };
    uint64_t rng = 77 + (uint64_t)_i;
    uint32_t n_skipped = 0;
    for (int k = 0; k < TEXTS; k++) {
        char text[1024], next[1024];
        size_t len = sizeof changed - 1;
        memcpy(text, changed, len);
        for (uint32_t n = 1 + test_random_below(&rng, 3); n-- > 0;) {
            const char *piece = pieces[test_random_below(&rng, N_PIECES)];
            size_t at = test_random_below(&rng, (uint32_t)len), rest = at + test_random_below(&rng, 4);
            rest = rest < len ? rest : len;
            memcpy(next, text, at);
            memcpy(next + at, piece, strlen(piece));
            memcpy(next + at + strlen(piece), text + rest, len - rest);
            len = at + strlen(piece) + len - rest;
            memcpy(text, next, len);
        }
        n_skipped += compare("changed", text, len);
    }
    ck_assert_uint_gt(n_skipped, 100);
}
END_TEST

SUITE(ptx_skim) {
    TEST_LOOP(files_parse_alike, 0, (int)(sizeof folders / sizeof *folders));
    TEST_LOOP(known_statements_are_skipped, 0, (int)(sizeof skipped / sizeof *skipped));
    TEST_LOOP(these_bodies_are_parsed_at_once, 0, (int)(sizeof parsed_at_once / sizeof *parsed_at_once));
    TEST_LOOP(cut_texts_parse_alike, 0, (int)(sizeof cut / sizeof *cut));
    TEST_LOOP(changed_bodies_parse_alike, 0, 4);
}
