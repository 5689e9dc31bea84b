/* Reports an unexpected token. The message lists what was expected in terms of PTX, not of grammar rules. */
#include "ptx/parse.h"
#include "ptx/parse.tab.h"
#include <string.h>

enum { MAX_LISTED = 4 };

/* If the grammar expects all tokens of `need`, the message contains `text` in place of the tokens of `need` and
 * `covers`. If `text` is NULL, the message omits the tokens of `covers`. The entries of the table are applied in order.
 * A list of tokens ends with 0. */
static const struct {
    const char *text;
    int need[3];
    int covers[20];
} phrases[] = {
    {"a directive such as .entry, .func or .global",
     {ALIAS},
     {VERSION, TARGET, ADDRESS_SIZE, ENTRY, FUNC, LINKAGE, SPACE, ALIGN, ATTRIBUTE, PRAGMA, LOC, FILE_, SECTION,
      DWARF}},
    {"a statement", {'@', WORD, SPACE}, {LINKAGE, ALIGN, ATTRIBUTE, PRAGMA, LOC, FILE_, SECTION, DWARF, '{'}},
    {"an operand", {'[', '(', INT}, {'{', WORD, FLOAT, SINK, '-', '+', '~', '!', DOTWORD, SPACE, TYPE, VECTOR, ':'}},
    {"a value", {'(', INT, WORD}, {'{', FLOAT, SINK, '-', '+', '~', '!', TYPE}},
    {"a predicate", {'!', WORD}, {0}},
    {"a type", {TYPE, VECTOR, ALIGN}, {PTR, SPACE, ATTRIBUTE, DOTWORD, SINK}},
    {NULL, {'*', RIGHT}, {'[', '*',  '+',   '-',        '/',           '%',   '&',       '|', '^', '<',
                          '>', LEFT, RIGHT, LESS_EQUAL, GREATER_EQUAL, EQUAL, NOT_EQUAL, AND, OR,  '?'}},
    {NULL, {TUNING}, {TUNING, ATTRIBUTE, PRAGMA}},
    {NULL, {SPACE}, {ALIGN, ATTRIBUTE}},
    {NULL, {'=', ';'}, {'<'}},
    {NULL, {WORD}, {SINK}},
    {NULL, {',', '('}, {'('}},
};

static const struct {
    int token;
    const char *text;
} singles[] = {
    {WORD, "a name"},
    {INT, "an integer"},
    {FLOAT, "a number such as 9.0"},
    {STRING, "a string"},
    {DOTWORD, "a dotted word"},
    {ENTRY, "'.entry'"},
    {FUNC, "'.func'"},
    {SPACE, "a state space"},
    {':', "':'"},
    {'=', "'='"},
    {'+', "'+'"},
    {',', "','"},
    {'(', "'('"},
    {')', "')'"},
    {'[', "'['"},
    {']', "']'"},
    {'<', "'<'"},
    {'>', "'>'"},
    {'{', "'{'"},
    {'}', "'}'"},
    {';', "';'"},
};

struct list {
    const char *text[64];
    int n;
};

static void collect_phrases(bool expected[N_TOKENS], struct list *out) {
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        bool all = true;
        for (int j = 0; j < 3 && phrases[i].need[j]; j++)
            all &= expected[phrases[i].need[j]];
        if (!all)
            continue;
        for (int j = 0; j < 3 && phrases[i].need[j] && phrases[i].text; j++)
            expected[phrases[i].need[j]] = false;
        for (int j = 0; j < 20 && phrases[i].covers[j]; j++)
            expected[phrases[i].covers[j]] = false;
        if (phrases[i].text)
            out->text[out->n++] = phrases[i].text;
    }
}

/* Formats a list as "a, b or c". The result is empty if the list has more than MAX_LISTED items. */
static void join(char *to, size_t size, const struct list *l) {
    size_t used = 0;
    *to = 0;
    for (int i = 0; i < l->n && l->n <= MAX_LISTED && used < size; i++)
        used += (size_t)snprintf(to + used, size - used, "%s%s",
                                 i == 0          ? ""
                                 : i == l->n - 1 ? " or "
                                                 : ", ",
                                 l->text[i]);
}

