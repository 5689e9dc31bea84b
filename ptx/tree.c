/* Parsing of a text, and look-ups in a tree. */
#include "ptx/tree.h"
#include "ptx/parse.h"
#include "ptx/parse.tab.h"
#include <string.h>

/* Limits of the memory for a tree. A tree needs at most 64 bytes per byte of text; bytes_per_byte leaves a margin. The
 * worst case is "1," in an initialiser: two bytes of text make an element and a number. */
static const size_t base_bytes = (size_t)64 << 20, bytes_per_byte = 80, max_bytes = (size_t)16 << 30;

static size_t skip_tabs(const char *text, size_t len, size_t at) {
    while (at < len && (text[at] == ' ' || text[at] == '\t'))
        at++;
    return at;
}

/* Returns true if a preprocessor's line marker, "# 1" or "#line 1", is at `at`. The scanner skips line markers too. */
static bool is_line_marker(const char *text, size_t len, size_t at) {
    if (text[at] != '#')
        return false;
    size_t from = skip_tabs(text, len, at + 1);
    if (len - from > 4 && memcmp(text + from, "line", 4) == 0)
        from = skip_tabs(text, len, from + 4);
    return from > at + 1 && from < len && text[from] >= '0' && text[from] <= '9';
}

/* Returns the offset after leading white space, comments, line markers and a byte order mark. */
static size_t skip_blank(const char *text, size_t len) {
    size_t at = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < len) {
        const char *end;
        if (strchr(" \t\r\n\v\f", text[at]) && text[at]) {
            at++;
        } else if ((at + 1 < len && text[at] == '/' && text[at + 1] == '/') || is_line_marker(text, len, at)) {
            end = memchr(text + at, '\n', len - at);
            at = end ? (size_t)(end - text) : len;
        } else if (at + 1 < len && text[at] == '/' && text[at + 1] == '*') {
            end = memmem(text + at + 2, len - at - 2, "*/", 2);
            if (!end)
                return at;
            at = (size_t)(end - text) + 2;
        } else {
            break;
        }
    }
    return at;
}

/* Rejects a text that is not PTX before memory is allocated for it. */
static bool looks_like_ptx(struct diags *d, size_t len) {
    if (len > PTX_LONGEST) {
        diag_error(d, (struct loc){0, 1}, "the text is longer than %d MiB", PTX_LONGEST >> 20);
        return false;
    }
    size_t at = skip_blank(d->text, len);
    struct loc loc = {(uint32_t)at, (uint32_t)at + 1};
    if (len - at >= 8 && memcmp(d->text + at, ".version", 8) == 0) {
        const char *zero = memchr(d->text, 0, len); /* a zero byte would truncate strings in the tree */
        if (zero)
            diag_error(d, (struct loc){(uint32_t)(zero - d->text), (uint32_t)(zero - d->text) + 1}, "unexpected 0x00");
        return !zero;
    }
    if (len - at >= 2 && memcmp(d->text + at, "/*", 2) == 0)
        diag_error(d, loc, "unterminated comment");
    else if (len >= 4 && memcmp(d->text,
                                "\x7f"
                                "ELF",
                                4) == 0)
        diag_error(d, loc, "not PTX: this is an ELF file");
    else if (at == len)
        diag_error(d, loc, "not PTX: the text is empty, expected .version first");
    else
        diag_error(d, loc, "not PTX: expected .version first, as in '.version 7.0'");
    return false;
}

static void check_header(struct parser *ps) {
    struct loc end = {ps->at, ps->at};
    if (!ps->diags->errors && !ps->module->targets) {
        diag_error(ps->diags, end, "missing .target");
        diag_help(ps->diags, "a module begins with .version, .target and .address_size");
    }
}

static void parse(struct parser *ps) {
    words_init(ps);
    ps->at = memcmp(ps->diags->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (scan_start(ps, ps->len) && ptx_yyparse(ps) == 0)
        check_header(ps);
    else if (!ps->diags->errors)
        diag_error(ps->diags, ps->current, "syntax error");
    ps->module->n_words = ps->words.n;
}

/* Parses within the arena's limit. Returns NULL if out of memory. */
static struct module *parse_within(struct arena *arena, struct diags *d, size_t len, bool heads) {
    jmp_buf full;
    if (setjmp(full))
        return NULL;
    arena_on_full(arena, &full);
    struct module *m = arena_alloc(arena, sizeof *m);
    *m = (struct module){.arena = arena, .diags = d};
    if (looks_like_ptx(d, len)) {
        struct parser *ps = arena_alloc(arena, sizeof *ps);
        *ps = (struct parser){.arena = arena, .diags = d, .module = m, .len = len, .skips_bodies = heads};
        m->parser = ps;
        parse(ps);
    }
    arena_on_full(arena, NULL);
    return m;
}

static struct module *parse_text(struct diags *d, bool heads) {
    size_t len = d->len;
    while (len && d->text[len - 1] == 0) /* zero bytes at the end do not belong to the text */
        len--;
    struct arena *arena = arena_new(len > max_bytes / bytes_per_byte ? max_bytes : base_bytes + len * bytes_per_byte);
    struct module *m = arena ? parse_within(arena, d, len, heads) : NULL;
    if (!m) {
        diag_error(d, (struct loc){0, 1}, "out of memory");
        arena_free(arena);
    }
    return m;
}

struct module *ptx_parse(struct diags *d) {
    return parse_text(d, false);
}
struct module *ptx_parse_heads(struct diags *d) {
    return parse_text(d, true);
}

static bool parse_body(const struct module *m, struct function *f) {
    struct parser *ps = m->parser;
    *ps = (struct parser){.arena = m->arena,
                          .diags = m->diags,
                          .module = ps->module,
                          .words = ps->words,
                          .warp_sz = ps->warp_sz,
                          .at = f->skipped.begin,
                          .len = f->skipped.end,
                          .begins_body = true};
    const int errors = m->diags->errors;
    if (!scan_start(ps, ps->len) || ptx_yyparse(ps) != 0 || m->diags->errors > errors)
        return false;
    ps->module->n_words = ps->words.n;
    f->body = ps->body;
    f->skipped = (struct loc){0, 0};
    f->skipped_instructions = 0;
    return true;
}

bool ptx_need_body(const struct module *m, struct function *f) {
    jmp_buf full;
    if (!f->skipped.end)
        return true;
    volatile bool parsed = false;
    if (setjmp(full)) {
        diag_error(m->diags, f->name_loc, "out of memory while parsing '%s'", f->name->text);
    } else {
        arena_on_full(m->arena, &full);
        parsed = parse_body(m, f);
    }
    arena_on_full(m->arena, NULL);
    return parsed;
}

void ptx_free(struct module *m) {
    if (m)
        arena_free(m->arena);
}

struct function *ptx_function(const struct module *m, const char *name, bool entry) {
    struct function *found = NULL;
    for (const struct statement *s = m->statements; s; s = s->next) {
        if (s->kind != ST_FUNCTION || s->function->is_entry != entry || strcmp(s->function->name->text, name) != 0)
            continue;
        if (s->function->has_body)
            return s->function;
        if (!found)
            found = s->function;
    }
    return found;
}

struct function *ptx_entry(const struct module *m, int n) {
    for (const struct statement *s = m->statements; s; s = s->next)
        if (s->kind == ST_FUNCTION && s->function->is_entry && s->function->has_body && n-- == 0)
            return s->function;
    return NULL;
}
