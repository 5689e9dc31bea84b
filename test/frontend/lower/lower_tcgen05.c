/* Tests which forms of tcgen05 exist on which targets, against a list of what ptxas accepts
 * (test/data/tensor_forms.txt). */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1 << 20, LINE = 4096, TARGETS = 4 };
static const char letters[] = "a3tf", *const targets[TARGETS] = {"sm_100a", "sm_103a", "sm_110a", "sm_100f"};

/* Appends a form to the text. Expands its abbreviated vectors to lists of registers. */
static size_t append(char *to, const char *form) {
    size_t n = 0;
    for (const char *at = form; *at;) {
        char type;
        int count, end;
        if (sscanf(at, "{%c*%d}%n", &type, &count, &end) != 2) {
            to[n++] = *at++;
            continue;
        }
        for (int i = 0; i < count; i++)
            n += (size_t)sprintf(to + n, "%s%%%c%d", i ? "," : "{", type, i);
        to[n++] = '}';
        at += end;
    }
    to[n++] = '\n';
    return n;
}

static size_t head(char *to, const char *target) {
    return (size_t)sprintf(
        to,
        ".version 9.0\n.target %s\n.address_size 64\n.visible .entry k() {\n.reg .pred %%p<4>; .reg "
        ".b32 %%r<10>; .reg .b32 %%v<256>; .reg .f32 %%f<256>; .reg .b64 %%d<5>; .reg .b16 %%h<2>;\n",
        target);
}

/* Returns true if the kernel of a module can be compiled. */
static bool compiles(struct heddle *h, const char *text, size_t n) {
    struct heddle_kernel_info info;
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, n);
    return m && heddle_kernel_info(h, m, "k", &info) == HEDDLE_OK;
}

static bool exists(struct heddle *h, char *text, const char *target, const char *form) {
    size_t n = head(text, target);
    n += append(text + n, form);
    n += (size_t)sprintf(text + n, "ret;\n}\n");
    return compiles(h, text, n);
}

/* Returns the form in a line of the list, and copies the targets of the form to `on`. Returns NULL if the line has no
 * form. */
static char *form_of(char *line, char *on) {
    char *space = strchr(line, ' ');
    if (line[0] == '#' || !space)
        return NULL;
    *space = '\0';
    strcpy(on, line);
    space[strcspn(space + 1, "\n") + 1] = '\0';
    return space + 1;
}

START_TEST(forms) {
    static char text[TEXT], alone[LINE * 2], line[LINE], on[LINE];
    char err[512];
    struct heddle *h = heddle_open(NULL, err, sizeof err);
    FILE *in = fopen("test/data/tensor_forms.txt", "r");
    size_t n = head(text, targets[_i]);
    int accepted = 0, refused = 0;
    ck_assert_ptr_nonnull(in);
    while (fgets(line, sizeof line, in)) {
        const char *form = form_of(line, on);
        if (!form)
            continue;
        ck_assert_uint_lt(n, TEXT - LINE);
        if (strchr(on, letters[_i])) {
            n += append(text + n, form);
            accepted++;
        } else {
            EXPECT(!exists(h, alone, targets[_i], form), "accepted: %s", form);
            refused++;
        }
    }
    fclose(in);
    n += (size_t)sprintf(text + n, "ret;\n}\n");
    ck_assert_msg(compiles(h, text, n), "%.2000s", heddle_error(h));
    ck_assert_int_gt(accepted, 400);
    ck_assert_int_gt(refused, 250);
    heddle_close(h);
}
END_TEST

SUITE(frontend_lower_lower_tcgen05) { TEST_LOOP(forms, 0, TARGETS); }