static void describe_token(const struct parser *ps, struct loc loc, char *to, size_t size) {
    char text[DIAG_EXCERPT];
    if (loc.begin >= ps->len)
        snprintf(to, size, "the end of the text");
    else
        snprintf(to, size, "'%s'", diag_excerpt(ps->diags, loc, text));
}

static void unknown_directive(struct parser *ps, const bool expected[N_TOKENS]) {
    int tokens[N_TOKENS], n = 0;
    for (int token = 128; token < N_TOKENS; token++)
        if (expected[token])
            tokens[n++] = token;
    const char *names[128];
    int n_names = words_known(tokens, n, names, 128);
    char word[DIAG_EXCERPT];
    diag_excerpt(ps->diags, ps->current, word);
    const char *near = diag_suggest(word, names, n_names);
    diag_error(ps->diags, ps->current, "unknown directive '%s'", word);
    if (near)
        diag_help(ps->diags, "did you mean '%s'?", near);
}

/* Reports common mistakes that have their own messages. Returns false if `found` is no such mistake. */
static bool report_common_mistake(struct parser *ps, int found, const bool expected[N_TOKENS]) {
    const struct diags *d = ps->diags;
    struct loc before = ps->before;
    if (found == DOTWORD && !expected['['] && (expected[SPACE] || expected[TUNING])) {
        unknown_directive(ps, expected);
        return true;
    }
    if ((found == ENTRY || found == FUNC) && ps->depth) {
        uint32_t brace = ps->open_braces[0];
        diag_error(ps->diags, ps->current, "'%s' inside a function", found == ENTRY ? ".entry" : ".func");
        diag_note(ps->diags, (struct loc){brace, brace + 1}, "the function begins here; is its '}' missing?");
        return true;
    }
    if (found == '}' && ps->closes_block && ps->depth == 0 && expected[ALIAS]) {
        diag_error(ps->diags, ps->current, "'}' without '{'");
        return true;
    }
    bool header = expected['{'] && !expected['['];
    bool new_line = memchr(d->text + before.end, '\n', ps->current.begin - before.end) != NULL;
    if (expected[';'] && !header && found != PTX_YYEOF && (new_line || found == '}')) {
        char word[DIAG_EXCERPT + 16];
        describe_token(ps, before, word, sizeof word);
        diag_error(ps->diags, (struct loc){before.end, before.end + 1}, "missing ';' after %s", word);
        ps->resume = found == WORD || found == SPACE || found == '@' || found == LOC;
        return true;
    }
    return false;
}

void expect_report(struct parser *ps, int found, const bool expected[N_TOKENS]) {
    ps->resume = false;
    if (ps->stop || report_common_mistake(ps, found, expected))
        return;
    struct loc place = ps->current;
    if (found == PTX_YYEOF && ps->before.end)
        place = (struct loc){ps->before.end, ps->before.end + 1};
    bool rest[N_TOKENS];
    memcpy(rest, expected, sizeof rest);
    struct list l = {.n = 0};
    /* a declaration that already has a type lacks only its name, so the message omits further specifiers */
    if (rest[TYPE] && rest[ALIGN] && ps->decl.type)
        rest[TYPE] = rest[VECTOR] = rest[ALIGN] = rest[PTR] = rest[SPACE] = rest[ATTRIBUTE] = rest[DOTWORD] = false;
    collect_phrases(rest, &l);
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
        if (rest[singles[i].token])
            l.text[l.n++] = singles[i].text;
    char wanted[256], word[DIAG_EXCERPT + 16];
    join(wanted, sizeof wanted, &l);
    describe_token(ps, ps->current, word, sizeof word);
    bool guarded = ps->last_but_one == WORD && memchr("@!", ps->diags->text[ps->before.begin - 1], 2);
    if (l.n == 1 && expected[WORD] && guarded)
        diag_error(ps->diags, place, "expected an instruction, found %s", word);
    else if (*wanted)
        diag_error(ps->diags, place, "expected %s, found %s", wanted, word);
    else
        diag_error(ps->diags, place, "unexpected %s", word);
    if (found == PTX_YYEOF && ps->depth) {
        uint32_t brace = ps->open_braces[ps->depth - 1];
        diag_note(ps->diags, (struct loc){brace, brace + 1}, "this '{' is not closed");
    }
}
