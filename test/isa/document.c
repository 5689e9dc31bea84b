/* Tests the table of supported instructions in the documentation. With all modifier and type combinations expanded, its
 * lines must have as many instructions as the instruction table has rows. */
#include "isa/document.h"
#include "isa/decode.h"
#include "mechanisms/all.h"
#include "test/test.h"

/* Returns the document of the instruction set, which the caller frees. It is not inlined, because with inlining, gcc 12
 * warns that the returned text is a local variable. */
static __attribute__((noinline)) char *page(void) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    isa_document(out, mechanism_instructions());
    fclose(out);
    return text;
}

/* Counts words (".x") in [from, to). */
static unsigned words(const char *from, const char *to) {
    unsigned n = 0;
    for (; from < to; from++)
        n += *from == '.';
    return n;
}

/* Returns the number of modifier combinations of a cell. Example: "[.a .b], .c .d" has (2 + 1) * 2, since modifiers in
 * brackets are optional. */
static unsigned modifier_combinations(const char *from, const char *to) {
    unsigned n = 1;
    while (from < to) {
        const char *end = memchr(from, ',', (size_t)(to - from));
        if (!end)
            end = to;
        const unsigned here = words(from, end);
        n *= here + (memchr(from, '[', (size_t)(end - from)) ? 1 : 0) + (here ? 0 : 1);
        from = end + 1;
    }
    return n;
}

/* Returns the number of type combinations of a cell. Example: ".a .b, (.c .d)(.e .f .g), .h.i" has 2 + 2 * 3 + 1. An
 * empty cell means one instruction without types. */
static unsigned type_combinations(const char *from, const char *to) {
    unsigned sum = 0;
    while (from < to) {
        const char *end = memchr(from, ',', (size_t)(to - from));
        if (!end)
            end = to;
        unsigned n = 1;
        bool grouped = false;
        for (const char *c = from; c < end; c++)
            if (*c == '(') {
                const char *close = memchr(c, ')', (size_t)(end - c));
                n *= words(c, close);
                grouped = true;
                c = close;
            }
        const char *space = memchr(from + 1, ' ', (size_t)(end - from - 1));
        sum += grouped ? n : space && space[1] == '.' ? words(from, end) : 1;
        from = end + 1;
    }
    return sum ? sum : 1;
}

START_TEST(lines_multiply_to_rows) {
    char *text = page();
    uint32_t n_rows;
    unsigned sum = 0;
    isa_rows(&n_rows);
    for (char *line = strstr(text, "\n| | "); line; line = strstr(line + 1, "\n| | ")) {
        const char *modifiers = line + 5, *end = strstr(modifiers - 1, " | ");
        const char *types = end + 3, *types_end = strstr(types - 1, " | ");
        sum += modifier_combinations(modifiers, end) * type_combinations(types, types_end);
    }
    uint32_t compounds = 0; /* one row of the instruction table stands for all compound instructions */
    while (mechanism_instructions()[compounds])
        compounds++;
    ck_assert_uint_eq(sum, n_rows - 1 + compounds);
    free(text);
}
END_TEST

START_TEST(lines) {
    char *text = page();
    static const char *const wanted[] = {
        "\n## Arithmetic\n",
        ("\n| **`add`** | a + b | | | |\n| |  | .u16 .s16 .u32 .s32 .u64 .s64 .u16x2 .s16x2 | INT_ADD |  |\n"
         "| | .sat | .s32 | INT_ADD |  |\n"),
        "\n| **`div`** | a / b | | | |\n| |  | .u16 .s16 .u32 .s32 .u64 .s64 | INT_DIV |  |\n",
        "\n| | .l .r, .wrap .clamp | .b32 | INT_OTHER |  |\n",
        "\n| | [.add .min .max], [.sat] | (.u32 .s32)(.u32 .s32)(.u32 .s32) | INT_OTHER |  |\n",
        "\n| **`or`** | a \\| b | | | |\n",
        "\n| **`clusterlaunchcontrol`** | cancelling of clusters that have not started; not supported | | | |\n",
        "\n| | .sync, .mma_async, .satfinite | .s32(.s8 .u8)(.s8 .u8) | MMA |  |\n",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        ck_assert_msg(strstr(text, wanted[i]), "the page lacks %s", wanted[i]);
    free(text);
}
END_TEST

SUITE(isa_document) {
    TEST(lines_multiply_to_rows);
    TEST(lines);
}
