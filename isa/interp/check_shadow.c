/* Storage of the race detector: pages of access histories, allocated at the first access. */
#include "check_state.h"
#include <stdlib.h>

enum { WORD_SHIFT = 2, BYTE_SHIFT = 0 };
/* Stands for a page that could not be allocated. It is never written. */
static const struct shadow_page no_page;
#define UNFOLLOWED ((struct shadow_page *)&no_page)

static size_t page_bytes(unsigned shift) {
    return sizeof(struct shadow_page) + (PAGE_BYTES >> shift) * sizeof(struct granule);
}

static struct shadow_page *new_page(struct checker *k, unsigned shift) {
    struct shadow_page *p = NULL;
    if (k->shadow_bytes + page_bytes(shift) <= SHADOW_LIMIT && !(p = calloc(1, page_bytes(shift))))
        k->out_of_memory = true;
    if (!p) {
        k->unfollowed += PAGE_BYTES;
        return UNFOLLOWED;
    }
    k->shadow_bytes += page_bytes(shift);
    p->shift = shift;
    return p;
}

static void free_page(struct checker *k, struct shadow_page *p) {
    if (!p || p == UNFOLLOWED)
        return;
    k->shadow_bytes -= page_bytes(p->shift);
    free(p);
}

/* Splits a page of words into bytes. Each byte gets the history of its word. */
static struct shadow_page *split_page(struct checker *k, struct shadow_page *words) {
    struct shadow_page *p = new_page(k, BYTE_SHIFT);
    for (unsigned i = 0; p != UNFOLLOWED && i < PAGE_BYTES; i++) {
        p->g[i] = words->g[i >> WORD_SHIFT];
        p->g[i].value = words->g[i >> WORD_SHIFT].value >> 8 * (i & 3) & 0xff;
    }
    free_page(k, words);
    return p;
}

struct granule *shadow_at(struct checker *k, struct shadow *s, uint64_t offset, unsigned bytes, unsigned msize,
                          unsigned *shift) {
    if (!s->page && !(s->page = calloc(s->bytes / PAGE_BYTES + 1, sizeof(struct shadow_page *)))) {
        k->out_of_memory = true;
        return NULL;
    }
    struct shadow_page **page = &s->page[offset / PAGE_BYTES];
    bool in_words = msize % 4 == 0 && !((offset | bytes) & 3);
    if (!*page)
        *page = new_page(k, in_words ? WORD_SHIFT : BYTE_SHIFT);
    if (!in_words && *page != UNFOLLOWED && (*page)->shift == WORD_SHIFT)
        *page = split_page(k, *page);
    if (*page == UNFOLLOWED)
        return NULL;
    *shift = (*page)->shift;
    return &(*page)->g[offset % PAGE_BYTES >> *shift];
}

void shadow_clear(struct shadow *s, uint64_t offset, uint64_t bytes) {
    for (uint64_t at = offset; s->page && at < offset + bytes; at++) {
        struct shadow_page *p = s->page[at / PAGE_BYTES];
        if (p && p != UNFOLLOWED)
            memset(&p->g[at % PAGE_BYTES >> p->shift], 0, sizeof p->g[0]);
    }
}

void shadow_free(struct checker *k, struct shadow *s) {
    for (uint64_t i = 0; s->page && i <= s->bytes / PAGE_BYTES; i++)
        free_page(k, s->page[i]);
    free(s->page);
    s->page = NULL;
}
