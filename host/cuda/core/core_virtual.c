/* Virtual memory: address ranges, physical memory, and mappings. A range reserves addresses in the host's address
 * space too. Physical memory is an anonymous file, which a mapping maps into the range. */
#include "core_virtual.h"
#include "host/reserve.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRANULARITY (2ull << 20)
enum { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE = 3 };
enum { PINNED = 1, ON_DEVICE = 1, FILE_DESCRIPTOR = 1 };

/* Physical memory. It exists while it has handles or mappings. */
struct physical {
    struct physical *next;
    uint64_t bytes;
    int file, handles, mappings;
    struct cuda_physical_properties properties;
};
struct mapping {
    uint64_t begin, end;
    struct physical *memory;
    unsigned flags; /* of access */
};
struct range {
    struct range *next;
    uint64_t begin, end;
    unsigned char *host;
    struct mapping *list; /* by address */
    uint32_t n, cap;
};
static struct physical *all_memory; /* under the lock */
static struct range *ranges;

static bool is_multiple(uint64_t n) { return n % GRANULARITY == 0; }

/* ---- physical memory ---- */

static struct physical *memory_of(uint64_t handle) {
    struct physical *p = all_memory;
    while (p && (uint64_t)(uintptr_t)p != handle)
        p = p->next;
    return p && p->handles ? p : NULL;
}

static void drop_unused(struct physical *p) {
    if (p->handles || p->mappings)
        return;
    for (struct physical **i = &all_memory; *i; i = &(*i)->next)
        if (*i == p) {
            *i = p->next;
            break;
        }
    close(p->file);
    reserve_give(cuda_core.h, p->bytes);
    free(p);
}

/* Returns an error unless two conditions hold: the memory is to be on this device, and it is to be exported as a file
 * descriptor or not at all. */
static enum cuda_error check_properties(const struct cuda_physical_properties *p) {
    if (!p || p->type != PINNED)
        return p && p->type == 2 ? CUDA_ErrorNotSupported : CUDA_ErrorInvalidValue;
    if (p->location.type != ON_DEVICE || (p->handle_types & ~FILE_DESCRIPTOR))
        return CUDA_ErrorNotSupported;
    return p->location.id ? CUDA_ErrorInvalidDevice : CUDA_Success;
}

enum cuda_error cuda_physical_granularity(size_t *out, const struct cuda_physical_properties *p, int recommended) {
    CUDA_LOCK;
    enum cuda_error e = out && (recommended == 0 || recommended == 1) ? check_properties(p) : CUDA_ErrorInvalidValue;
    if (!e)
        *out = GRANULARITY;
    return e;
}

/* Adds physical memory stored in a file, and takes ownership of the file. */
static enum cuda_error add_memory(uint64_t *handle, int file, uint64_t bytes,
                                  const struct cuda_physical_properties *properties) {
    struct physical *p = file >= 0 && reserve_take(cuda_core.h, bytes) ? malloc(sizeof *p) : NULL;
    if (!p) {
        if (file >= 0)
            close(file);
        return CUDA_ErrorMemoryAllocation;
    }
    *p = (struct physical){all_memory, bytes, file, 1, 0, *properties};
    all_memory = p;
    *handle = (uint64_t)(uintptr_t)p;
    return CUDA_Success;
}

enum cuda_error cuda_physical_new(uint64_t *handle, uint64_t bytes, const struct cuda_physical_properties *p,
                                  uint64_t flags) {
    CUDA_LOCK;
    enum cuda_error e = handle && bytes && is_multiple(bytes) && !flags ? check_properties(p) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    int file = memfd_create("heddle", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, (off_t)bytes) != 0) {
        close(file);
        file = -1;
    }
    return add_memory(handle, file, bytes, p);
}

enum cuda_error cuda_physical_release(uint64_t handle) {
    CUDA_LOCK;
    struct physical *p = memory_of(handle);
    if (!p)
        return CUDA_ErrorInvalidValue;
    p->handles--;
    drop_unused(p);
    return CUDA_Success;
}

enum cuda_error cuda_physical_properties(struct cuda_physical_properties *out, uint64_t handle) {
    CUDA_LOCK;
    const struct physical *p = memory_of(handle);
    if (!out || !p)
        return CUDA_ErrorInvalidValue;
    *out = p->properties;
    return CUDA_Success;
}

enum cuda_error cuda_physical_export(int *out, uint64_t handle, int type, uint64_t flags) {
    CUDA_LOCK;
    const struct physical *p = memory_of(handle);
    if (!out || !p || flags || type != FILE_DESCRIPTOR || !(p->properties.handle_types & FILE_DESCRIPTOR))
        return CUDA_ErrorInvalidValue;
    *out = dup(p->file);
    return *out < 0 ? CUDA_ErrorOperatingSystem : CUDA_Success;
}

