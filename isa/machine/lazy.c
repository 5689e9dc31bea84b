#include "lazy.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Blocks share mappings of SHARED bytes, which begin at a multiple of SHARED: a machine of many SMs has thousands of
 * blocks, and the host needs microseconds for a mapping. Blocks of more than SMALL bytes begin at a page, in mappings
 * without smaller blocks. A block of more than LARGE bytes has a mapping of its own. Mappings and blocks have no
 * header, so an array that is never accessed takes no page. Mappings of more than MOST_KEPT bytes are never kept. */
enum { LINE = 64, SHARED = 4 << 20, SMALL = 1 << 14, LARGE = SHARED / 4, OPEN = 4, MOST_KEPT = SHARED, BUCKETS = 1024 };
enum { PAGE = 4096, MOST_PAGES = MOST_KEPT / PAGE };

struct mapping {
    unsigned char *at;
    size_t bytes, used;   /* bytes of the mapping, bytes before the first free one */
    size_t in_blocks;     /* bytes that blocks take */
    uint32_t blocks;      /* that are not free */
    struct mapping *next; /* of the same bucket */
};

/* These variables belong to the process, not to a context: the memory of one machine, when freed, serves the next
 * machine. `lock` protects all of them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping *in_use[BUCKETS]; /* by address */
static struct mapping *kept[BUCKETS];   /* by size */
/* mappings of SHARED bytes with room for small or other blocks, the oldest first */
static struct mapping *open_for[2][OPEN];
static size_t kept_bytes, may_keep;
static int page_table = -1; /* of process page_table_of: /proc/self/pagemap, or -1 */
static pid_t page_table_of;

/* In builds with the address sanitizer, memory outside of blocks is marked, and a line lies between two blocks. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { BETWEEN = LINE };
static void allow(const void *p, size_t bytes) { __asan_unpoison_memory_region(p, bytes); }
static void forbid(const void *p, size_t bytes) { __asan_poison_memory_region(p, bytes); }
#else
enum { BETWEEN = 0 };
static void allow(const void *p, size_t bytes) { (void)p, (void)bytes; }
static void forbid(const void *p, size_t bytes) { (void)p, (void)bytes; }
#endif

static struct mapping **kept_bucket(size_t bytes) { return &kept[bytes / PAGE % BUCKETS]; }
static struct mapping **use_bucket(const void *at) { return &in_use[(uintptr_t)at / PAGE % BUCKETS]; }

static void push(struct mapping **bucket, struct mapping *m) {
    m->next = *bucket;
    *bucket = m;
}

static struct mapping *pop(struct mapping **at) {
    struct mapping *m = *at;
    *at = m->next;
    return m;
}

/* Returns a kept mapping of this size, or NULL. */
static struct mapping *take(size_t bytes) {
    struct mapping **at = kept_bucket(bytes);
    while (*at && (*at)->bytes != bytes)
        at = &(*at)->next;
    kept_bytes -= *at ? bytes : 0;
    return *at ? pop(at) : NULL;
}

void lazy_keep(size_t bytes) {
    pthread_mutex_lock(&lock);
    may_keep = bytes;
    if (page_table >= 0)
        close(page_table);
    page_table = bytes && sysconf(_SC_PAGESIZE) == PAGE ? open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1;
    page_table_of = getpid();
    pthread_mutex_unlock(&lock);
}

size_t lazy_used(void) {
    size_t used = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BUCKETS; i++)
        for (const struct mapping *m = in_use[i]; m; m = m->next)
            used += m->in_blocks;
    pthread_mutex_unlock(&lock);
    return used;
}

/* Reads the entries of n pages, from page `first` of this process on, in the format of pagemap(5). */
static bool read_pages(uintptr_t first, size_t n, uint64_t *out) {
    const size_t bytes = n * sizeof *out;
    return n <= MOST_PAGES && page_table >= 0 && page_table_of == getpid() &&
           pread(page_table, out, bytes, (off_t)(first * sizeof *out)) == (ssize_t)bytes;
}

