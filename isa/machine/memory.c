/* Allocates device memory, maps host memory, and finds allocations (memory.h). */
#include "memory.h"
#include "heap.h"
#include "isa/arith.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALLOC_ALIGN = 256, ALLOC_GAP = 512 };
#define PACKED_BASE    0xc0000000ull
#define DEFAULT_LIMIT  (16ull << 30)
#define ADDRESS_END    (1ull << 47)
#define SHARED_PAGES   (1ull << 45)
#define SHARED_STEP    (1ull << 21)
#define HOST_BEGIN     (1ull << 12)
#define UNUSED_BY_HOST (3ull << 44) /* addresses that Linux assigns only on request */

void mem_init(struct memory *m, uint64_t limit_bytes) {
    memset(m, 0, sizeof *m);
    m->next = DEVICE_BASE;
    m->limit_bytes = limit_bytes ? limit_bytes : DEFAULT_LIMIT;
}

void mem_pack(struct memory *m) { m->packed = PACKED_BASE; }

static void release(struct allocation *a) {
    if (a->pages)
        munmap(a->host, a->pages);
    free(a->storage);
}

void mem_free_all(struct memory *m) {
    for (uint32_t i = 0; i < m->n; i++)
        release(&m->list[i]);
    free(m->list);
    free(m->folder);
    device_heap_free(m->heap);
    memset(m, 0, sizeof *m);
}

static bool grow_by(struct memory *m, uint32_t more) {
    uint32_t cap = m->cap ? m->cap : 64;
    while (cap - m->n < more && cap <= UINT32_MAX / 2)
        cap *= 2;
    if (m->cap && cap == m->cap)
        return cap - m->n >= more;
    struct allocation *list = cap > m->cap ? realloc(m->list, cap * sizeof *list) : NULL;
    if (!list)
        return false;
    m->list = list;
    m->cap = cap;
    return true;
}

static bool grow(struct memory *m) { return grow_by(m, 1); }

/* Returns the index of the last allocation that begins at or before `address`, or m->n if there is none. */
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

/* Returns true if no allocation overlaps [begin, end). */
static bool is_free(const struct memory *m, uint64_t begin, uint64_t end) {
    uint32_t i = last_before(m, end - 1);
    return i == m->n || m->list[i].end <= begin;
}

/* Inserts an allocation into the list, which is sorted by address. The caller has called grow() to make room. */
static void insert(struct memory *m, struct allocation a) {
    uint32_t i = last_before(m, a.begin), at = i == m->n ? 0 : i + 1;
    memmove(&m->list[at + 1], &m->list[at], (m->n - at) * sizeof *m->list);
    a.live = true;
    a.number = ++m->numbered;
    a.serial = m->serials++;
    m->list[at] = a;
    m->n++;
}

static void *align_storage(void *storage) { /* aligned, so that lane data fills whole vectors */
    return (void *)(((uintptr_t)storage + 63) & ~(uintptr_t)63);
}

/* Returns the first free address from *next on that is followed by `bytes` free bytes and a free gap. The address is
 * `odd` bytes past a multiple of `align`. Returns 0 if there is none. */
static uint64_t find_room_from(const struct memory *m, uint64_t *next, uint64_t bytes, uint64_t align, uint64_t odd,
                               uint64_t gap) {
    if (bytes > ADDRESS_END)
        return 0;
    for (;;) {
        uint64_t begin = ((*next + align - 1) & ~(align - 1)) + odd, end = begin + bytes + gap;
        if (end > ADDRESS_END)
            return 0;
        if ((!m->mapped && !m->packed) || is_free(m, begin, end))
            return begin;
        *next = m->list[last_before(m, end - 1)].end + gap; /* continues after the last allocation that overlaps */
    }
}

/* Returns an address in the device's own range, after all earlier allocations. */
static uint64_t find_room(struct memory *m, uint64_t bytes, uint64_t align, uint64_t odd) {
    return find_room_from(m, &m->next, bytes, align, odd, ALLOC_GAP);
}

uint64_t mem_begin(const struct allocation *a) { return a->begin + (a->padded ? MEM_SLACK : 0); }
uint64_t mem_bytes(const struct allocation *a) { return a->end - a->begin - (a->padded ? 2 * MEM_SLACK : 0); }

bool mem_use_folder(struct memory *m, const char *folder) {
    free(m->folder);
    return (m->folder = strdup(folder)) != NULL;
}

