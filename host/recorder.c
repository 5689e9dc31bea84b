#include "recorder.h"
#include "isa/machine/heap.h"
#include "isa/machine/texture.h"
#include "launch_file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    PAGES_CHUNK = 1 << 20, /* bytes of pages after which a chunk is written */
    MOST_SEEN = 1 << 20,   /* most pages of the table `seen`; a power of two */
    MOST_WROTE = 1 << 16,  /* maximum number of ranges written by the host; later ranges replace earlier ones */
};

/* The contents that a reader of the file has for an allocation so far, as hashes. */
struct known {
    uint64_t begin, end;
    uint32_t serial;
    uint64_t *hash; /* by page; 0: a page of zeros */
};

/* A page that the file contains, by its hash. */
struct seen {
    XXH128_hash_t hash;
    uint64_t number; /* from 1, in the order of the file; 0: the entry is free */
};

struct recorder {
    char *path, *model, *config; /* model and config: if NULL, the context's model and configuration */
    char **set;                  /* options of the context, ended by NULL */
    uint64_t from, from_cta;
    FILE *f;
    bool began, stopped, failed;
    const struct heddle_module *only;
    struct chunk_text chunk, pages;
    struct known *known;
    uint32_t n_known;
    struct seen *seen;
    uint64_t n_pages; /* pages whose contents the file has */
    uint32_t n_modules;
    uint64_t allocations, textures; /* hashes of these chunks as last written */
    uint64_t (*wrote)[2];
    uint32_t n_wrote;
};

static char **copy_list(const char *const *list) {
    int n = 0;
    while (list && list[n])
        n++;
    char **copy = calloc((size_t)n + 1, sizeof *copy);
    for (int i = 0; copy && i < n; i++)
        copy[i] = strdup(list[i]);
    return copy;
}

static void recorder_free(struct recorder *r) {
    for (uint32_t i = 0; i < r->n_known; i++)
        free(r->known[i].hash);
    for (int i = 0; r->set && r->set[i]; i++)
        free(r->set[i]);
    free(r->known);
    free(r->set);
    free(r->seen);
    free(r->wrote);
    free(r->path);
    free(r->model);
    free(r->config);
    chunk_free(&r->chunk);
    chunk_free(&r->pages);
    free(r);
}

struct recorder *recorder_new(const struct heddle_options *o) {
    struct recorder *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->path = strdup(o->checkpoint);
    r->model = o->model ? strdup(o->model) : NULL;
    r->config = o->config ? strdup(o->config) : NULL;
    r->set = copy_list(o->set);
    r->from = o->checkpoint_launch;
    r->from_cta = o->checkpoint_cta;
    r->seen = calloc(MOST_SEEN, sizeof *r->seen);
    r->wrote = calloc(MOST_WROTE, sizeof *r->wrote);
    if (r->path && r->set && r->seen && r->wrote)
        return r;
    recorder_free(r);
    return NULL;
}

void recorder_only(struct recorder *r, const struct heddle_module *m) { r->only = m; }

uint64_t recorder_cta(const struct recorder *r, uint64_t call) { return call == r->from ? r->from_cta : 0; }

void recorder_host_wrote(struct recorder *r, uint64_t address, uint64_t bytes) {
    if (r->n_wrote == MOST_WROTE) {
        r->n_wrote = MOST_WROTE / 2;
        memmove(r->wrote, r->wrote + MOST_WROTE / 2, MOST_WROTE / 2 * sizeof *r->wrote);
    }
    r->wrote[r->n_wrote][0] = address;
    r->wrote[r->n_wrote++][1] = bytes;
}

/* ---- pages ---- */

static bool is_zero(const unsigned char *p, size_t n) { return n == 0 || (!*p && memcmp(p, p + 1, n - 1) == 0); }

static uint64_t hash_of(const unsigned char *p, size_t n) {
    if (is_zero(p, n))
        return 0;
    const uint64_t h = XXH3_64bits(p, n);
    return h ? h : 1;
}

