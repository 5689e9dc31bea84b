#include "lazy.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* SMALL: from this number of bytes on, memory comes from mmap(). Below, clearing the memory is faster than a system
 * call and the faults of the pages. Mappings of more than MOST_KEPT bytes are never kept. */
enum { LINE = 64, SMALL = 1 << 14, MOST_KEPT = 1 << 20, BUCKETS = 64 };
/* From SPARSE bytes on, a system call that tells which pages are in use costs less than clearing all of them. */
enum { SPARSE = 1 << 16, PAGE = 4096, MOST_PAGES = MOST_KEPT / PAGE };

/* The line before the memory that lazy_new() returns. */
struct header {
    void *block;         /* from malloc(); NULL: from mmap() */
    size_t bytes;        /* of the mapping */
    struct header *next; /* a kept mapping of the same bucket */
};
_Static_assert(sizeof(struct header) <= LINE, "one line");

/* Writes the header into the first line from `at` on, and returns the address of the next line. */
static void *after_header(void *at, struct header h) {
    unsigned char *line = (unsigned char *)at + (-(uintptr_t)at & (LINE - 1));
    memcpy(line, &h, sizeof h);
    return line + LINE;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct header *kept[BUCKETS]; /* mappings by size */
static size_t kept_bytes, may_keep;
static int page_table = -1; /* of process page_table_of: /proc/self/pagemap, or -1 */
static pid_t page_table_of;

static struct header **bucket_of(size_t bytes) { return &kept[bytes / LINE % BUCKETS]; }

/* Returns a kept mapping of this size, with its header, or NULL. */
static struct header *take(size_t bytes) {
    pthread_mutex_lock(&lock);
    struct header **at = bucket_of(bytes);
    while (*at && (*at)->bytes != bytes)
        at = &(*at)->next;
    struct header *found = *at;
    if (found) {
        *at = found->next;
        kept_bytes -= bytes;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Keeps a mapping. Returns false if there is no room for it. */
static bool keep(struct header *h) {
    pthread_mutex_lock(&lock);
    const bool room = h->bytes <= MOST_KEPT && kept_bytes + h->bytes <= may_keep;
    if (room) {
        struct header **at = bucket_of(h->bytes);
        h->next = *at;
        *at = h;
        kept_bytes += h->bytes;
    }
    pthread_mutex_unlock(&lock);
    return room;
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

/* Reads the entries of n pages, from page `first` of this process on, in the format of pagemap(5). */
static bool read_pages(uintptr_t first, size_t n, uint64_t *out) {
    const size_t bytes = n * sizeof *out;
    return n <= MOST_PAGES && page_table >= 0 && page_table_of == getpid() &&
           pread(page_table, out, bytes, (off_t)(first * sizeof *out)) == (ssize_t)bytes;
}

/* Clears a kept mapping after its header. Pages that were never accessed stay without memory. */
static void clear(unsigned char *mapping, size_t bytes) {
    const uint64_t in_memory = 1ull << 63, swapped = 1ull << 62; /* pagemap(5) */
    uint64_t page[MOST_PAGES];
    const size_t n = bytes / PAGE;
    const bool known = bytes >= SPARSE && read_pages((uintptr_t)mapping / PAGE, n, page);
    for (size_t at = LINE, end; at < bytes; at = end) {
        const bool in_page = known && at / PAGE < n;
        end = in_page ? (at / PAGE + 1) * PAGE : bytes;
        if (!in_page || page[at / PAGE] & (in_memory | swapped))
            memset(mapping + at, 0, end - at);
    }
}

static void *small_new(size_t bytes) {
    void *block = malloc(bytes + 2 * LINE);
    return block ? memset(after_header(block, (struct header){block, 0, NULL}), 0, bytes) : NULL;
}

void *lazy_new(size_t bytes) {
    if (bytes < SMALL)
        return small_new(bytes);
    if (bytes > SIZE_MAX - LINE)
        return NULL;
    unsigned char *pages = (unsigned char *)take(bytes + LINE);
    if (pages) {
        clear(pages, bytes + LINE);
        return pages + LINE;
    }
    pages = mmap(NULL, bytes + LINE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : after_header(pages, (struct header){NULL, bytes + LINE, NULL});
}

void lazy_free(void *memory) {
    if (!memory)
        return;
    struct header *h = (struct header *)((unsigned char *)memory - LINE);
    if (h->block)
        free(h->block);
    else if (!keep(h))
        munmap(h, h->bytes);
}
