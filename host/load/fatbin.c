/* Reads containers of device code as nvcc 11 to 13 writes them: a header of 16 bytes, then entries, each with its own
 * header. All numbers are little-endian. */
#include "fatbin.h"
#include "device_runtime.h"
#include "ptx/tree.h"
#include <lz4.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { KIND_PTX = 1, KIND_MACHINE = 2, KIND_LINK_TIME = 8, ENTRY_HEADER = 0x40 };
static const uint32_t MAGIC = 0xba55ed50;
static const uint64_t FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000;

void device_code_free(struct device_code *c) {
    for (int i = 0; i < c->n; i++)
        free(c->parts[i].text);
    free(c->parts);
    free(c->error);
    memset(c, 0, sizeof *c);
}

bool device_code_fail(struct device_code *c, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    if (!c->error && vasprintf(&c->error, fmt, args) < 0)
        c->error = NULL;
    va_end(args);
    return false;
}

bool device_code_none(struct device_code *out) {
    if (out->has_cubin)
        return device_code_fail(out, "it is machine code (a cubin), and Heddle runs PTX: compile with 'nvcc -ptx' or "
                                     "'nvcc -fatbin -gencode arch=compute_75,code=compute_75'");
    if (out->machine)
        return device_code_fail(out,
                                "it has machine code for sm_%u only, and Heddle runs PTX: compile with '-arch=sm_%u', "
                                "which includes PTX, or add '-gencode arch=compute_%u,code=compute_%u'",
                                out->machine_arch, out->machine_arch, out->machine_arch, out->machine_arch);
    if (out->link_time)
        return device_code_fail(out,
                                "it has the compiler's own code for optimisation by the linker only, and Heddle runs "
                                "PTX: compile without '-dlto', or add '-gencode arch=compute_75,code=compute_75'");
    if (out->has_sections)
        return device_code_fail(out, "its containers of device code are empty: was it compiled from a file with "
                                     "kernels?");
    return device_code_fail(out, "it has no device code (no section .nv_fatbin or __nv_relfatbin): was it compiled "
                                 "by nvcc, and are its section headers still there?");
}

