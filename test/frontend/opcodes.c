/* Tests that every opcode that decodes can also be lowered. Makes a small kernel for each opcode of the lists in
 * test/data, with operands that follow from the types. */
#include "frontend_help.h"
#include "test/opcode_text.h"
#include "test/test.h"

enum { TEXT = 4096 };

/* Returns the header of a module whose target has the opcode: shfl and vote without .sync exist only on old targets. */
static const char *header_of(const char *opcode) {
    const bool old = !strstr(opcode, ".sync") && (strncmp(opcode, "vote", 4) == 0 || strncmp(opcode, "shfl", 4) == 0);
    return old ? ".version 4.0\n.target sm_30, texmode_unified\n" : ".version 9.0\n.target sm_100, texmode_unified\n";
}

/* Returns NULL if a kernel with the opcode can be lowered; else the message, in a static buffer. */
static const char *lowering_error(const char *opcode, const struct decoded *d) {
    static char statement[TEXT], text[3 * TEXT], errors[TEXT + 1024];
    opcode_statement(opcode, d, statement, sizeof statement);
    snprintf(text, sizeof text,
             "%s.address_size 64\n.global %s image;\n%s"
             ".visible .entry k(.param .align 64 .b8 p[64]) {\n%s%s;\nEND: ret;\n}\n",
             header_of(opcode), opcode_image(opcode), opcode_module, opcode_registers, statement);
    struct lowered *low = lower_text(text, "k");
    bool ok = low->program != NULL;
    lowered_errors(low, errors, 1024);
    lowered_free(low);
    if (!ok)
        snprintf(errors + strlen(errors), sizeof errors - strlen(errors), "  of: %.1000s", statement);
    return ok ? NULL : errors;
}

static const char *const lists[] = {"test/data/opcodes_a.txt", "test/data/opcodes_b.txt", "test/data/opcodes_c.txt"};

START_TEST(real_opcodes_lower) {
    FILE *f = fopen(lists[_i], "r");
    char line[128];
    int n = 0, refused = 0;
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f)) {
        struct decoded d;
        struct decode_error why;
        line[strcspn(line, "\n")] = '\0';
        if (!isa_decode(line, (uint32_t)strlen(line), &d, &why))
            continue; /* the suite isa_decode checks which opcodes may be refused */
        n++;
        const char *wrong = lowering_error(line, &d);
        if (wrong) {
            fprintf(stderr, "%s: %s\n", line, wrong);
            refused++;
        }
    }
    fclose(f);
    ck_assert_int_gt(n, 300);
    ck_assert_msg(refused == 0, "%s: %d of %d opcodes do not lower", lists[_i], refused, n);
}
END_TEST

SUITE(frontend_opcodes) { TEST_LOOP(real_opcodes_lower, 0, sizeof lists / sizeof lists[0]); }
