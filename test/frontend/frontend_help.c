#include "frontend_help.h"
#include "host/heddle.h"
#include "mechanisms/all.h"
#include "test/test.h"

char *read_whole(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *text = malloc((size_t)n + 1);
    text[fread(text, 1, (size_t)n, f)] = '\0';
    fclose(f);
    return text;
}

struct lowered *lower_text(const char *text, const char *kernel) {
    struct lowered *l = calloc(1, sizeof *l);
    const struct lower_options all = {.passes = mechanism_passes()};
    l->text = strdup(text);
    diags_init(&l->diags, "test.ptx", l->text, strlen(l->text));
    l->module = ptx_parse(&l->diags);
    if (!l->module || l->diags.errors)
        return l;
    l->image = frontend_image(l->module);
    if (!l->image)
        return l;
    for (uint32_t i = 0; i < l->image->n_variables; i++)
        l->image->variables[i].address = DEVICE_BASE + 4096ull * i;
    const struct function *f = ptx_entry(l->module, 0);
    if (kernel || !f) {
        l->program = frontend_lower(l->image, kernel ? kernel : "", &all);
        return l;
    }
    for (int i = 0; (f = ptx_entry(l->module, i)); i++) {
        struct program *p = frontend_lower(l->image, f->name->text, &all);
        if (!l->program)
            l->program = p;
        else
            program_free(p);
    }
    return l;
}

struct lowered *lower_body(const char *body) {
    static const char head[] = ".version 7.0 .target sm_70 .address_size 64\n"
                               ".visible .entry k(.param .u64 p) { .reg .pred %p<9>; .reg .b16 %h<9>; "
                               ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %g<9>;\n";
    size_t size = sizeof head + strlen(body) + 4;
    char *text = malloc(size);
    snprintf(text, size, "%s%s\n}\n", head, body);
    struct lowered *l = lower_text(text, "k");
    free(text);
    return l;
}

void lowered_free(struct lowered *l) {
    program_free(l->program);
    frontend_image_free(l->image);
    ptx_free(l->module);
    diags_free(&l->diags);
    free(l->text);
    free(l);
}

const char *lowered_errors(struct lowered *l, char *buffer, size_t size) {
    size_t n = 0;
    buffer[0] = '\0';
    for (int i = 0; i < l->diags.n; i++) {
        int line, column;
        if (l->diags.list[i].kind != DIAG_ERROR)
            continue;
        diag_position(&l->diags, l->diags.list[i].loc.begin, &line, &column);
        int added = snprintf(buffer + n, size - n, "%d:%d: %s\n", line, column, l->diags.list[i].message);
        if (added < 0 || (size_t)added >= size - n)
            break;
        n += (size_t)added;
    }
    return buffer;
}

char *listing_of(const char *model, const char *const *set, const char *pass, const char *text) {
    char err[512] = "", *shown = NULL;
    size_t size;
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "c.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s\n%s", heddle_error(h), text);
    FILE *f = open_memstream(&shown, &size);
    ck_assert_msg(heddle_listing(h, m, "k", pass, f) == HEDDLE_OK, "%s", heddle_error(h));
    fclose(f);
    heddle_close(h);
    return shown;
}
