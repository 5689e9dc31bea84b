/* The filter between scanner and grammar. It counts brackets. After an error it finds the token where parsing resumes:
 * the end of the statement in a body, the end of the declaration or function in a module. */
#include "ptx/parse.h"
#include "ptx/parse.tab.h"
#include <string.h>

static int end_of_text(struct parser *ps, struct loc *loc) {
    loc->begin = loc->end = ps->current.end;
    return PTX_YYEOF;
}

static int too_deep(struct parser *ps, struct loc *loc) {
    diag_error(ps->diags, *loc, "more than %d nested brackets", MAX_NESTING);
    ps->stop = true;
    return end_of_text(ps, loc);
}

/* Counts the open brackets of a statement. For a block's {, open_block() in the grammar resets the count. */
static int count(struct parser *ps, int token, struct loc *loc) {
    switch (token) {
    case '{':
    case '(':
    case '[':
        if (token == '{')
            ps->braces++;
        else
            ps->parens_open++;
        if (ps->braces + ps->parens_open > MAX_NESTING)
            return too_deep(ps, loc);
        break;
    case ')':
    case ']':
        ps->parens_open -= ps->parens_open > 0;
        break;
    case '}':
        ps->closes_block = ps->braces == 0;
        ps->braces -= ps->braces > 0;
        break;
    case ';':
        ps->braces = ps->parens_open = 0;
        break;
    default:
        break;
    }
    return token;
}

static int scan(struct parser *ps, union ptx_value *value, struct loc *loc) {
    int token = scan_token(value, loc, ps->scanner);
    ps->before = ps->current;
    ps->current = *loc;
    return token;
}

static bool begins_item(int token) { return token == LINKAGE || token == ENTRY || token == FUNC; }

/* Returns true for a token that, at the beginning of a line, always begins a statement. When the filter skips text
 * after an error, it may stop at such a token. */
static bool begins_statement(const struct parser *ps, int token, struct loc loc) {
    if (token != '@' && token != LOC && token != FILE_)
        return false;
    const char *p = ps->diags->text + loc.begin;
    while (p > ps->diags->text && (p[-1] == ' ' || p[-1] == '\t'))
        p--;
    return p == ps->diags->text || p[-1] == '\n';
}

static void end_recovery(struct parser *ps) {
    ps->recover = false;
    ps->braces = ps->parens_open = ps->skipped_braces = 0;
}

static void replay(struct parser *ps, int token, struct loc loc) {
    ps->replay = token;
    ps->replay_loc = loc;
}

/* Returns true if a { after the token `last` opens a vector or list. Otherwise it is misplaced, as in `if (x) {`.
 * `place` is the location of `last`. */
static bool vector_after(const struct parser *ps, int last, struct loc place) {
    if (last == WORD) /* a word with a dot is an opcode; a word without a dot may be `else` */
        return memchr(ps->diags->text + place.begin, '.', place.end - place.begin) != NULL;
    return last == ',' || last == '[' || last == '(' || last == '=' || last == '{';
}

/* If skipping ends at `token`, returns the token that the grammar gets. Returns -1 if `token` must be skipped, too. */
static int resume_token(struct parser *ps, int token, struct loc loc) {
    if (begins_item(token) && (ps->depth == 0 || token != LINKAGE)) {
        replay(ps, token, loc);
        ps->braces_to_insert = ps->depth;
        return ps->depth ? '}' : RECOVER;
    }
    if (ps->depth && !ps->skipped_braces && begins_statement(ps, token, loc)) {
        replay(ps, token, loc);
        return RECOVER;
    }
    switch (token) {
    case PTX_YYEOF:
        return PTX_YYEOF;
    case ';':
        ps->braces = 0;
        return ps->skipped_braces ? -1 : ';';
    case '{':
        if (vector_after(ps, ps->last, ps->before))
            ps->braces++;
        else
            ps->skipped_braces++;
        return -1;
    case '}':
        if (ps->braces)
            ps->braces--;
        else if (!ps->skipped_braces)
            return ps->depth ? '}' : RECOVER;
        else if (--ps->skipped_braces == 0)
            return ps->depth ? ';' : RECOVER;
        return -1;
    default:
        return -1;
    }
}

static int skip(struct parser *ps, union ptx_value *value, struct loc *loc) {
    for (;;) {
        int token = ps->recover_now ? RECOVER : scan(ps, value, loc);
        ps->recover_now = false;
        if (ps->stop || diags_full(ps->diags))
            return end_of_text(ps, loc);
        int stop = token == RECOVER ? RECOVER : resume_token(ps, token, *loc);
        ps->last = token;
        if (stop >= 0) {
            if (ps->braces_to_insert) {
                ps->braces_to_insert--;
                loc->end = loc->begin;
            }
            end_recovery(ps);
            return stop;
        }
    }
}

/* Returns the next token of a replay: first each } that must be inserted, then the saved token. */
static int replay_next(struct parser *ps, union ptx_value *value, struct loc *loc) {
    *loc = ps->replay_loc;
    if (ps->braces_to_insert) {
        ps->braces_to_insert--;
        loc->end = loc->begin;
        return '}';
    }
    int token = ps->replay;
    if (token >= 128)
        value->word = &words_intern(ps, ps->diags->text + loc->begin, loc->end - loc->begin)->word;
    ps->replay = 0;
    return token;
}

int token_next(struct parser *ps, union ptx_value *value, struct loc *loc) {
    if (ps->recover)
        return skip(ps, value, loc);
    if (ps->replay)
        return replay_next(ps, value, loc);
    if (ps->begins_body) {
        ps->begins_body = false;
        loc->begin = loc->end = ps->at;
        return BODY;
    }
    int token = scan(ps, value, loc);
    if (ps->stop)
        return end_of_text(ps, loc);
    ps->last_but_one = ps->last;
    ps->last = token;
    if (token == PTX_YYerror)
        ps->recover = true; /* the scanner has already reported this error */
    return token < 128 ? count(ps, token, loc) : token;
}

void token_recover(struct parser *ps, int found) {
    ps->stop |= diags_full(ps->diags);
    if (found == PTX_YYEOF || found == ';')
        return;
    if (found == '}' && ps->closes_block) {
        if (ps->depth)
            return;
        ps->recover_now = true;
    } else if (begins_item(found) && (ps->depth == 0 || found != LINKAGE)) {
        replay(ps, found, ps->current);
        ps->braces_to_insert = ps->depth;
        ps->recover_now = ps->depth == 0;
        ps->braces = ps->parens_open = 0;
        if (ps->depth)
            return; /* inserted } come first */
    } else if (ps->resume || (ps->depth && begins_statement(ps, found, ps->current))) {
        replay(ps, found, ps->current);
        ps->recover_now = true;
    } else if (found == '{' && !vector_after(ps, ps->last_but_one, ps->before)) {
        ps->braces--;
        ps->skipped_braces = 1;
    }
    ps->recover = true;
}
