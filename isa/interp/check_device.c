/* Device memory: reads of uninitialised bytes, and blocks of malloc(). Races are in check_race.c. */
#include "check_state.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- which bytes have been written ---- */

static uint64_t allocation_bytes(const struct allocation *a) { return a->end - a->begin; }

/* Allocates the bitmap of written bytes. Returns false if out of memory; all bytes of the allocation then count as
 * written. */
static bool has_bits(struct checker *k, struct device_shadow *s, const struct allocation *a) {
    if (!s->written && !(s->written = calloc(1, allocation_bytes(a) / 8 + 1))) {
        s->all = true;
        k->out_of_memory = true;
    }
    return s->written != NULL;
}

/* Returns a mask of the bits [from, from + n), limited to the byte of bit `from`. Stores their number in *taken. */
static inline unsigned char bits_at(uint64_t from, uint64_t n, uint64_t *taken) {
    unsigned first = from & 7;
    *taken = n < 8 - first ? n : 8 - first;
    return (unsigned char)(((1u << *taken) - 1) << first);
}

static void set_bits(unsigned char *map, uint64_t from, uint64_t n, bool value) {
    uint64_t taken;
    for (; n; from += taken, n -= taken) {
        if (!(from & 7) && n >= 8) {
            taken = n & ~7ull;
            memset(map + from / 8, value ? 0xff : 0, n / 8);
            continue;
        }
        unsigned char bits = bits_at(from, n, &taken);
        map[from / 8] = value ? map[from / 8] | bits : map[from / 8] & (unsigned char)~bits;
    }
}

static bool all_bits(const unsigned char *map, uint64_t from, uint64_t n) {
    uint64_t taken;
    for (; n; from += taken, n -= taken) {
        unsigned char bits = bits_at(from, n, &taken);
        if ((map[from / 8] & bits) != bits)
            return false;
    }
    return true;
}

/* Returns the state of an allocation. Module variables are initialised, at least to zero; buffers are not. */
static struct device_shadow *shadow_of(struct checker *k, const struct memory *m, const struct allocation *a) {
    if (a->serial >= k->n_shadow) {
        uint32_t n = m->serials + m->serials / 2;
        struct device_shadow *more = realloc(k->shadow, n * sizeof *more);
        if (!more) {
            k->out_of_memory = true;
            return NULL;
        }
        memset(more + k->n_shadow, 0, (n - k->n_shadow) * sizeof *more);
        k->shadow = more;
        k->n_shadow = n;
    }
    struct device_shadow *s = &k->shadow[a->serial];
    if (!s->known) {
        bool host_only = !a->storage && !a->pages; /* memory that the host may write without Heddle's knowledge */
        s->all = a->name != NULL || host_only;
        s->touched.bytes = allocation_bytes(a);
    }
    bool pad = !s->known && a->padded;
    s->known = true;
    if (pad && has_bits(k, s, a)) { /* padding counts as written: the user allows accesses to it */
        set_bits(s->written, 0, MEM_SLACK, true);
        set_bits(s->written, allocation_bytes(a) - MEM_SLACK, MEM_SLACK, true);
    }
    return s;
}

void check_host_wrote(struct checker *k, const struct memory *m, uint64_t address, uint64_t bytes) {
    const struct allocation *a = mem_find(m, address, bytes, NULL);
    struct device_shadow *s = a ? shadow_of(k, m, a) : NULL;
    if (!s || s->all)
        return;
    if (bytes == allocation_bytes(a)) {
        s->all = true;
        free(s->written);
        s->written = NULL;
    } else if (has_bits(k, s, a)) {
        set_bits(s->written, address - a->begin, bytes, true);
    }
}

/* Reads one word per page that tells whether the process has touched it (Linux,
 * Documentation/admin-guide/mm/pagemap). */
static bool read_pages(int file, uint64_t first, uint64_t *words, uint64_t n) {
    size_t bytes = n * sizeof *words;
    return pread(file, words, bytes, (off_t)(first * sizeof *words)) == (ssize_t)bytes;
}

/* Marks as written all pages that the host or a kernel has touched. The system does not report which bytes of a page
 * were written. */
