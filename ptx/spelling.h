#ifndef PTX_SPELLING_H
#define PTX_SPELLING_H
/* Spelling suggestions ("did you mean"): finds the candidate nearest to an unknown word. */
#include <stddef.h>

enum { SPELLING_MAX_LENGTH = 64 }; /* maximum length of a word in bytes; a longer word gets no suggestion */

/* One search: call spelling_begin(), spelling_try() for each candidate, then read `best`. */
struct spelling {
    const char *word;
    size_t len;
    int cap;          /* candidates at this edit distance or more are rejected */
    const char *best; /* nearest candidate, NULL if none is close */
};

/* Starts a search for `word`, `len` bytes, which need not end in 0. A word of fewer than six letters may contain one
 * mistake, a longer word one mistake per three letters. A mistake is a missing, extra or wrong letter, or two swapped
 * neighbours; case is ignored. */
void spelling_begin(struct spelling *s, const char *word, size_t len);
/* Compares one candidate. Of equally near candidates, the first is kept. */
void spelling_try(struct spelling *s, const char *candidate);
#endif
