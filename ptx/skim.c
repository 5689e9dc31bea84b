/* Recognises bodies of kernels that certainly have no syntax error, without building a tree. It accepts the statements
 * that compilers write, and leaves everything else to the grammar (parse.y): numbers in unusual notation, constant
 * expressions, variables with initialisers, calls through tables. */
#include "ptx/parse.h"
#include "ptx/parse.tab.h"
#include <string.h>

enum { MOST_BLOCKS = 32, MOST_BRACKETS = 3, MOST_DIMENSIONS = 8 };

struct skim {
    struct parser *ps;
    const char *at;
    const char *end; /* the last } of the text, where every loop over characters ends */
    uint32_t instructions;
};

/* Kinds of characters, as in scan.l. */
enum { LETTER = 1, DIGIT = 2, MARK = 4, PERCENT = 8, BLANK = 16, IN_WORD = LETTER | DIGIT | MARK };
static const uint8_t kinds[256] = {
    ['a' ... 'z'] = LETTER, ['A' ... 'Z'] = LETTER, ['0' ... '9'] = DIGIT, ['_'] = MARK,
    ['$'] = MARK,           ['%'] = PERCENT,        [' '] = BLANK,         ['\t' ... '\r'] = BLANK,
};

static bool is(char c, unsigned kind) { return (kinds[(unsigned char)c] & kind) != 0; }

static const char *behind_word(const char *p) {
    while (is(*p, IN_WORD))
        p++;
    return p;
}

/* Skips blanks and comments. Returns false for an operator '/' and an unterminated comment. */
static bool blank(struct skim *s) {
    for (;;) {
        while (is(*s->at, BLANK))
            s->at++;
        if (*s->at != '/')
            return true;
        const char *end = NULL;
        if (s->at[1] == '/')
            end = memchr(s->at, '\n', (size_t)(s->end - s->at));
        else if (s->at[1] == '*' && s->end - s->at > 2)
            end = memmem(s->at + 2, (size_t)(s->end - s->at - 2), "*/", 2);
        if (!end)
            return false;
        s->at = end + (*end == '*' ? 2 : 1);
    }
}

/* Takes the character c. The last } of the text ends a body, so it is not taken. */
static bool take(struct skim *s, char c) {
    if (*s->at != c || s->at == s->end)
        return false;
    s->at++;
    return true;
}

/* Takes a name or an opcode with its suffixes. WARP_SZ is a constant, which the grammar handles. */
static bool word(struct skim *s) {
    const char *p = s->at;
    if (is(*p, LETTER))
        p++;
    else if (is(*p, MARK | PERCENT) && is(p[1], IN_WORD))
        p += 2;
    else
        return false;
    p = behind_word(p);
    if (p - s->at == 7 && memcmp(s->at, "WARP_SZ", 7) == 0)
        return false;
    while (*p == '.' && is(p[1], IN_WORD)) {
        const char *suffix = p + 1;
        p = behind_word(suffix);
        if (*p == '[' && p - suffix == 5 && memcmp(suffix, "const", 5) == 0) /* the suffix may be .const[2] */
            return false;
        while (*p == ':' && p[1] == ':' && is(p[2], IN_WORD))
            p = behind_word(p + 2);
    }
    s->at = p;
    return *p != '.';
}

/* Takes hexadecimal digits: at least `least`, at most `most`. */
static bool hex(struct skim *s, const char *begin, int least, int most) {
    for (s->at = begin; is(*s->at, DIGIT) || ((*s->at | 0x20) >= 'a' && (*s->at | 0x20) <= 'f');)
        s->at++;
    return s->at - begin >= least && s->at - begin <= most;
}

static bool ends_number(const struct skim *s) { return !is(*s->at, IN_WORD) && *s->at != '.'; }

/* Takes a decimal number. Octal numbers and numbers that might not fit into 64 bits are left to the grammar. */
static bool decimal(struct skim *s, uint64_t *value) {
    const char *begin = s->at;
    *value = 0;
    while (is(*s->at, DIGIT) && s->at - begin < 19)
        *value = *value * 10 + (uint64_t)(*s->at++ - '0');
    return s->at > begin && s->at - begin < 19 && (*begin != '0' || s->at - begin == 1);
}