static bool has_bytes(const struct allocation *a) { return a->live && a->host; }

static uint64_t pages_of(const struct allocation *a) {
    return (a->end - a->begin + LAUNCH_FILE_PAGE - 1) / LAUNCH_FILE_PAGE;
}

/* A page of an allocation that has bytes. A page of zeros, before the first, starts a walk over all pages. */
struct page {
    const unsigned char *bytes;
    size_t n;
    uint64_t address, hash;
    uint32_t i, nth;  /* index of the allocation in memory.list, and among the allocations that have bytes */
    uint64_t k, next; /* index of the page, and of the next page, in the allocation */
};

/* Steps to the next page. Returns false after the last page. */
static bool next_page(struct page *p, const struct memory *m) {
    while (p->i < m->n && !(has_bytes(&m->list[p->i]) && p->next < pages_of(&m->list[p->i]))) {
        p->nth += has_bytes(&m->list[p->i++]);
        p->next = 0;
    }
    if (p->i == m->n)
        return false;
    const struct allocation *a = &m->list[p->i];
    const uint64_t at = p->next * LAUNCH_FILE_PAGE, rest = a->end - a->begin - at;
    p->k = p->next++;
    p->bytes = a->host + at;
    p->n = rest < LAUNCH_FILE_PAGE ? rest : LAUNCH_FILE_PAGE;
    p->address = a->begin + at;
    p->hash = hash_of(p->bytes, p->n);
    return true;
}

/* Returns the term that a page adds to memory_sum(). */
static uint64_t share(const struct page *p) {
    const uint64_t both[2] = {p->address, p->hash};
    return p->hash ? XXH3_64bits(both, sizeof both) : 0;
}

uint64_t memory_sum(const struct memory *m) {
    uint64_t sum = 0;
    for (struct page p = {0}; next_page(&p, m);)
        sum += share(&p);
    return sum;
}

/* Updates r->known to the live allocations. The pages of a new allocation count as zeros. */
static bool follow_allocations(struct recorder *r, const struct memory *m) {
    struct known *list = calloc((size_t)m->n + 1, sizeof *list);
    uint32_t n = 0, old = 0;
    bool fine = list != NULL;
    for (uint32_t i = 0; fine && i < m->n; i++) {
        const struct allocation *a = &m->list[i];
        if (!has_bytes(a))
            continue;
        while (old < r->n_known && r->known[old].begin < a->begin)
            old++;
        struct known *k = old < r->n_known ? &r->known[old] : NULL;
        list[n] = (struct known){a->begin, a->end, a->serial, NULL};
        if (k && k->begin == a->begin && k->end == a->end && k->serial == a->serial) {
            list[n].hash = k->hash;
            k->hash = NULL;
        } else {
            list[n].hash = calloc(pages_of(a), sizeof *list[n].hash);
        }
        fine = list[n++].hash != NULL;
    }
    for (uint32_t i = 0; i < r->n_known; i++)
        free(r->known[i].hash);
    free(r->known);
    r->known = list;
    r->n_known = list ? n : 0;
    return fine;
}

/* Returns the number of the page of the file that has these bytes. If there is none, assigns the next number to the
 * page and returns 0. */
static uint64_t find_seen(struct recorder *r, const unsigned char *p, size_t n) {
    const XXH128_hash_t hash = XXH3_128bits(p, n);
    struct seen *s = &r->seen[hash.low64 % MOST_SEEN];
    if (s->number && XXH128_isEqual(s->hash, hash))
        return s->number;
    *s = (struct seen){hash, ++r->n_pages}; /* collisions only enlarge the file */
    return 0;
}

static bool put_pages(struct recorder *r, size_t at_least) {
    return r->pages.n <= at_least || launch_file_put(r->f, CHUNK_PAGES, &r->pages);
}

