#include "config_scan.h"
#include <ctype.h>
#include <errno.h>
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

enum config_token config_scan(struct config_scan *s) {
    while (*s->at) {
        const char *at = s->at, *next = skip(at);
        if (next == at && (*at == '@' || isdigit((unsigned char)*at))) {
            s->next = at;
            s->len = *at == '@' ? strcspn(at, "\n") : strspn(at, "0123456789abcdefABCDEFxX.+-L");
            s->at += s->len;
            return *at == '@' ? CONFIG_TOKEN_INCLUDE : CONFIG_TOKEN_NUMBER;
        }
        if (next == at && (isalpha((unsigned char)*at) || *at == '*'))
            next = at + 1 + strspn(at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_*");
        advance(s, next == at ? at + 1 : next);
    }
    return CONFIG_TOKEN_END;
}

int config_number_is_large(const struct config_scan *s) {
    const char *at = s->next;
    int hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    if (!hex && strcspn(at, ".eE") < s->len)
        return 0;
    errno = 0;
    return strtoull(at, NULL, hex ? 16 : 10) > INT32_MAX || errno;
}
