#ifndef CONFIG_SCAN_H
#define CONFIG_SCAN_H
/* What libconfig does not say of a text: it keeps the low 32 bits of a whole number without a word. */
#include <stddef.h>

enum config_token { CONFIG_TOKEN_END, CONFIG_TOKEN_NUMBER, CONFIG_TOKEN_INCLUDE };
struct config_scan {
    const char *at;   /* where to go on */
    const char *next; /* the token */
    size_t len;       /* of a number; with its suffix L */
    int line;         /* of the token; 1 at the start */
};
/* The next number or @include line outside of comments, strings and names. */
enum config_token config_scan(struct config_scan *s);
/* Is the number a whole one that takes more than 31 bits? With the suffix L libconfig keeps 64 of them. */
int config_number_is_large(const struct config_scan *s);
#endif
