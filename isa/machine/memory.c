#include "memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALLOC_ALIGN = 256, ALLOC_GAP = 512 };
#define DEFAULT_LIMIT (16ull << 30)
#define ADDRESS_END   (1ull << 47)

void mem_init(struct memory *m, uint64_t limit_bytes) {
    memset(m, 0, sizeof *m);
    m->next = DEVICE_BASE;
    m->limit_bytes = limit_bytes ? limit_bytes : DEFAULT_LIMIT;
}

void mem_free_all(struct memory *m) {
    for (uint32_t i = 0; i < m->n; i++)
        free(m->list[i].storage);
    free(m->list);
    device_heap_free(m->heap);
    memset(m, 0, sizeof *m);
}

static bool grow(struct memory *m) {
    if (m->n < m->cap)
        return true;
    uint32_t cap = m->cap ? m->cap * 2 : 64;
    struct allocation *list = cap > m->cap ? realloc(m->list, cap * sizeof *list) : NULL;
    if (!list)
        return false;
    m->list = list;
    m->cap = cap;
    return true;
}

uint64_t mem_alloc(struct memory *m, uint64_t bytes, uint64_t align, const char *name, bool read_only) {
    if (align < ALLOC_ALIGN)
        align = ALLOC_ALIGN;
    if (bytes > m->limit_bytes - m->live_bytes || align > m->limit_bytes || (align & (align - 1)) || !grow(m))
        return 0;
    uint64_t begin = (m->next + align - 1) & ~(align - 1);
    if (bytes > ADDRESS_END || begin + bytes + ALLOC_GAP > ADDRESS_END)
        return 0;
    void *storage = calloc(1, bytes + 64);
    if (!storage)
        return 0;
    unsigned char *host = (unsigned char *)(((uintptr_t)storage + 63) & ~(uintptr_t)63); /* lanes in whole vectors */
    m->list[m->n] = (struct allocation){.begin = begin,
                                        .end = begin + bytes,
                                        .host = host,
                                        .name = name,
                                        .live = true,
                                        .read_only = read_only,
                                        .number = m->n + 1,
                                        .storage = storage};
    m->n++;
    m->next = begin + bytes + ALLOC_GAP;
    m->live_bytes += bytes;
    return begin;
}

/* Index of the last allocation that begins at or before `address`; m->n when there is none. */
static uint32_t last_before(const struct memory *m, uint64_t address) {
    uint32_t lo = 0, hi = m->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (m->list[mid].begin <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? lo - 1 : m->n;
}

bool mem_free(struct memory *m, uint64_t address) {
    uint32_t i = last_before(m, address);
    if (i == m->n || m->list[i].begin != address || !m->list[i].live)
        return false;
    struct allocation *a = &m->list[i];
    m->live_bytes -= a->end - a->begin;
    free(a->storage);
    a->storage = NULL;
    a->host = NULL;
    a->live = false;
    return true;
}

static bool holds(const struct allocation *a, uint64_t address, uint64_t bytes) {
    uint64_t size = a->end - a->begin;
    return a->live && address >= a->begin && bytes <= size && address - a->begin <= size - bytes;
}

const struct allocation *mem_find(const struct memory *m, uint64_t address, uint64_t bytes, uint32_t *hint) {
    if (hint && *hint < m->n && holds(&m->list[*hint], address, bytes))
        return &m->list[*hint];
    uint32_t i = last_before(m, address);
    if (i == m->n || !holds(&m->list[i], address, bytes))
        return NULL;
    if (hint)
        *hint = i;
    return &m->list[i];
}

const struct allocation *mem_owner(const struct memory *m, uint64_t address) {
    uint32_t i = last_before(m, address);
    return i < m->n && address < m->list[i].end ? &m->list[i] : NULL;
}

bool mem_read(const struct memory *m, uint64_t address, void *to, uint64_t bytes) {
    const struct allocation *a = mem_find(m, address, bytes, NULL);
    if (a && bytes)
        memcpy(to, a->host + (address - a->begin), bytes);
    return a != NULL;
}

bool mem_write(struct memory *m, uint64_t address, const void *from, uint64_t bytes) {
    const struct allocation *a = mem_find(m, address, bytes, NULL);
    if (a && bytes)
        memcpy(a->host + (address - a->begin), from, bytes);
    return a != NULL;
}

/* "buffer 3 (4096 bytes at 0x10000300)" */
static void name_allocation(const struct allocation *a, char *out, size_t size) {
    char what[160];
    if (a->name)
        snprintf(what, sizeof what, "variable '%.120s%s'", a->name, strlen(a->name) > 120 ? "..." : "");
    else
        snprintf(what, sizeof what, "buffer %u", a->number);
    snprintf(out, size, "%s (%llu bytes at 0x%llx)", what, (unsigned long long)(a->end - a->begin),
             (unsigned long long)a->begin);
}

/* Addresses below all allocations: what they would be in a generic address. */
static const char *low_region(uint64_t address) {
    if (address < CODE_BASE)
        return "in the page of the null pointer";
    if (address < PARAM_WINDOW)
        return "among the addresses of functions";
    if (address < SHARED_WINDOW)
        return "in the window of kernel parameters";
    if (address < LOCAL_WINDOW)
        return "in the window of shared memory";
    return "in the window of local memory";
}

void mem_describe(const struct memory *m, uint64_t address, char *out, size_t size) {
    if (address < DEVICE_BASE) {
        snprintf(out, size, "%s", low_region(address));
        return;
    }
    uint32_t i = last_before(m, address);
    const struct allocation *below = i < m->n ? &m->list[i] : NULL;
    const struct allocation *above = below ? (i + 1 < m->n ? below + 1 : NULL) : (m->n ? m->list : NULL);
    char name[256];
    if (!below && !above) {
        snprintf(out, size, "there are no allocations");
        return;
    }
    if (below && address < below->end) {
        name_allocation(below, name, sizeof name);
        snprintf(out, size, "%llu bytes into %s%s", (unsigned long long)(address - below->begin), name,
                 below->live ? "" : ", which has been freed");
        return;
    }
    bool past = below && (!above || address - below->end <= above->begin - address);
    const struct allocation *near = past ? below : above;
    name_allocation(near, name, sizeof name);
    snprintf(out, size, "%llu bytes %s %s%s", (unsigned long long)(past ? address - near->end : near->begin - address),
             past ? "past the end of" : "before the start of", name, near->live ? "" : ", which has been freed");
}
