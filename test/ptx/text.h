#ifndef TEST_PTX_TEXT_H
#define TEST_PTX_TEXT_H
/* Fixture that parses short texts, for the tests of ptx/. */
#include "ptx/tree.h"
#include "test/test.h"

#define HEADER ".version 7.0\n.target sm_75\n.address_size 64\n"

/* A text, the messages about it, and its tree. */
struct parsed {
    struct diags diags;
    struct module *module;
    char *text;
};

static inline struct parsed parse_bytes(const char *bytes, size_t len) {
    struct parsed p;
    p.text = malloc(len ? len : 1); /* not zero-terminated */
    ck_assert_ptr_nonnull(p.text);
    memcpy(p.text, bytes, len);
    diags_init(&p.diags, "t.ptx", p.text, len);
    p.module = ptx_parse(&p.diags);
    return p;
}

static inline struct parsed parse_text(const char *text) { return parse_bytes(text, strlen(text)); }

static inline void parsed_free(struct parsed *p) {
    ptx_free(p->module);
    diags_free(&p->diags);
    free(p->text);
}

/* Returns the printed messages, which the caller frees. */
static inline char *messages(const struct diags *d) {
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    ck_assert_ptr_nonnull(out);
    diags_print(d, out);
    fclose(out);
    return text;
}

static inline char *printed(const struct module *m) {
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    ck_assert_ptr_nonnull(out);
    ptx_print(m, out);
    fclose(out);
    return text;
}

/* Parses a text that must be valid. If it has errors, fails the test and prints them. */
static inline struct parsed parse_good(const char *text) {
    struct parsed p = parse_text(text);
    char *output = messages(&p.diags);
    ck_assert_msg(p.diags.errors == 0, "%s", output);
    ck_assert_ptr_nonnull(p.module);
    free(output);
    return p;
}

/* Parses `items` after HEADER. */
static inline struct parsed parse_items(const char *items) {
    char *text;
    ck_assert_int_ge(asprintf(&text, HEADER "%s", items), 0);
    struct parsed p = parse_good(text);
    free(text);
    return p;
}

/* Parses `statements` as the body of a kernel. The statements begin on line 5. */
static inline struct parsed parse_body(const char *statements) {
    char *text;
    ck_assert_int_ge(asprintf(&text, HEADER ".entry k() {\n%s\n}", statements), 0);
    struct parsed p = parse_good(text);
    free(text);
    return p;
}

static inline struct statement *body_of(const struct parsed *p) { return p->module->statements->function->body; }
#endif