/* Makes an unnamed file of `bytes` bytes in the folder. The file reserves its disk space at once: without it, a full
 * disk would end the process by SIGBUS at a later access. Returns the file descriptor; -1: see m->folder_error. */
static int reserve_file(struct memory *m, uint64_t bytes) {
    int file = open(m->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) { /* this file system has no unnamed files */
        char path[PATH_MAX];
        bool fits = snprintf(path, sizeof path, "%s/heddle-XXXXXX", m->folder) < (int)sizeof path;
        file = fits ? mkostemp(path, O_CLOEXEC) : -1;
        if (file >= 0)
            unlink(path);
    }
    if (file >= 0 && fallocate(file, 0, 0, (off_t)bytes) == 0)
        return file;
    m->folder_error = errno;
    if (file >= 0)
        close(file);
    return -1;
}

/* Maps pages of a new file of the folder, at the address `at` or, if it is NULL, anywhere. Returns MAP_FAILED on
 * failure. */
static void *file_pages(struct memory *m, void *at, uint64_t bytes) {
    m->folder_error = 0;
    int file = reserve_file(m, bytes);
    if (file < 0)
        return MAP_FAILED;
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED_NOREPLACE : 0), file, 0);
    if (p == MAP_FAILED)
        m->folder_error = errno;
    else
        madvise(p, bytes, MADV_RANDOM); /* otherwise an access to one page can load 2 MB around it */
    close(file);
    return p;
}

/* Returns true if a buffer of this size is in a file of the folder. */
static bool in_folder(const struct memory *m, uint64_t bytes) { return m->folder && bytes >= MEM_FILE_BYTES; }

/* Buffers of these sizes use huge pages, which need fewer page faults. A larger buffer keeps small pages, because
 * a program that uses a small part of it would occupy too much memory. */
enum { HUGE_PAGE = 2 << 20, HUGE_LEAST = 2 * HUGE_PAGE, HUGE_MOST = 256 << 20 };

static bool wants_huge(uint64_t bytes) { return bytes >= HUGE_LEAST && bytes <= HUGE_MOST; }

/* Allocates the storage in huge pages, if the host provides them. */
static void provide_huge(struct allocation *a, uint64_t bytes) {
    const size_t whole = round_up(bytes, HUGE_PAGE);
    a->storage = calloc(1, whole + HUGE_PAGE);
    if (!a->storage)
        return;
    a->host = (unsigned char *)round_up((uintptr_t)a->storage, HUGE_PAGE);
    madvise(a->host, whole, MADV_HUGEPAGE);
}

/* Allocates zeroed storage for an allocation. Returns false if out of memory or disk space. */
static bool provide(struct memory *m, struct allocation *a) {
    const uint64_t bytes = a->end - a->begin;
    if (in_folder(m, bytes)) {
        a->pages = (bytes + 64 + 4095) & ~4095ull;
        void *p = file_pages(m, NULL, a->pages);
        a->host = p == MAP_FAILED ? NULL : p;
        return a->host != NULL;
    }
    if (wants_huge(bytes)) {
        provide_huge(a, bytes);
        return a->storage != NULL;
    }
    a->storage = bytes <= SIZE_MAX - 64 ? calloc(1, bytes + 64) : NULL;
    a->host = a->storage ? align_storage(a->storage) : NULL;
    return a->storage != NULL;
}

uint64_t mem_alloc(struct memory *m, uint64_t bytes, uint64_t align, const char *name, bool constant) {
    bool padded = m->page_bounds && align <= MEM_SLACK;
    uint64_t slack = padded ? MEM_SLACK : 0;
    if (align < ALLOC_ALIGN)
        align = ALLOC_ALIGN;
    if (bytes > m->limit_bytes - m->live_bytes || align > m->limit_bytes || (align & (align - 1)) || !grow(m))
        return 0;
    bool packs = m->packed && !name && !padded;
    uint64_t gap = packs ? 0 : ALLOC_GAP, *next = packs ? &m->packed : &m->next;
    uint64_t all = bytes + 2 * slack, begin = find_room_from(m, next, all, align, 0, gap);
    struct allocation a = {.begin = begin, .end = begin + all, .padded = padded, .name = name, .constant = constant};
    a.read_only = constant && m->guards_constants;
    if (!begin || !provide(m, &a))
        return 0;
    insert(m, a);
    *next = begin + all + gap;
    m->live_bytes += bytes;
    return begin + slack; /* cppcheck-suppress memleak ; the list owns it */
}

