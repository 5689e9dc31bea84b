/* Reads the queue in which a grid leaves its launches (host/load/device_runtime.h). */
#include "device_launch.h"
#include "host/load/device_runtime.h"
#include "isa/machine/heap.h"
#include <stdlib.h>
#include <string.h>

/* A record and its place in the queue. */
struct entry {
    struct device_record record;
    uint32_t at;
};

static int compare(const void *x, const void *y) {
    const struct entry *a = x, *b = y;
    bool tail[2] = {a->record.stream == DEVICE_STREAM_TAIL, b->record.stream == DEVICE_STREAM_TAIL};
    if (tail[0] != tail[1])
        return tail[0] ? 1 : -1;
    if (a->record.cta != b->record.cta)
        return a->record.cta < b->record.cta ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

/* Returns the address of the module's queue; 0 if no kernel of the module launches kernels. */
static uint64_t queue_of(const struct heddle_module *m) {
    for (uint32_t i = 0; i < m->image->n_variables; i++)
        if (strcmp(m->image->variables[i].name, DEVICE_QUEUE) == 0)
            return m->image->variables[i].address;
    return 0;
}

/* Returns the name of the kernel that has this address in the module's code; NULL if no kernel has it. */
static const char *kernel_at(const struct heddle_module *m, uint64_t address) {
    uint64_t id = (address - CODE_BASE) / 16;
    if (address < CODE_BASE || address % 16 || id >= m->image->n_functions)
        return NULL;
    for (int i = 0; i < m->n_kernels; i++)
        if (strcmp(m->lowered[i].name, m->image->functions[id]) == 0)
            return m->lowered[i].name;
    return NULL;
}

/* Reads and frees the records of the queue, and empties it. */
static bool read_queue(struct heddle *h, uint64_t queue, uint32_t n, struct entry *e) {
    static const uint32_t none;
    bool ok = mem_write(&h->memory, queue, &none, sizeof none);
    for (uint32_t i = 0; ok && i < n; i++) {
        uint64_t at;
        e[i].at = i;
        ok = mem_read(&h->memory, queue + offsetof(struct device_queue, record) + i * sizeof at, &at, sizeof at) &&
             mem_read(&h->memory, at, &e[i].record, sizeof e[i].record) && h->memory.heap &&
             device_heap_release(h->memory.heap, at);
    }
    return ok;
}

static enum heddle_status translate(struct heddle *h, struct heddle_module *m, const char *parent,
                                    const struct device_record *r, struct device_launch *to) {
    const char *name = kernel_at(m, r->kernel);
    if (!name)
        return fail(h, HEDDLE_USAGE, "kernel '%s' launched a kernel at address 0x%llx, where there is none", parent,
                    (unsigned long long)r->kernel);
    *to = (struct device_launch){.program = module_program(h, m, name),
                                 .grid = {r->grid[0], r->grid[1], r->grid[2]},
                                 .block = {r->block[0], r->block[1], r->block[2]},
                                 .dynamic_shared = r->shared};
    if (!to->program)
        return h->status;
    if (to->program->param_bytes > sizeof r->params)
        return fail(h, HEDDLE_USAGE,
                    "kernel '%s' launched kernel '%s', which has %u bytes of parameters; kernels that kernels launch "
                    "may have %zu. Pass a pointer to a structure instead",
                    parent, name, to->program->param_bytes, sizeof r->params);
    to->params = calloc(1, to->program->param_bytes + 1);
    if (!to->params)
        return fail_memory(h);
    memcpy(to->params, r->params, to->program->param_bytes);
    return HEDDLE_OK;
}

/* Returns the queue's first word: the number of launches, and the highest bit if the heap was full. */
static uint32_t launches_in(const struct heddle *h, uint64_t queue) {
    uint32_t n;
    return queue && mem_read(&h->memory, queue, &n, sizeof n) ? n : 0;
}

/* Returns the number of records in the queue. */
static uint32_t stored(uint32_t word) {
    return (word & INT32_MAX) < DEVICE_QUEUE_MOST ? word & INT32_MAX : DEVICE_QUEUE_MOST;
}

void device_launches_drop(struct heddle *h, const struct heddle_module *m) {
    const uint64_t queue = queue_of(m);
    const uint32_t n = stored(launches_in(h, queue));
    struct entry *e = n ? calloc(n, sizeof *e) : NULL;
    if (e)
        read_queue(h, queue, n, e);
    free(e);
}

enum heddle_status device_launches_take(struct heddle *h, struct heddle_module *m, const char *parent,
                                        struct device_launches *out) {
    *out = (struct device_launches){0};
    const uint64_t queue = queue_of(m);
    const uint32_t word = launches_in(h, queue), launched = word & INT32_MAX, n = stored(word);
    if (!word)
        return HEDDLE_OK;
    struct entry *e = calloc(n + 1, sizeof *e);
    out->list = calloc(n + 1, sizeof *out->list);
    if (!e || !out->list) {
        free(e);
        return fail_memory(h);
    }
    enum heddle_status s = HEDDLE_OK;
    if (!read_queue(h, queue, n, e))
        s = fail(h, HEDDLE_USAGE, "kernel '%s' launched kernels, and their records in the heap were overwritten",
                 parent);
    else if (word != launched)
        s = fail(h, HEDDLE_USAGE,
                 "kernel '%s' launched more kernels than the heap of kernels holds: %zu bytes for each. Enlarge it "
                 "(cudaLimitMallocHeapSize)",
                 parent, sizeof(struct device_record));
    else if (launched > n)
        s = fail(h, HEDDLE_USAGE, "kernel '%s' launched %u kernels; a grid may launch %d", parent, launched,
                 DEVICE_QUEUE_MOST);
    qsort(e, n, sizeof *e, compare);
    for (; s == HEDDLE_OK && out->n < n; out->n++)
        s = translate(h, m, parent, &e[out->n].record, &out->list[out->n]);
    free(e);
    return s;
}

void device_launches_free(struct device_launches *d) {
    for (uint32_t i = 0; i < d->n; i++)
        free(d->list[i].params);
    free(d->list);
}