static void mark_touched_pages(struct checker *k, struct device_shadow *s, const struct allocation *a, int file) {
    enum { PAGE = 4096, AT_ONCE = 512 };
    static const uint64_t present = 3ull << 62; /* the page is in memory or swapped out */
    uint64_t words[AT_ONCE], bytes = allocation_bytes(a), pages = (bytes + PAGE - 1) / PAGE;
    for (uint64_t i = 0; i < pages && !s->all; i += AT_ONCE) {
        uint64_t n = pages - i < AT_ONCE ? pages - i : AT_ONCE;
        if (file < 0 || !read_pages(file, (uintptr_t)a->host / PAGE + i, words, n) || !has_bits(k, s, a)) {
            s->all = true;
            return;
        }
        for (uint64_t p = i; p < i + n; p++)
            if (words[p - i] & present)
                set_bits(s->written, p * PAGE, bytes - p * PAGE < PAGE ? bytes - p * PAGE : PAGE, true);
    }
}

void check_shared_memory(struct checker *k, const struct memory *m) {
    int file = -1;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct allocation *a = &m->list[i];
        struct device_shadow *s = a->live && a->pages ? shadow_of(k, m, a) : NULL;
        if (!s || s->all)
            continue;
        if (!a->mapped) { /* memory in a file (mem_move_to_file()), which other processes may write */
            s->all = true;
            continue;
        }
        if (file < 0)
            file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
        mark_touched_pages(k, s, a, file);
    }
    if (file >= 0)
        close(file);
}

void check_all_written(struct check_cta *c, const struct warp *w, uint64_t address) {
    const struct memory *m = w->cta->launch->memory;
    const struct allocation *a = mem_find(m, address, 1, NULL);
    struct device_shadow *s = a ? shadow_of(c->checker, m, a) : NULL;
    if (s)
        s->all = true;
}

/* ---- the heap of malloc() ---- */