bool mem_make_heap(struct memory *m) {
    if (m->heap)
        return true;
    uint64_t bytes = m->heap_bytes ? m->heap_bytes : DEVICE_HEAP_BYTES;
    uint64_t address = mem_alloc(m, bytes, DEVICE_HEAP_ALIGN, "heap of malloc()", false);
    if (address)
        m->heap = device_heap_new(address, bytes);
    if (address && !m->heap)
        mem_free(m, address);
    return m->heap != NULL;
}

bool mem_set_heap_size(struct memory *m, uint64_t bytes) {
    if (m->heap)
        return false;
    m->heap_bytes = bytes;
    return true;
}

bool mem_map(struct memory *m, void *host, uint64_t bytes) {
    uint64_t begin = (uint64_t)(uintptr_t)host;
    if (!bytes || begin < DEVICE_BASE || begin >= ADDRESS_END || bytes > ADDRESS_END - begin ||
        !is_free(m, begin, begin + bytes) || !grow(m))
        return false;
    insert(m, (struct allocation){.begin = begin, .end = begin + bytes, .host = host, .mapped = true});
    m->mapped++;
    return true;
}

uint64_t mem_map_elsewhere(struct memory *m, void *host, uint64_t bytes) {
    if (!bytes || bytes > m->limit_bytes - m->live_bytes || !grow(m))
        return 0;
    uint64_t begin = find_room(m, bytes, ALLOC_ALIGN, (uintptr_t)host % ALLOC_ALIGN);
    if (!begin)
        return 0;
    insert(m, (struct allocation){.begin = begin, .end = begin + bytes, .host = host});
    m->next = begin + bytes + ALLOC_GAP;
    m->live_bytes += bytes;
    return begin;
}

void mem_map_host(struct memory *m) {
    m->host = (struct allocation){.begin = HOST_BEGIN,
                                  .end = ADDRESS_END,
                                  .host = (unsigned char *)(uintptr_t)HOST_BEGIN,
                                  .name = "host",
                                  .live = true,
                                  .mapped = true};
    m->next = UNUSED_BY_HOST;
    m->packed = 0; /* buffers are no longer packed, because the host process may use addresses from PACKED_BASE on */
}

/* Maps host pages at the first address from `from` on that is free on host and device. NULL if there is none. */
static void *shared_pages(struct memory *m, uint64_t from, uint64_t bytes) {
    for (uint64_t at = from; bytes <= ADDRESS_END && at + bytes <= ADDRESS_END;
         at += (bytes + SHARED_STEP - 1) & -SHARED_STEP) {
        void *wanted = (void *)(uintptr_t)at, *p = MAP_FAILED;
        if (is_free(m, at, at + bytes))
            p = in_folder(m, bytes) ? file_pages(m, wanted, bytes)
                                    : mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (p == (void *)(uintptr_t)at) {
            if (!m->small_pages && !in_folder(m, bytes) && wants_huge(bytes))
                madvise(p, bytes, MADV_HUGEPAGE);
            return p;
        }
        if (p != MAP_FAILED) /* Linux before 4.17 may return other pages than requested */
            munmap(p, bytes);
        else if (errno == ENOMEM || m->folder_error)
            return NULL;
    }
    return NULL;
}

uint64_t mem_alloc_shared(struct memory *m, uint64_t bytes, const char *name) {
    uint64_t pages = (bytes + 4095) & ~4095ull, from = m->next_shared ? m->next_shared : SHARED_PAGES;
    if (!bytes || bytes > m->limit_bytes - m->live_bytes || !grow(m))
        return 0;
    void *host = shared_pages(m, from, pages);
    if (!host)
        return 0;
    uint64_t begin = (uint64_t)(uintptr_t)host;
    insert(m, (struct allocation){
                  .begin = begin, .end = begin + bytes, .host = host, .name = name, .mapped = true, .pages = pages});
    m->mapped++;
    m->next_shared = begin + pages + 4096; /* one unused page between neighbours */
    m->live_bytes += bytes;
    return begin;
}

