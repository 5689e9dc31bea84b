#include "spelling.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int smaller(int a, int b) { return a < b ? a : b; }

/* Edit distance with swapped neighbours as one step, letters compared without case; `cap` when it is at least that. */
static int distance(const char *a, int na, const char *b, int nb, int cap) {
    if (abs(na - nb) >= cap)
        return cap;
    int rows[3][SPELLING_LONGEST + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (int j = 0; j <= nb; j++)
        last[j] = j;
    for (int i = 1; i <= na; i++) {
        row[0] = i;
        int least = i;
        for (int j = 1; j <= nb; j++) {
            int ca = tolower((unsigned char)a[i - 1]), cb = tolower((unsigned char)b[j - 1]);
            int best = smaller(smaller(last[j], row[j - 1]) + 1, last[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) && tolower((unsigned char)a[i - 2]) == cb)
                best = smaller(best, before[j - 2] + 1);
            row[j] = best;
            least = smaller(least, best);
        }
        if (least >= cap)
            return cap;
        int *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return smaller(last[nb], cap);
}

void spelling_begin(struct spelling *s, const char *word, size_t len) {
    *s = (struct spelling){.word = word, .len = len, .cap = len < 6 ? 2 : (int)len / 3 + 1};
    if (len == 0 || len > SPELLING_LONGEST)
        s->cap = 0;
}

void spelling_try(struct spelling *s, const char *candidate) {
    size_t length = strlen(candidate);
    if (!s->cap || length > SPELLING_LONGEST || length == 0)
        return;
    int d = distance(s->word, (int)s->len, candidate, (int)length, s->cap);
    if (d < s->cap && d < (int)length) { /* two letters differ wholly after two */
        s->best = candidate;
        s->cap = d;
    }
}