/* Writes a page: address, bytes, then 0 for zeros, or 1 and the contents, or 2 and the number of an equal page. */
static bool put_page(struct recorder *r, const struct page *p) {
    const uint64_t same = p->hash ? find_seen(r, p->bytes, p->n) : 0;
    chunk_put_u64(&r->pages, p->address);
    chunk_put_u32(&r->pages, (uint32_t)p->n);
    chunk_put_u32(&r->pages, !p->hash ? 0 : same ? 2 : 1);
    if (same)
        chunk_put_u64(&r->pages, same);
    else if (p->hash)
        chunk_put(&r->pages, p->bytes, p->n);
    return put_pages(r, PAGES_CHUNK);
}

/* Writes the pages that have changed since the reader's copy (r->known). */
static bool put_changes(struct recorder *r, const struct memory *m) {
    if (!follow_allocations(r, m))
        return errno = ENOMEM, false;
    for (struct page p = {0}; next_page(&p, m);) {
        uint64_t *known = &r->known[p.nth].hash[p.k];
        if (p.hash != *known && !put_page(r, &p))
            return false;
        *known = p.hash;
    }
    return put_pages(r, 0);
}

/* Updates r->known after a launch: the reader gets the launch's changes by replaying it. Sets *sum to memory_sum(). */
static bool learn(struct recorder *r, const struct memory *m, uint64_t *sum) {
    if (!follow_allocations(r, m))
        return errno = ENOMEM, false;
    *sum = 0;
    for (struct page p = {0}; next_page(&p, m);) {
        r->known[p.nth].hash[p.k] = p.hash;
        *sum += share(&p);
    }
    return true;
}

/* ---- other chunks ---- */

static bool put(struct recorder *r, enum launch_chunk type) { return launch_file_put(r->f, type, &r->chunk); }

/* Writes the chunk unless its contents have the hash *last. */
static bool put_if_new(struct recorder *r, enum launch_chunk type, uint64_t *last) {
    const uint64_t hash = XXH3_64bits(r->chunk.data ? r->chunk.data : (const void *)"", r->chunk.n) | 1;
    if (hash == *last && !r->chunk.bad) {
        r->chunk.n = 0;
        return true;
    }
    *last = hash;
    return put(r, type);
}

static bool put_info(struct recorder *r, const struct heddle *h) {
    struct chunk_text *t = &r->chunk;
    uint32_t n = 0;
    while (r->set[n])
        n++;
    chunk_put_string(t, HEDDLE_VERSION);
    chunk_put_string(t, r->model ? r->model : h->model_name);
    chunk_put_string(t, r->config ? r->config : h->config_name);
    chunk_put_u32(t, n);
    for (uint32_t i = 0; i < n; i++)
        chunk_put_string(t, r->set[i]);
    return put(r, CHUNK_INFO);
}

static uint32_t module_number(const struct heddle_module *m) {
    uint32_t n = 0;
    for (; m->next; m = m->next)
        n++;
    return n;
}

static bool put_module(struct recorder *r, const struct heddle_module *m) {
    struct chunk_text *t = &r->chunk;
    chunk_put_string(t, m->name);
    chunk_put_string(t, m->text);
    chunk_put_u32(t, m->image->n_variables);
    for (uint32_t i = 0; i < m->image->n_variables; i++)
        chunk_put_u64(t, m->image->variables[i].address);
    return put(r, CHUNK_MODULE);
}

static bool put_modules(struct recorder *r, const struct heddle *h) {
    const uint32_t all = h->modules ? module_number(h->modules) + 1 : 0;
    if (r->only)
        return r->n_modules++ || put_module(r, r->only);
    for (; r->n_modules < all; r->n_modules++) {
        const struct heddle_module *m = h->modules;
        for (uint32_t i = all - 1; i > r->n_modules; i--)
            m = m->next;
        if (!put_module(r, m))
            return false;
    }
    return true;
}