int mem_move_to_file(struct memory *m, uint64_t address) {
    uint32_t i = last_before(m, address);
    struct allocation *a = i == m->n ? NULL : &m->list[i];
    if (!a || mem_begin(a) != address || !a->live || a->mapped || (!a->storage && !(m->folder && a->pages)))
        return -1;
    uint64_t bytes = mem_bytes(a);
    int file = memfd_create("heddle", MFD_CLOEXEC);
    void *p = file >= 0 && ftruncate(file, (off_t)bytes) == 0
                  ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                  : MAP_FAILED;
    if (p == MAP_FAILED) {
        if (file >= 0)
            close(file);
        return -1;
    }
    memcpy(p, a->host + (address - a->begin), bytes);
    release(a);
    a->storage = NULL;
    a->begin = address; /* a file has no padding */
    a->end = address + bytes;
    a->padded = false;
    a->host = p;
    a->pages = bytes;
    return file;
}

uint64_t mem_reserve(struct memory *m, uint64_t bytes, uint64_t align, uint64_t hint) {
    align = align < ALLOC_ALIGN ? ALLOC_ALIGN : align;
    if (!bytes || bytes > ADDRESS_END / 2 || (align & (align - 1)) || align > ADDRESS_END / 2 || !grow(m))
        return 0;
    bool there = hint >= DEVICE_BASE && hint % align == 0 && hint <= SHARED_PAGES &&
                 hint <= ADDRESS_END - bytes - ALLOC_GAP && is_free(m, hint, hint + bytes + ALLOC_GAP);
    uint64_t begin = there ? hint : find_room(m, bytes, align, 0);
    if (!begin)
        return 0;
    insert(m, (struct allocation){.begin = begin, .end = begin + bytes, .reserved = RANGE_UNMAPPED});
    m->list[last_before(m, begin)].live = false;
    if (begin + bytes + ALLOC_GAP > m->next)
        m->next = begin + bytes + ALLOC_GAP;
    return begin;
}

bool mem_place(struct memory *m, uint64_t begin, uint64_t end, const struct mem_piece *pieces, uint32_t n) {
    const struct mem_piece freed = {begin, end, NULL, RANGE_NONE};
    /* even if n is 0, one entry remains in the list, so that messages can describe the range like a freed allocation */
    pieces = n ? pieces : &freed;
    n = n ? n : 1;
    uint32_t first = last_before(m, begin), old = 0;
    while (first + old < m->n && m->list[first + old].begin < end)
        old++;
    if (n > old && !grow_by(m, n - old))
        return false;
    uint32_t number = m->list[first].number;
    memmove(&m->list[first + n], &m->list[first + old], (m->n - first - old) * sizeof *m->list);
    m->n += n - old;
    for (uint32_t i = 0; i < n; i++)
        m->list[first + i] = (struct allocation){.begin = pieces[i].begin,
                                                 .end = pieces[i].end,
                                                 .host = pieces[i].host,
                                                 .live = pieces[i].what >= RANGE_READ,
                                                 .read_only = pieces[i].what == RANGE_READ,
                                                 .number = number,
                                                 .serial = m->serials++,
                                                 .reserved = (unsigned char)pieces[i].what};
    return true;
}

bool mem_take(struct memory *m, uint64_t bytes) {
    if (bytes > m->limit_bytes - m->live_bytes)
        return false;
    m->live_bytes += bytes;
    return true;
}

void mem_give(struct memory *m, uint64_t bytes) { m->live_bytes -= bytes; }

bool mem_free(struct memory *m, uint64_t address) {
    uint32_t i = last_before(m, address);
    if (i == m->n || mem_begin(&m->list[i]) != address || !m->list[i].live || m->list[i].reserved)
        return false;
    struct allocation *a = &m->list[i];
    if (!a->mapped || a->pages)
        m->live_bytes -= mem_bytes(a);
    release(a);
    if (a->mapped) { /* removes the entry, because the host memory may be mapped again later */
        memmove(a, a + 1, (m->n - i - 1) * sizeof *a);
        m->n--;
        m->mapped--;
        return true;
    }
    a->storage = NULL;
    a->host = NULL;
    a->pages = 0;
    a->live = false;
    return true;
}

/* ---- saved memory ---- */

/* Moves the storage of the old allocation with the address and serial of `s` to `to`. Returns false if there is no such
 * allocation. */
static bool take_over(struct memory *m, const struct mem_saved *s, struct allocation *to) {
    uint32_t i = last_before(m, s->begin);
    struct allocation *a = i == m->n ? NULL : &m->list[i];
    if (!a || !a->live || a->begin != s->begin || a->end != s->end || a->serial != s->serial)
        return false;
    *to = *a;
    a->storage = NULL; /* the new entry owns the storage, so mem_restore() must not free it */
    a->pages = 0;
    return true;
}