enum cuda_error cuda_physical_import(uint64_t *out, int file, int type) {
    CUDA_LOCK;
    const struct cuda_physical_properties p = {PINNED, FILE_DESCRIPTOR, {ON_DEVICE, 0}, NULL, 0, 0, 0, {0}};
    struct stat s;
    if (!out || type != FILE_DESCRIPTOR || fstat(file, &s) != 0 || s.st_size <= 0 || !is_multiple((uint64_t)s.st_size))
        return CUDA_ErrorInvalidValue;
    return add_memory(out, dup(file), (uint64_t)s.st_size, &p);
}

/* ---- ranges ---- */

enum cuda_error cuda_range_reserve(uint64_t *out, uint64_t bytes, uint64_t align, uint64_t hint, uint64_t flags) {
    CUDA_LOCK;
    if (!out || !bytes || !is_multiple(bytes) || flags || (align & (align - 1)))
        return CUDA_ErrorInvalidValue;
    align = align > GRANULARITY ? align : GRANULARITY;
    void *host = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct range *r = host == MAP_FAILED ? NULL : malloc(sizeof *r);
    uint64_t at = r ? reserve_range(cuda_core.h, bytes, align, hint) : 0;
    if (!at) {
        if (host != MAP_FAILED)
            munmap(host, bytes);
        free(r);
        return CUDA_ErrorMemoryAllocation;
    }
    *r = (struct range){.next = ranges, .begin = at, .end = at + bytes, .host = host};
    ranges = r;
    *out = at;
    return CUDA_Success;
}

enum cuda_error cuda_range_free(uint64_t at, uint64_t bytes) {
    CUDA_LOCK;
    for (struct range **i = &ranges; *i; i = &(*i)->next) {
        struct range *r = *i;
        if (r->begin != at || r->end - r->begin != bytes || r->n)
            continue;
        if (!reserve_place(cuda_core.h, r->begin, r->end, NULL, 0))
            return CUDA_ErrorMemoryAllocation;
        munmap(r->host, bytes);
        *i = r->next;
        free(r->list);
        free(r);
        return CUDA_Success;
    }
    return CUDA_ErrorInvalidValue;
}

/* Returns the range that contains [at, at + bytes); NULL if there is none. */
static struct range *range_of(uint64_t at, uint64_t bytes) {
    struct range *r = ranges;
    while (r && !(at >= r->begin && at < r->end && bytes <= r->end - at))
        r = r->next;
    return r;
}

/* ---- mappings ---- */

static enum mem_reserved reserved(unsigned flags) {
    return flags == ACCESS_NONE ? RANGE_CLOSED : flags == ACCESS_READ ? RANGE_READ : RANGE_WRITE;
}

/* Appends the piece [begin, end) to the list `p`, or extends the last piece if it has the same access `what`. */
static void add_piece(const struct range *r, struct mem_piece *p, uint32_t *n, uint64_t begin, uint64_t end,
                      enum mem_reserved what) {
    if (begin == end)
        return;
    if (*n && p[*n - 1].what == what)
        p[*n - 1].end = end;
    else
        p[(*n)++] = (struct mem_piece){begin, end, r->host + (begin - r->begin), what};
}

/* Makes the mappings of a range accessible to kernels. Adjacent mappings become one piece, so that a copy may span
 * both. Returns false if the host is out of memory. */
static bool update_kernels(const struct range *r) {
    struct mem_piece *p = calloc(2 * (size_t)r->n + 1, sizeof *p);
    uint64_t at = r->begin;
    uint32_t n = 0;
    for (uint32_t i = 0; p && i < r->n; i++) {
        const struct mapping *m = &r->list[i];
        add_piece(r, p, &n, at, m->begin, RANGE_UNMAPPED);
        add_piece(r, p, &n, m->begin, m->end, reserved(m->flags));
        at = m->end;
    }
    if (p)
        add_piece(r, p, &n, at, r->end, RANGE_UNMAPPED);
    bool ok = p && reserve_place(cuda_core.h, r->begin, r->end, p, n);
    free(p);
    return ok;
}

/* Returns the index of the first mapping that ends after `at`. */
static uint32_t first_behind(const struct range *r, uint64_t at) {
    uint32_t i = 0;
    while (i < r->n && r->list[i].end <= at)
        i++;
    return i;
}

static bool make_room(struct range *r) {
    if (r->n < r->cap)
        return true;
    uint32_t cap = 2 * r->cap + 8;
    struct mapping *more = realloc(r->list, cap * sizeof *more);
    if (!more)
        return false;
    r->list = more;
    r->cap = cap;
    return true;
}

