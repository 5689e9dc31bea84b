#include "config_scan.h"
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns the end of the comment or string that begins at `at`. Returns `at` itself if neither begins there. */
static const char *skip(const char *at) {
    const char *end;
    if (at[0] == '#' || (at[0] == '/' && at[1] == '/'))
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*')
        return (end = strstr(at + 2, "*/")) ? end + 2 : at + strlen(at);
    if (at[0] != '"')
        return at;
    for (end = at + 1; *end && *end != '"'; end++)
        end += end[0] == '\\' && end[1];
    return *end ? end + 1 : end;
}

static void advance(struct config_scan *s, const char *to) {
    for (; s->at < to; s->at++)
        s->line += *s->at == '\n';
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

enum config_token config_scan(struct config_scan *s) {
    while (*s->at) {
        const char *at = s->at, *next = skip(at);
        if (next == at && (*at == '@' || isdigit((unsigned char)*at))) {
            s->next = at;
            s->len = *at == '@' ? strcspn(at, "\n") : strspn(at, "0123456789abcdefABCDEFxX.+-L");
            s->at += s->len;
            return *at == '@' ? CONFIG_TOKEN_INCLUDE : CONFIG_TOKEN_NUMBER;
        }
        if (next == at && (is_letter(*at) || *at == '*'))
            for (next++; is_letter(*next) || (*next >= '0' && *next <= '9') || (*next && strchr("-_*", *next));)
                next++;
        advance(s, next == at ? at + 1 : next);
    }
    return CONFIG_TOKEN_END;
}

void config_drop_comments(char *text) {
    char *to = text;
    for (const char *at = text, *next; *at; at = next) {
        next = skip(at);
        const bool comment = next != at && *at != '"', block = comment && at[0] == '/' && at[1] == '*',
                   ends = !block || (next - at > 3 && next[-2] == '*' && next[-1] == '/');
        if (comment && ends)
            *to++ = ' ';
        if (next == at)
            next++;
        for (; at < next; at++)
            if (!comment || !ends || *at == '\n')
                *to++ = *at;
    }
    *to = '\0';
}

int config_number_is_large(const struct config_scan *s) {
    const char *at = s->next;
    int hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    if (!hex && strcspn(at, ".eE") < s->len)
        return 0;
    errno = 0;
    return strtoull(at, NULL, hex ? 16 : 10) > INT32_MAX || errno;
}