static void add_heap(struct chunk_text *t, struct device_heap *heap, const struct memory *m) {
    const uint32_t n = heap ? device_heap_blocks(heap, NULL, 0) : 0;
    uint64_t(*blocks)[2] = calloc((size_t)n + 1, sizeof *blocks);
    t->bad |= !blocks;
    if (heap && blocks)
        device_heap_blocks(heap, blocks, n);
    chunk_put_u64(t, m->heap_bytes);
    chunk_put_u32(t, heap != NULL);
    chunk_put_u32(t, n);
    for (uint32_t i = 0; blocks && i < n; i++) {
        chunk_put_u64(t, blocks[i][0]);
        chunk_put_u64(t, blocks[i][1]);
    }
    free(blocks);
}

static bool put_allocations(struct recorder *r, const struct heddle *h) {
    const struct memory *m = &h->memory;
    struct chunk_text *t = &r->chunk;
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n; i++)
        n += has_bytes(&m->list[i]);
    chunk_put_u64(t, m->next);
    chunk_put_u64(t, m->next_shared);
    chunk_put_u64(t, m->packed);
    chunk_put_u64(t, m->limit_bytes);
    chunk_put_u32(t, m->numbered);
    chunk_put_u32(t, m->serials);
    add_heap(t, m->heap, m);
    chunk_put_u32(t, n);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct allocation *a = &m->list[i];
        if (!has_bytes(a))
            continue;
        chunk_put_u64(t, a->begin);
        chunk_put_u64(t, a->end);
        chunk_put_u32(t, a->number);
        chunk_put_u32(t, a->serial);
        chunk_put_u32(t, (uint32_t)(a->constant || a->read_only) | (uint32_t)a->padded << 1 |
                             (uint32_t)(a->reserved == RANGE_READ) << 2);
        chunk_put_string(t, a->name);
    }
    return put_if_new(r, CHUNK_ALLOCATIONS, &r->allocations);
}

static bool put_textures(struct recorder *r, const struct heddle *h) {
    struct chunk_text *t = &r->chunk;
    chunk_put_u32(t, h->n_textures);
    for (uint32_t i = 0; i < h->n_textures; i++) {
        const struct texture *x = &h->textures[i];
        const uint8_t bytes[] = {x->kind,        x->channels,        x->format,        x->levels,
                                 x->cube,        x->normalized_read, x->address[0],    x->address[1],
                                 x->address[2],  x->linear,          x->linear_levels, x->normalized_coords,
                                 x->texel_coords};
        chunk_put_u64(t, x->data);
        chunk_put_u32(t, x->width);
        chunk_put_u32(t, x->height);
        chunk_put_u32(t, x->depth);
        chunk_put_u32(t, x->layers);
        chunk_put_u64(t, x->pitch);
        chunk_put_u64(t, x->slice);
        chunk_put(t, bytes, sizeof bytes);
        for (int k = 0; k < 4; k++) {
            uint32_t bits;
            memcpy(&bits, &x->border[k], sizeof bits);
            chunk_put_u32(t, bits);
        }
        chunk_put_string(t, x->name);
    }
    return put_if_new(r, CHUNK_TEXTURES, &r->textures);
}

static bool put_wrote(struct recorder *r) {
    if (!r->n_wrote)
        return true;
    chunk_put_u32(&r->chunk, r->n_wrote);
    for (uint32_t i = 0; i < r->n_wrote; i++) {
        chunk_put_u64(&r->chunk, r->wrote[i][0]);
        chunk_put_u64(&r->chunk, r->wrote[i][1]);
    }
    r->n_wrote = 0;
    return put(r, CHUNK_WROTE);
}

static void add_dim(struct chunk_text *t, struct heddle_dim d) {
    chunk_put_u32(t, d.x);
    chunk_put_u32(t, d.y);
    chunk_put_u32(t, d.z);
}