enum cuda_error cuda_range_map(uint64_t at, uint64_t bytes, uint64_t offset, uint64_t handle, uint64_t flags) {
    CUDA_LOCK;
    struct physical *p = memory_of(handle);
    struct range *r = range_of(at, bytes);
    if (!p || !r || !bytes || !is_multiple(at | bytes | offset) || flags || offset > p->bytes ||
        bytes > p->bytes - offset)
        return CUDA_ErrorInvalidValue;
    uint32_t i = first_behind(r, at);
    if (i < r->n && r->list[i].begin < at + bytes)
        return CUDA_ErrorInvalidValue; /* mapped already */
    unsigned char *host = r->host + (at - r->begin);
    if (!make_room(r) ||
        mmap(host, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, p->file, (off_t)offset) == MAP_FAILED)
        return CUDA_ErrorMemoryAllocation;
    memmove(&r->list[i + 1], &r->list[i], (r->n - i) * sizeof *r->list);
    r->list[i] = (struct mapping){at, at + bytes, p, ACCESS_NONE};
    r->n++;
    p->mappings++;
    return update_kernels(r) ? CUDA_Success : CUDA_ErrorMemoryAllocation;
}

/* Finds the mappings [*first, *last) that exactly fill [at, at + bytes). Returns false if no mappings do. */
static bool mappings_of(const struct range *r, uint64_t at, uint64_t bytes, uint32_t *first, uint32_t *last) {
    uint64_t end = at + bytes;
    if (!r || !bytes)
        return false;
    for (*first = *last = first_behind(r, at); *last < r->n && r->list[*last].begin == at && at < end; ++*last)
        at = r->list[*last].end;
    return at == end;
}

enum cuda_error cuda_range_unmap(uint64_t at, uint64_t bytes) {
    CUDA_LOCK;
    struct range *r = range_of(at, bytes);
    uint32_t first, last;
    if (!mappings_of(r, at, bytes, &first, &last))
        return CUDA_ErrorInvalidValue;
    mmap(r->host + (at - r->begin), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    for (uint32_t i = first; i < last; i++) {
        r->list[i].memory->mappings--;
        drop_unused(r->list[i].memory);
    }
    memmove(&r->list[first], &r->list[last], (r->n - last) * sizeof *r->list);
    r->n -= last - first;
    return update_kernels(r) ? CUDA_Success : CUDA_ErrorMemoryAllocation;
}

static enum cuda_error check_access(const struct cuda_access *a, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (a[i].location.type != ON_DEVICE)
            return CUDA_ErrorNotSupported;
        if (a[i].location.id)
            return CUDA_ErrorInvalidDevice;
        if (a[i].flags != ACCESS_NONE && a[i].flags != ACCESS_READ && a[i].flags != ACCESS_WRITE)
            return CUDA_ErrorInvalidValue;
    }
    return CUDA_Success;
}

enum cuda_error cuda_range_set_access(uint64_t at, uint64_t bytes, const struct cuda_access *a, size_t n) {
    CUDA_LOCK;
    struct range *r = range_of(at, bytes);
    uint32_t first, last;
    if (!a || !n || !mappings_of(r, at, bytes, &first, &last))
        return CUDA_ErrorInvalidValue;
    enum cuda_error e = check_access(a, n);
    for (uint32_t i = first; !e && i < last; i++)
        r->list[i].flags = a[n - 1].flags;
    return e || update_kernels(r) ? e : CUDA_ErrorMemoryAllocation;
}

/* Returns the mapping at an address; NULL if there is none. */
static const struct mapping *mapping_at(uint64_t at) {
    const struct range *r = range_of(at, 1);
    uint32_t i = r ? first_behind(r, at) : 0;
    return r && i < r->n && r->list[i].begin <= at ? &r->list[i] : NULL;
}

enum cuda_error cuda_range_access(unsigned long long *out, const struct cuda_location *where, uint64_t at) {
    CUDA_LOCK;
    const struct mapping *m = mapping_at(at);
    if (!out || !where || !m)
        return CUDA_ErrorInvalidValue;
    if (where->type == ON_DEVICE && where->id)
        return CUDA_ErrorInvalidDevice;
    *out = where->type == ON_DEVICE ? m->flags : ACCESS_NONE;
    return CUDA_Success;
}

enum cuda_error cuda_physical_retain(uint64_t *out, const void *p) {
    CUDA_LOCK;
    const struct mapping *m = mapping_at((uint64_t)(uintptr_t)p);
    if (!out || !m)
        return CUDA_ErrorInvalidValue;
    m->memory->handles++;
    *out = (uint64_t)(uintptr_t)m->memory;
    return CUDA_Success;
}