static bool integer(struct skim *s) {
    uint64_t value;
    const bool taken = *s->at == '0' && (s->at[1] | 0x20) == 'x' ? hex(s, s->at + 2, 1, 16) : decimal(s, &value);
    if (*s->at == 'U')
        s->at++;
    return taken && ends_number(s);
}

static bool number(struct skim *s) {
    const int prefix = *s->at == '0' ? s->at[1] | 0x20 : 0;
    if (prefix == 'f')
        return hex(s, s->at + 2, 8, 8) && ends_number(s);
    if (prefix == 'd')
        return hex(s, s->at + 2, 16, 16) && ends_number(s);
    return integer(s);
}

/* Takes a number from 1 to 999,999,999. */
static bool count(struct skim *s, uint64_t *value) {
    return decimal(s, value) && *value && *value < 1000000000 && ends_number(s);
}

/* Takes _, which is no name. */
static bool sink(struct skim *s) { return !is(s->at[1], IN_WORD) && take(s, '_'); }

/* Takes what may follow a name: the second part of a pair, or an offset. */
static bool after_name(struct skim *s) {
    if (!blank(s))
        return false;
    if (take(s, '|'))
        return blank(s) && (sink(s) || word(s));
    if (*s->at != '+' && *s->at != '-')
        return true;
    if (*s->at++ == '+' && blank(s))
        take(s, '-');
    return blank(s) && integer(s);
}

static bool expression(struct skim *s) {
    if (is(*s->at, DIGIT))
        return number(s);
    if (take(s, '!'))
        return blank(s) && word(s);
    if (take(s, '-'))
        return blank(s) && (is(*s->at, DIGIT) ? number(s) : word(s));
    return sink(s) || (word(s) && after_name(s));
}

static bool operands(struct skim *s, char close, int brackets);

/* Takes the arguments or results of a call. The ( is taken. */
static bool arguments(struct skim *s) {
    if (!blank(s))
        return false;
    if (take(s, ')'))
        return true;
    for (;;) {
        if (!expression(s) || !blank(s))
            return false;
        if (take(s, ')'))
            return true;
        if (!take(s, ',') || !blank(s))
            return false;
    }
}

static bool operand(struct skim *s, int brackets) {
    if (*s->at == '{' || *s->at == '[')
        return brackets && operands(s, *s->at++ == '{' ? '}' : ']', brackets - 1);
    return take(s, '(') ? arguments(s) : expression(s);
}

/* Takes at least one operand, then `close`. */
static bool operands(struct skim *s, char close, int brackets) {
    for (;;) {
        if (!blank(s) || !operand(s, brackets) || !blank(s))
            return false;
        if (take(s, close))
            return true;
        if (!take(s, ','))
            return false;
    }
}

/* Takes the rest of an instruction, whose opcode is taken. */
static bool instruction(struct skim *s) {
    s->instructions++;
    if (take(s, ';'))
        return true;
    return is(*s->at, BLANK) && blank(s) && (take(s, ';') || operands(s, ';', MOST_BRACKETS));
}

static bool guarded(struct skim *s) {
    if (!blank(s))
        return false;
    if (take(s, '!') && !blank(s))
        return false;
    return word(s) && is(*s->at, BLANK) && blank(s) && word(s) && instruction(s);
}

static bool label_or_instruction(struct skim *s) {
    if (!word(s))
        return false;
    const char *end = s->at;
    if (!blank(s))
        return false;
    if (take(s, ':'))
        return true;
    s->at = end;
    return instruction(s);
}