/* Clears a kept mapping. Pages that were never accessed stay without memory. */
static void clear(const struct mapping *m) {
    const uint64_t in_memory = 1ull << 63, swapped = 1ull << 62; /* pagemap(5) */
    uint64_t page[MOST_PAGES];
    const size_t n = m->bytes / PAGE;
    const bool known = read_pages((uintptr_t)m->at / PAGE, n, page);
    for (size_t i = 0; i < n; i++)
        if (!known || page[i] & (in_memory | swapped))
            memset(m->at + i * PAGE, 0, PAGE);
}

static unsigned char *map_pages(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Maps SHARED bytes at a multiple of SHARED. Returns NULL if memory is out. */
static unsigned char *map_shared(void) {
    unsigned char *p = map_pages(2 * SHARED);
    if (!p)
        return NULL;
    const size_t before = -(uintptr_t)p & (SHARED - 1);
    if (before)
        munmap(p, before);
    munmap(p + before + SHARED, SHARED - before);
    return p + before;
}

/* Returns a mapping without blocks, or NULL. */
static struct mapping *new_mapping(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bytes = (bytes + page - 1) / page * page;
    struct mapping *m = take(bytes);
    if (m) {
        clear(m);
    } else if ((m = malloc(sizeof *m))) {
        *m = (struct mapping){.at = bytes == SHARED ? map_shared() : map_pages(bytes), .bytes = bytes};
        if (!m->at) {
            free(m);
            return NULL;
        }
    } else {
        return NULL;
    }
    forbid(m->at, bytes);
    push(use_bucket(m->at), m);
    return m;
}

static void *block_in(struct mapping *m, size_t bytes) {
    unsigned char *p = m->at + m->used;
    const size_t unit = bytes > SMALL ? PAGE : LINE;
    m->used += (bytes + BETWEEN + unit - 1) / unit * unit;
    m->in_blocks += (bytes + LINE - 1) / LINE * LINE;
    m->blocks++;
    allow(p, bytes);
    return p;
}

/* Keeps a mapping without blocks, or returns it to the host. */
static void end_mapping(struct mapping *m) {
    allow(m->at, m->bytes);
    m->used = m->in_blocks = 0;
    if (m->bytes <= MOST_KEPT && kept_bytes + m->bytes <= may_keep) {
        push(kept_bucket(m->bytes), m);
        kept_bytes += m->bytes;
        return;
    }
    munmap(m->at, m->bytes);
    free(m);
}

/* Returns the mapping for a block of at most LARGE bytes, or NULL. */
static struct mapping *shared_for(size_t bytes) {
    struct mapping **open = open_for[bytes > SMALL];
    for (int i = 0; i < OPEN; i++)
        if (open[i] && open[i]->used + bytes + BETWEEN <= SHARED)
            return open[i];
    struct mapping *m = new_mapping(SHARED);
    if (!m)
        return NULL;
    memmove(open, open + 1, (OPEN - 1) * sizeof *open);
    open[OPEN - 1] = m;
    return m;
}

void *lazy_new(size_t bytes) {
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes += !bytes; /* every block begins inside its mapping */
    pthread_mutex_lock(&lock);
    struct mapping *m = bytes > LARGE ? new_mapping(bytes + BETWEEN) : shared_for(bytes);
    void *block = m ? block_in(m, bytes) : NULL;
    pthread_mutex_unlock(&lock);
    return block;
}

/* Returns the link to the mapping that begins at `start`, or a link to NULL. */
static struct mapping **find(const unsigned char *start) {
    struct mapping **at = use_bucket(start);
    while (*at && (*at)->at != start)
        at = &(*at)->next;
    return at;
}

void lazy_free(void *memory) {
    if (!memory)
        return;
    unsigned char *block = memory;
    pthread_mutex_lock(&lock);
    struct mapping **at = find(block);
    if (!*at)
        at = find(block - (uintptr_t)block % SHARED);
    if (!--(*at)->blocks) {
        for (int i = 0; i < 2 * OPEN; i++)
            if (open_for[i / OPEN][i % OPEN] == *at)
                open_for[i / OPEN][i % OPEN] = NULL;
        end_mapping(pop(at));
    }
    pthread_mutex_unlock(&lock);
}