/* Returns the index of the first block that begins after `address`. */
static uint32_t block_after(const struct checker *k, uint64_t address) {
    uint32_t lo = 0, hi = k->n_blocks;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (k->block[mid].begin <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Adds a block in place of the freed blocks it overlaps. */
static void add_block(struct checker *k, uint64_t begin, uint64_t bytes) {
    uint32_t first = block_after(k, begin), end = first;
    if (first && k->block[first - 1].begin + k->block[first - 1].bytes > begin)
        first--;
    while (end < k->n_blocks && k->block[end].begin < begin + bytes)
        end++;
    if (first == end && k->n_blocks == k->cap_blocks) {
        uint32_t cap = k->cap_blocks ? 2 * k->cap_blocks : 256;
        struct heap_record *more = realloc(k->block, cap * sizeof *more);
        if (!more) {
            k->out_of_memory = true;
            return;
        }
        k->block = more;
        k->cap_blocks = cap;
    }
    memmove(k->block + first + 1, k->block + end, (k->n_blocks - end) * sizeof *k->block);
    k->block[first] = (struct heap_record){.begin = begin, .bytes = bytes, .live = true, .free_pc = NO_PC};
    k->n_blocks += 1 - (end - first);
}

void check_malloc(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes) {
    struct checker *k = c->checker;
    const struct memory *m = c->cta->launch->memory;
    const uint64_t *result = reg_ptr(w, in->d);
    for (; lanes; lanes &= lanes - 1) {
        int l = __builtin_ctz(lanes);
        const struct allocation *a = result[l] ? mem_find(m, result[l], 1, &k->hint) : NULL;
        struct device_shadow *s = a ? shadow_of(k, m, a) : NULL;
        if (!s)
            continue;
        if (!k->heap) { /* this is the first block: from now on, accesses to the heap must be inside blocks */
            k->heap = a->begin;
            s->all = false;
        }
        add_block(k, result[l], c->malloc_bytes[l]);
        /* clears old accesses: the heap orders a free() before a malloc() that reuses the block */
        shadow_clear(&s->touched, result[l] - a->begin, c->malloc_bytes[l]);
        if (has_bits(k, s, a))
            set_bits(s->written, result[l] - a->begin, c->malloc_bytes[l], false);
    }
}

void check_heap_free(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes) {
    struct checker *k = c->checker;
    const uint64_t *address = reg_ptr(w, in->a);
    for (; lanes; lanes &= lanes - 1) {
        int l = __builtin_ctz(lanes);
        uint32_t i = block_after(k, address[l]);
        if (!i || k->block[i - 1].begin != address[l])
            continue;
        k->block[i - 1].live = false;
        k->block[i - 1].free_pc = check_pc(w, in);
        k->block[i - 1].free_thread = check_thread(w, l);
    }
}

static void describe_block(const struct heap_record *b, uint64_t at, char *out, size_t size) {
    uint64_t offset = at - b->begin;
    snprintf(out, size, "%llu bytes %s a block of %llu bytes at 0x%llx",
             (unsigned long long)(offset < b->bytes ? offset : offset - b->bytes),
             offset < b->bytes ? "into" : "past the end of", (unsigned long long)b->bytes,
             (unsigned long long)b->begin);
}

static void describe(const struct check_cta *c, const struct allocation *a, uint64_t at, char *out, size_t size) {
    const struct checker *k = c->checker;
    if (k->heap && a->begin == k->heap)
        describe_block(&k->block[block_after(k, at) - 1], at, out, size);
    else
        mem_describe(c->cta->launch->memory, at, out, size);
}

/* ---- accesses ---- */

/* Returns true if the instruction writes device memory. False for a copy (K_COPY), which reads it. */
static bool writes(const struct inst *in) { return in->kind != K_LOAD && in->kind != K_COPY; }

static void fill_access(struct finding *f, const struct warp *w, const struct inst *in, int lane, uint64_t at,
                        unsigned bytes) {
    f->thread = check_thread(w, lane);
    f->space = SPACE_GLOBAL;
    f->address = at;
    f->bytes = bytes;
    f->is_write = writes(in);
}

/* Checks that an access is inside a live block. Reports a finding and returns false otherwise. */
static bool check_block(struct check_cta *c, const struct warp *w, const struct inst *in, int lane, uint64_t at,
                        unsigned bytes) {
    const struct checker *k = c->checker;
    uint32_t i = block_after(k, at);
    const struct heap_record *b = i ? &k->block[i - 1] : NULL;
    bool inside = b && at - b->begin < b->bytes && bytes <= b->bytes - (at - b->begin);
    if (inside && b->live)
        return true;
    bool freed = b && !b->live && at - b->begin < b->bytes;
    struct finding *f =
        check_count(c, freed ? CHECK_HEAP_FREED : CHECK_HEAP_BOUNDS, check_pc(w, in), freed ? b->free_pc : NO_PC);
    if (!f)
        return false;
    fill_access(f, w, in, lane, at, bytes);
    if (b)
        describe_block(b, at, f->where, sizeof f->where);
    if (freed)
        f->other_thread = b->free_thread;
    return false;
}

static void check_bits(const struct now *n, int lane, uint64_t at, const struct allocation *a,
                       struct device_shadow *s) {
    struct check_cta *c = n->c;
    const unsigned bytes = n->bytes;
    uint64_t offset = at - a->begin;
    if (!has_bits(c->checker, s, a))
        return;
    if (n->reads && !all_bits(s->written, offset, bytes)) {
        struct finding *f = check_count(c, CHECK_UNINIT, n->pc, NO_PC);
        if (f) {
            fill_access(f, n->w, n->in, lane, at, bytes);
            f->is_write = false;
            describe(c, a, at, f->where, sizeof f->where);
        }
    }
    if (n->writes)
        set_bits(s->written, offset, bytes, true);
}

/* Checks lanes whose addresses are in one allocation. */
static void check_lanes(const struct now *n, rowmask_t lanes, const struct effects *fx, const struct allocation *a) {
    struct checker *k = n->c->checker;
    struct device_shadow *s = shadow_of(k, n->c->cta->launch->memory, a);
    bool heap = k->heap && a->begin == k->heap;
    rowmask_t inside = 0;
    if (!s)
        return;
    for (rowmask_t left = s->all ? 0 : lanes; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        if (heap && !check_block(n->c, n->w, n->in, l, fx->addr[l], n->bytes))
            continue;
        inside |= 1u << l;
        check_bits(n, l, fx->addr[l], a, s);
    }
    if (!a->read_only)
        race_accesses(n, &s->touched, a->begin, s->all ? lanes : inside, fx, SPACE_GLOBAL);
}

void check_device(const struct now *n, rowmask_t lanes, const struct effects *fx) {
    const struct memory *m = n->c->cta->launch->memory;
    while (lanes) {
        int l = __builtin_ctz(lanes);
        const struct allocation *a = mem_find(m, fx->addr[l], n->bytes, &n->c->checker->hint);
        rowmask_t same = 0;
        for (rowmask_t left = lanes; a && left; left &= left - 1) {
            int i = __builtin_ctz(left);
            same |= (rowmask_t)(fx->addr[i] - a->begin < allocation_bytes(a)) << i;
        }
        if (same)
            check_lanes(n, same, fx, a);
        lanes &= ~(same | 1u << l);
    }
}
