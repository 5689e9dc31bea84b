/* The heap of malloc() and free() in kernels: a first-fit allocator in one allocation of device memory. */
#include "heap.h"
#include "isa/arith.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct heap_block {
    uint64_t offset, bytes;
};

struct device_heap {
    pthread_mutex_t lock;
    uint64_t address, bytes;
    struct heap_block *block; /* allocated blocks, in ascending order of offset */
    uint32_t n, cap;
};

struct device_heap *device_heap_new(uint64_t address, uint64_t bytes) {
    struct device_heap *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->address = address;
    h->bytes = bytes;
    pthread_mutex_init(&h->lock, NULL);
    return h;
}

void device_heap_free(struct device_heap *h) {
    if (!h)
        return;
    pthread_mutex_destroy(&h->lock);
    free(h->block);
    free(h);
}

/* Returns the index of the block before which `bytes` bytes fit, or n + 1 if no gap is large enough. */
static uint32_t find_gap(const struct device_heap *h, uint64_t bytes, uint64_t *offset) {
    uint64_t end = h->n ? h->block[h->n - 1].offset + h->block[h->n - 1].bytes : 0;
    if (bytes <= h->bytes - end) { /* the space after all blocks: the common case */
        *offset = end;
        return h->n;
    }
    uint64_t begin = 0;
    for (uint32_t i = 0; i < h->n; i++) {
        if (h->block[i].offset - begin >= bytes) {
            *offset = begin;
            return i;
        }
        begin = h->block[i].offset + h->block[i].bytes;
    }
    return h->n + 1;
}

static bool room_for_block(struct device_heap *h) {
    if (h->n < h->cap)
        return true;
    uint32_t cap = h->cap ? h->cap * 2 : 256;
    struct heap_block *block = realloc(h->block, cap * sizeof *block);
    if (!block)
        return false;
    h->block = block;
    h->cap = cap;
    return true;
}

uint64_t device_heap_alloc(struct device_heap *h, uint64_t bytes) {
    if (!h || !bytes || bytes > h->bytes)
        return 0;
    bytes = round_up(bytes, DEVICE_HEAP_ALIGN);
    pthread_mutex_lock(&h->lock);
    uint64_t offset = 0, address = 0;
    uint32_t i = find_gap(h, bytes, &offset);
    if (i <= h->n && room_for_block(h)) {
        memmove(h->block + i + 1, h->block + i, (h->n - i) * sizeof *h->block);
        h->block[i] = (struct heap_block){.offset = offset, .bytes = bytes};
        h->n++;
        address = h->address + offset;
    }
    pthread_mutex_unlock(&h->lock);
    return address;
}

bool device_heap_release(struct device_heap *h, uint64_t address) {
    if (!h)
        return false;
    bool found = false;
    pthread_mutex_lock(&h->lock);
    uint32_t lo = 0, hi = h->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (h->address + h->block[mid].offset < address)
            lo = mid + 1;
        else
            hi = mid;
    }
    found = lo < h->n && h->address + h->block[lo].offset == address;
    if (found) {
        memmove(h->block + lo, h->block + lo + 1, (h->n - lo - 1) * sizeof *h->block);
        h->n--;
    }
    pthread_mutex_unlock(&h->lock);
    return found;
}

uint32_t device_heap_blocks(struct device_heap *h, uint64_t (*out)[2], uint32_t max) {
    pthread_mutex_lock(&h->lock);
    const uint32_t n = h->n;
    for (uint32_t i = 0; i < n && i < max; i++) {
        out[i][0] = h->block[i].offset;
        out[i][1] = h->block[i].bytes;
    }
    pthread_mutex_unlock(&h->lock);
    return n;
}

bool device_heap_set_blocks(struct device_heap *h, const uint64_t (*blocks)[2], uint32_t n) {
    struct heap_block *list = calloc((size_t)n + 1, sizeof *list);
    uint64_t end = 0;
    bool fine = list != NULL;
    for (uint32_t i = 0; fine && i < n; i++) {
        fine = blocks[i][0] >= end && blocks[i][0] <= h->bytes && blocks[i][1] <= h->bytes - blocks[i][0];
        end = blocks[i][0] + blocks[i][1];
        list[i] = (struct heap_block){.offset = blocks[i][0], .bytes = blocks[i][1]};
    }
    if (!fine) {
        free(list);
        return false;
    }
    pthread_mutex_lock(&h->lock);
    free(h->block);
    h->block = list;
    h->n = n;
    h->cap = n + 1;
    pthread_mutex_unlock(&h->lock);
    return true;
}
