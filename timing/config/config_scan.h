#ifndef CONFIG_SCAN_H
#define CONFIG_SCAN_H
/* A scanner for large numbers in configuration files: libconfig silently keeps only the low 32 bits of a whole
 * number. */
#include <stddef.h>

enum config_token { CONFIG_TOKEN_END, CONFIG_TOKEN_NUMBER, CONFIG_TOKEN_INCLUDE };
struct config_scan {
    const char *at;   /* where scanning continues */
    const char *next; /* the token */
    size_t len;       /* length of a number, with its suffix L */
    int line;         /* line of the token; 1 at the start */
};
/* Finds the next number or @include line outside of comments, strings and names, and returns its kind. */
enum config_token config_scan(struct config_scan *s);
/* Replaces each comment of a text by a space, and keeps its lines. A comment without an end stays. In libconfig, the
 * characters of comments take longer than all others. */
void config_drop_comments(char *text);
/* Returns true if the number is an integer and needs more than 31 bits. This includes numbers with the suffix L,
 * although libconfig keeps 64 bits of them. */
int config_number_is_large(const struct config_scan *s);
#endif
