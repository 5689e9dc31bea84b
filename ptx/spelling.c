/* Finds the candidate nearest to an unknown word (spelling.h). */
#include "spelling.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int min_int(int a, int b) { return a < b ? a : b; }

/* Returns the edit distance without regard to case, or `cap` if it is at least `cap`. Swapping two neighbours is one
 * step. */
static int distance(const char *a, int na, const char *b, int nb, int cap) {
    if (abs(na - nb) >= cap)
        return cap;
    int rows[3][SPELLING_MAX_LENGTH + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (int j = 0; j <= nb; j++)
        last[j] = j;
    for (int i = 1; i <= na; i++) {
        row[0] = i;
        int least = i;
        for (int j = 1; j <= nb; j++) {
            int ca = tolower((unsigned char)a[i - 1]), cb = tolower((unsigned char)b[j - 1]);
            int best = min_int(min_int(last[j], row[j - 1]) + 1, last[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) && tolower((unsigned char)a[i - 2]) == cb)
                best = min_int(best, before[j - 2] + 1);
            row[j] = best;
            least = min_int(least, best);
        }
        if (least >= cap)
            return cap;
        int *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return min_int(last[nb], cap);
}

void spelling_begin(struct spelling *s, const char *word, size_t len) {
    *s = (struct spelling){.word = word, .len = len, .cap = len < 6 ? 2 : (int)len / 3 + 1};
    if (len == 0 || len > SPELLING_MAX_LENGTH)
        s->cap = 0;
}

void spelling_try(struct spelling *s, const char *candidate) {
    size_t length = strlen(candidate);
    if (!s->cap || length > SPELLING_MAX_LENGTH || length == 0)
        return;
    int d = distance(s->word, (int)s->len, candidate, (int)length, s->cap);
    if (d < s->cap && d < (int)length) { /* if the distance equals the candidate's length, no letter matches */
        s->best = candidate;
        s->cap = d;
    }
}