static bool put_launch(struct recorder *r, const struct heddle *h, const struct heddle_module *m,
                       const struct packed_launch *l) {
    struct chunk_text *t = &r->chunk;
    chunk_put_u64(t, h->calls);
    chunk_put_u32(t, r->only ? 0 : module_number(m));
    chunk_put_string(t, l->kernel);
    add_dim(t, l->grid);
    add_dim(t, l->block);
    add_dim(t, h->cluster);
    chunk_put_u32(t, h->large_clusters);
    chunk_put_u32(t, l->dynamic_shared);
    chunk_put_u32(t, l->number);
    chunk_put_u64(t, l->workspace);
    chunk_put_u64(t, l->first_cta);
    chunk_put_u32(t, l->param_bytes);
    chunk_put(t, l->params, l->param_bytes);
    return put(r, CHUNK_LAUNCH);
}

/* ---- launches ---- */

static enum heddle_status fail_file(struct heddle *h, struct recorder *r) {
    const int why = errno;
    r->failed = true;
    return fail(h, HEDDLE_USAGE, "%s: the launches cannot be written: %s; free some space or name another file",
                r->path, strerror(why ? why : EIO));
}

static bool begin(struct recorder *r, const struct heddle *h) {
    if (r->f)
        return true;
    r->f = fopen(r->path, "wbe");
    return r->f && launch_file_begin(r->f) && put_info(r, h);
}

enum heddle_status recorder_before(struct heddle *h, const struct heddle_module *m, const struct packed_launch *l) {
    struct recorder *r = h->launches_to;
    if (h->calls < r->from || r->stopped || r->failed)
        return HEDDLE_OK;
    errno = 0;
    r->began = true;
    bool fine = begin(r, h) && put_modules(r, h) && put_allocations(r, h) && put_textures(r, h) &&
                put_changes(r, &h->memory) && put_wrote(r) && put_launch(r, h, m, l) && fflush(r->f) == 0;
    return fine ? HEDDLE_OK : fail_file(h, r);
}

enum heddle_status recorder_after(struct heddle *h, enum heddle_status ended) {
    struct recorder *r = h->launches_to;
    uint64_t sum = 0;
    if (!r->began || r->failed)
        return ended;
    r->began = false;
    r->stopped |= ended == HEDDLE_STOPPED;
    errno = 0;
    bool fine = learn(r, &h->memory, &sum);
    chunk_put_u32(&r->chunk, ended);
    chunk_put_u64(&r->chunk, sum);
    fine = fine && put(r, CHUNK_LAUNCHED) && fflush(r->f) == 0;
    return fine || ended != HEDDLE_OK ? ended : fail_file(h, r);
}

/* Writes CHUNK_END and closes the file. */
static bool end(struct recorder *r) {
    if (!r->f)
        return false;
    chunk_put_u32(&r->chunk, r->stopped);
    bool fine = !r->failed && put(r, CHUNK_END);
    fine &= fclose(r->f) == 0;
    r->f = NULL;
    return fine;
}

void recorder_close(struct heddle *h) {
    if (!h->launches_to)
        return;
    end(h->launches_to);
    recorder_free(h->launches_to);
    h->launches_to = NULL;
}

enum heddle_status heddle_checkpoint_end(struct heddle *h) {
    if (!context_enter(h))
        return HEDDLE_USAGE;
    struct recorder *r = h->launches_to;
    if (!r)
        return fail(h, HEDDLE_USAGE, "no checkpoint is open");
    errno = 0;
    enum heddle_status s = HEDDLE_OK;
    if (!r->f)
        s = fail(h, HEDDLE_USAGE, "%s: no checkpoint was written: it begins with launch %llu, and %llu launches ran",
                 r->path, (unsigned long long)r->from, (unsigned long long)h->calls);
    else if (!end(r))
        s = fail_file(h, r);
    recorder_free(r);
    h->launches_to = NULL;
    return s;
}