/* Undoes take_over() and provide() for the first `n` entries of `list`: moves storage back, or frees it. */
static void take_back(struct memory *m, struct allocation *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = last_before(m, list[i].begin);
        struct allocation *a = at == m->n ? NULL : &m->list[at];
        if (a && a->live && a->host == list[i].host) {
            a->storage = list[i].storage;
            a->pages = list[i].pages;
        } else {
            release(&list[i]);
        }
    }
    free(list);
}

static bool sorted(const struct mem_saved *list, uint32_t n) {
    uint64_t end = DEVICE_BASE;
    for (uint32_t i = 0; i < n; end = list[i].end, i++)
        if (list[i].begin < end || list[i].end <= list[i].begin || list[i].end > ADDRESS_END)
            return false;
    return true;
}

bool mem_restore(struct memory *m, const struct mem_saved *list, uint32_t n) {
    uint64_t bytes = 0;
    struct allocation *made = sorted(list, n) ? calloc((size_t)n + 1, sizeof *made) : NULL;
    for (uint32_t i = 0; made && i < n; i++) {
        const struct mem_saved *s = &list[i];
        struct allocation *a = &made[i];
        bytes += s->end - s->begin;
        if (bytes > m->limit_bytes ||
            (!take_over(m, s, a) && !(*a = (struct allocation){.begin = s->begin, .end = s->end}, provide(m, a)))) {
            take_back(m, made, i);
            return false;
        }
        a->name = s->name;
        a->live = true;
        a->constant = s->read_only && !s->read_range;
        a->read_only = s->read_range || (a->constant && m->guards_constants);
        a->padded = s->padded;
        a->number = s->number;
        a->serial = s->serial;
        a->reserved = s->read_range ? RANGE_READ : RANGE_NONE;
    }
    if (!made)
        return false;
    for (uint32_t i = 0; i < m->n; i++)
        release(&m->list[i]);
    free(m->list);
    m->list = made;
    m->n = n;
    m->cap = n + 1;
    m->mapped = 0;
    m->live_bytes = bytes;
    for (uint32_t i = 0; i < n; i++) { /* later allocations must get other addresses and serials */
        if (list[i].end + ALLOC_GAP > m->next)
            m->next = list[i].end + ALLOC_GAP;
        m->numbered = list[i].number > m->numbered ? list[i].number : m->numbered;
        m->serials = list[i].serial >= m->serials ? list[i].serial + 1 : m->serials;
    }
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
        return holds(&m->host, address, bytes) ? &m->host : NULL;
    if (hint)
        *hint = i;
    return &m->list[i];
}

const struct allocation *mem_find_buffer(const struct memory *m, uint64_t address, uint64_t bytes) {
    const struct allocation *a = mem_find(m, address, bytes, NULL);
    bool inside = a && address >= mem_begin(a) && address - mem_begin(a) <= mem_bytes(a) &&
                  bytes <= mem_bytes(a) - (address - mem_begin(a));
    return inside ? a : NULL;
}

const struct allocation *mem_owner(const struct memory *m, uint64_t address) {
    uint32_t i = last_before(m, address);
    return i < m->n && address < m->list[i].end ? &m->list[i] : NULL;
}

bool mem_read(const struct memory *m, uint64_t address, void *to, uint64_t bytes) {
    const struct allocation *a = mem_find_buffer(m, address, bytes);
    if (a && bytes)
        memcpy(to, a->host + (address - a->begin), bytes);
    return a != NULL;
}

bool mem_write(struct memory *m, uint64_t address, const void *from, uint64_t bytes) {
    const struct allocation *a = mem_find_buffer(m, address, bytes);
    if (a && a->reserved == RANGE_READ)
        return false;
    if (a && bytes)
        memcpy(a->host + (address - a->begin), from, bytes);
    return a != NULL;
}

const struct allocation *mem_nearest(const struct memory *m, uint64_t address) {
    uint32_t i = last_before(m, address);
    const struct allocation *below = i < m->n ? &m->list[i] : NULL;
    const struct allocation *above = below ? (i + 1 < m->n ? below + 1 : NULL) : (m->n ? m->list : NULL);
    if (address < DEVICE_BASE || !below)
        return address < DEVICE_BASE ? NULL : above;
    uint64_t end = mem_begin(below) + mem_bytes(below);
    if (!above || address < end) /* an address before the begin of `below` is in its padding */
        return below;
    return address - end <= mem_begin(above) - address ? below : above;
}