static uint16_t u16(const unsigned char *p) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static uint32_t u32(const unsigned char *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static uint64_t u64(const unsigned char *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

bool fatbin_is(const void *data, size_t len) { return len >= FATBIN_HEADER && u32(data) == MAGIC; }

uint64_t fatbin_bytes(const void *header) {
    uint64_t bytes = u64((const unsigned char *)header + 8), head = u16((const unsigned char *)header + 6);
    return bytes > UINT64_MAX - head ? UINT64_MAX : bytes + head;
}

/* An entry of a container. Its fields are checked against the size of the container. */
struct entry {
    uint16_t kind;
    uint32_t arch;
    const unsigned char *payload;
    uint64_t padded, compressed, full, flags, at;
};

static bool read_entry(struct device_code *c, const unsigned char *p, uint64_t left, uint64_t at, struct entry *e,
                       uint64_t *next) {
    if (left < ENTRY_HEADER)
        return device_code_fail(c, "the container entry at byte %llu is cut short", (unsigned long long)at);
    uint32_t head = u32(p + 4);
    *e = (struct entry){.kind = u16(p),
                        .arch = u32(p + 0x1c),
                        .padded = u64(p + 8),
                        .compressed = u32(p + 0x10),
                        .flags = u64(p + 0x28),
                        .full = u64(p + 0x38),
                        .at = at};
    if (head < ENTRY_HEADER || head > left || e->padded > left - head)
        return device_code_fail(c, "the container entry at byte %llu says it has %llu bytes, and %llu follow",
                                (unsigned long long)at, (unsigned long long)e->padded,
                                (unsigned long long)(left - (head <= left ? head : 0)));
    e->payload = p + head;
    *next = head + e->padded;
    return true;
}

/* Returns true if PTX for `arch` suits a GPU of capability `target` better than PTX for `than`. */
static bool better(uint32_t arch, uint32_t than, uint32_t target) {
    if (arch <= target)
        return than > target || arch > than;
    return than > target && arch < than;
}

static bool unpack_failed(struct device_code *c, const struct entry *e, const char *how) {
    return device_code_fail(c, "the PTX of the container entry at byte %llu is broken: it is no %s of %llu bytes",
                            (unsigned long long)e->at, how, (unsigned long long)e->full);
}

static bool unpack(struct device_code *c, const struct entry *e, char *text) {
    if (e->flags & FLAG_ZSTD) {
        size_t got = ZSTD_decompress(text, e->full, e->payload, e->compressed);
        if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
            return device_code_fail(c, "the host is out of memory");
        return (!ZSTD_isError(got) && got == e->full) || unpack_failed(c, e, "zstd frame");
    }
    int got = LZ4_decompress_safe((const char *)e->payload, text, (int)e->compressed, (int)e->full);
    return (got >= 0 && (uint64_t)got == e->full) || unpack_failed(c, e, "LZ4 block");
}

static bool add_part(struct device_code *c, char *text, size_t len, uint32_t arch) {
    if (c->n == c->cap) {
        int cap = c->cap ? 2 * c->cap : 4;
        struct ptx_part *parts = realloc(c->parts, (size_t)cap * sizeof *parts);
        if (!parts)
            return device_code_fail(c, "the host is out of memory");
        c->parts = parts;
        c->cap = cap;
    }
    while (len && text[len - 1] == '\0')
        len--;
    text[len] = '\0';
    c->parts[c->n++] = (struct ptx_part){text, len, arch};
    return true;
}

static bool take(struct device_code *c, const struct entry *e) {
    bool packed = (e->flags & (FLAG_ZSTD | FLAG_LZ4)) != 0;
    uint64_t full = packed ? e->full : e->padded;
    if (packed && e->compressed > e->padded)
        return device_code_fail(c, "the container entry at byte %llu says it has %llu bytes, and %llu follow",
                                (unsigned long long)e->at, (unsigned long long)e->compressed,
                                (unsigned long long)e->padded);
    if (full > PTX_LONGEST)
        return device_code_fail(c, "the PTX of the container entry at byte %llu is too long: the limit is %d MiB",
                                (unsigned long long)e->at, PTX_LONGEST >> 20);
    char *text = malloc(full + 1);
    if (!text)
        return device_code_fail(c, "the host is out of memory");
    if (!packed)
        memcpy(text, e->payload, full);
    if ((packed && !unpack(c, e, text)) || !add_part(c, text, full, e->arch)) {
        free(text);
        return false;
    }
    return true;
}

/* Returns true if an entry of machine code has functions, each in a section .text.NAME, or if the entry is compressed:
 * it is not decompressed to look for them. Every program that nvcc links also has machine code without functions. */
static bool has_functions(const struct entry *e) {
    bool packed = (e->flags & (FLAG_ZSTD | FLAG_LZ4)) != 0;
    return packed || memmem(e->payload, e->padded, ".text.", 6) != NULL;
}

bool fatbin_read(struct device_code *c, const void *data, size_t len, uint32_t target, uint64_t at) {
    if (!fatbin_is(data, len))
        return device_code_fail(c, "there is no container of device code at byte %llu", (unsigned long long)at);
    uint64_t bytes = fatbin_bytes(data), i = u16((const unsigned char *)data + 6);
    if (bytes > len || i < FATBIN_HEADER)
        return device_code_fail(c, "the container at byte %llu says it has %llu bytes, and %llu are there",
                                (unsigned long long)at, (unsigned long long)bytes, (unsigned long long)len);
    struct entry best = {0}, e;
    for (uint64_t step = 0; i < bytes; i += step) {
        if (!read_entry(c, (const unsigned char *)data + i, bytes - i, at + i, &e, &step))
            return false;
        c->entries++;
        if (e.kind == KIND_MACHINE && has_functions(&e)) {
            c->machine++;
            c->machine_arch = e.arch;
        }
        c->link_time += e.kind == KIND_LINK_TIME;
        if (e.kind == KIND_PTX && (!best.payload || better(e.arch, best.arch, target)))
            best = e;
    }
    return !best.payload || take(c, &best);
}

/* Returns the architecture of the newest part with code, 0 if there is none. CUDA's device library counts only if
 * `library` is true. */
static uint32_t newest_part(const struct device_code *c, bool library) {
    uint32_t newest = 0;
    for (int i = 0; i < c->n; i++) {
        const struct ptx_part *p = &c->parts[i];
        bool empty = !memmem(p->text, p->len, ".entry", 6) && !memmem(p->text, p->len, ".func", 5);
        if (!empty && p->arch > newest && (library || !device_runtime_is_library(p->text, p->len)))
            newest = p->arch;
    }
    return newest;
}

uint32_t fatbin_newest(const void *data, size_t len) {
    struct device_code c = {0};
    uint32_t newest = 0;
    if (fatbin_read(&c, data, len, UINT32_MAX, 0))
        newest = newest_part(&c, false);
    device_code_free(&c);
    return newest;
}

uint32_t device_code_newest(const struct device_code *c) {
    const uint32_t newest = newest_part(c, false);
    return newest ? newest : newest_part(c, true);
}