/* Takes the specifiers of a declaration: one type, and any vector and alignment. */
static bool specifiers(struct skim *s, bool registers) {
    int types = 0;
    uint64_t bytes;
    while (blank(s) && *s->at == '.') {
        const char *begin = s->at, *end = s->at = behind_word(begin + 1);
        const int token = words_intern(s->ps, begin, (size_t)(end - begin))->token;
        if (*end == ':' || *end == '[')
            return false;
        if (token == ALIGN && !registers) {
            if (!blank(s) || !count(s, &bytes) || bytes & (bytes - 1))
                return false;
        } else if (token == TYPE) {
            types++;
        } else if (token != VECTOR) {
            return false;
        }
    }
    return types == 1;
}

static bool declared_name(struct skim *s, bool registers) {
    uint64_t n;
    if (!word(s) || !blank(s))
        return false;
    if (registers)
        return !take(s, '<') || (blank(s) && count(s, &n) && blank(s) && take(s, '>') && blank(s));
    for (int dimension = 0; take(s, '['); dimension++)
        if (dimension == MOST_DIMENSIONS || !blank(s) || !count(s, &n) || !blank(s) || !take(s, ']') || !blank(s))
            return false;
    return true;
}

static bool declaration(struct skim *s, bool registers) {
    if (!specifiers(s, registers))
        return false;
    for (;;) {
        if (!declared_name(s, registers))
            return false;
        if (take(s, ';'))
            return true;
        if (!take(s, ',') || !blank(s))
            return false;
    }
}

static bool strings(struct skim *s) {
    for (;;) {
        if (!blank(s) || !take(s, '"'))
            return false;
        while (s->at < s->end && *s->at != '"' && *s->at != '\\' && *s->at != '\n')
            s->at++;
        if (!take(s, '"') || !blank(s))
            return false;
        if (take(s, ';'))
            return true;
        if (!take(s, ','))
            return false;
    }
}

/* Takes a number of a .loc directive. */
static bool place_number(struct skim *s) {
    uint64_t value;
    return blank(s) && decimal(s, &value) && value < 1000000000 && ends_number(s);
}

static bool place(struct skim *s) {
    if (!place_number(s) || !place_number(s) || !place_number(s))
        return false;
    for (;;) {
        if (!blank(s))
            return false;
        if (!take(s, ','))
            return true;
        if (!blank(s) || !word(s) || !blank(s))
            return false;
        if (is(*s->at, DIGIT)) {
            if (!place_number(s) || !place_number(s) || !place_number(s))
                return false;
        } else if (!word(s) || !blank(s) || (take(s, '+') && !place_number(s))) {
            return false;
        }
    }
}

static bool directive(struct skim *s) {
    const char *begin = s->at + 1;
    s->at = behind_word(begin);
    const size_t len = (size_t)(s->at - begin);
    if (*s->at == ':')
        return false;
    if (len == 3 && memcmp(begin, "reg", 3) == 0)
        return declaration(s, true);
    if (len == 3 && memcmp(begin, "loc", 3) == 0)
        return place(s);
    if ((len == 5 && (memcmp(begin, "param", 5) == 0 || memcmp(begin, "local", 5) == 0)) ||
        (len == 6 && memcmp(begin, "shared", 6) == 0))
        return declaration(s, false);
    return len == 6 && memcmp(begin, "pragma", 6) == 0 && strings(s);
}

static bool statement(struct skim *s) {
    if (*s->at == '.')
        return directive(s);
    return take(s, '@') ? guarded(s) : label_or_instruction(s);
}

uint32_t skim_body(struct parser *ps, uint32_t from, uint32_t *instructions) {
    const char *text = ps->diags->text, *last = memrchr(text, '}', ps->len);
    struct skim s = {.ps = ps, .at = text + from, .end = last};
    if (!last || s.at > last)
        return 0;
    for (int blocks = 0;;) {
        if (!blank(&s))
            return 0;
        if (take(&s, '{')) {
            if (++blocks > MOST_BLOCKS)
                return 0;
        } else if (*s.at != '}') {
            if (!statement(&s))
                return 0;
        } else if (blocks-- == 0) {
            *instructions = s.instructions;
            return (uint32_t)(s.at - text);
        } else if (!take(&s, '}')) {
            return 0;
        }
    }
}
