#include "launch_file.h"
#include "heddle.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

/* File: magic, u32 version, u32 0. Chunk: u32 type, u32 bytes of the contents, u32 bytes stored, u32 0, u64 checksum of
 * these 16 bytes and the stored bytes, then the stored bytes. */
static const char magic[8] = {'H', 'E', 'D', 'D', 'L', 'E', 'L', '\n'};
enum { HEADER = 16, CHUNK_HEADER = 24, CHECKED = 16, LEVEL = 1 };

/* ---- contents ---- */

void chunk_free(struct chunk_text *t) {
    free(t->data);
    *t = (struct chunk_text){0};
}

/* Makes room for `n` more bytes. */
static bool grow(struct chunk_text *t, size_t n) {
    if (t->bad || t->cap - t->n >= n)
        return !t->bad;
    size_t cap = t->cap ? t->cap : 4096;
    while (cap - t->n < n)
        cap *= 2;
    unsigned char *more = realloc(t->data, cap);
    t->bad = !more;
    if (more) {
        t->data = more;
        t->cap = cap;
    }
    return more != NULL;
}

void chunk_put(struct chunk_text *t, const void *data, size_t n) {
    if (n && grow(t, n)) {
        memcpy(t->data + t->n, data, n);
        t->n += n;
    }
}

void chunk_put_u32(struct chunk_text *t, uint32_t v) {
    chunk_put(t,
              (unsigned char[]){(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                                (unsigned char)(v >> 24)},
              4);
}

void chunk_put_u64(struct chunk_text *t, uint64_t v) {
    chunk_put_u32(t, (uint32_t)v);
    chunk_put_u32(t, (uint32_t)(v >> 32));
}

void chunk_put_string(struct chunk_text *t, const char *s) { chunk_put(t, s ? s : "", s ? strlen(s) + 1 : 1); }

const unsigned char *chunk_bytes(struct chunk_text *t, size_t n) {
    if (t->bad || t->n - t->at < n) {
        t->bad = true;
        return NULL;
    }
    t->at += n;
    return t->data + t->at - n;
}

static uint32_t number(const unsigned char *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t chunk_u32(struct chunk_text *t) {
    const unsigned char *p = chunk_bytes(t, 4);
    return p ? number(p) : 0;
}

uint64_t chunk_u64(struct chunk_text *t) {
    uint64_t low = chunk_u32(t);
    return low | (uint64_t)chunk_u32(t) << 32;
}

const char *chunk_string(struct chunk_text *t) {
    const unsigned char *end = t->bad || t->at == t->n ? NULL : memchr(t->data + t->at, 0, t->n - t->at);
    if (!end) {
        t->bad = true;
        return "";
    }
    return (const char *)chunk_bytes(t, (size_t)(end - (t->data + t->at)) + 1);
}

uint32_t chunk_count(struct chunk_text *t, size_t each) {
    uint32_t n = chunk_u32(t);
    if (t->bad || n > (t->n - t->at) / each) {
        t->bad = true;
        return 0;
    }
    return n;
}

/* ---- writing ---- */

bool launch_file_begin(FILE *f) {
    struct chunk_text t = {0};
    chunk_put(&t, magic, sizeof magic);
    chunk_put_u32(&t, LAUNCH_FILE_VERSION);
    chunk_put_u32(&t, 0);
    errno = t.bad ? ENOMEM : 0;
    bool fine = !t.bad && fwrite(t.data, 1, t.n, f) == t.n;
    chunk_free(&t);
    return fine;
}

static uint64_t checksum(const unsigned char *header, const void *stored, size_t n) {
    return XXH3_64bits_withSeed(stored, n, XXH3_64bits(header, CHECKED));
}

bool launch_file_put(FILE *f, enum launch_chunk type, struct chunk_text *t) {
    if (t->n > LAUNCH_FILE_CHUNK) {
        errno = EFBIG;
        return false;
    }
    size_t room = ZSTD_compressBound(t->n);
    unsigned char *stored = t->bad ? NULL : malloc(room);
    size_t n = stored ? ZSTD_compress(stored, room, t->data ? t->data : (const void *)"", t->n, LEVEL) : 0;
    struct chunk_text header = {0};
    chunk_put_u32(&header, type);
    chunk_put_u32(&header, (uint32_t)t->n);
    chunk_put_u32(&header, (uint32_t)n);
    chunk_put_u32(&header, 0);
    if (!header.bad && stored)
        chunk_put_u64(&header, checksum(header.data, stored, n));
    bool fine = stored && !header.bad && !ZSTD_isError(n);
    errno = fine ? 0 : ENOMEM;
    fine = fine && fwrite(header.data, 1, header.n, f) == header.n && fwrite(stored, 1, n, f) == n;
    free(stored);
    chunk_free(&header);
    t->n = t->at = 0;
    return fine;
}

/* ---- reading ---- */

/* Returns the type of a chunk header if its sizes are possible, else 0. */
static enum launch_chunk header_of(const unsigned char *p, size_t *bytes, size_t *stored) {
    const uint32_t type = number(p);
    *bytes = number(p + 4);
    *stored = number(p + 8);
    bool fine = type >= CHUNK_INFO && type < N_LAUNCH_CHUNKS && *bytes <= LAUNCH_FILE_CHUNK &&
                *stored <= ZSTD_compressBound(LAUNCH_FILE_CHUNK) && !number(p + 12);
    return fine ? (enum launch_chunk)type : 0;
}

/* Decompresses a chunk to `t`. */
static bool unpack(const unsigned char *stored, size_t n, size_t bytes, struct chunk_text *t) {
    t->n = t->at = 0;
    t->bad = false;
    if (!grow(t, bytes + 1))
        return false;
    size_t got = ZSTD_decompress(t->data, bytes, stored, n);
    t->n = bytes;
    return !ZSTD_isError(got) && got == bytes;
}

enum chunk_state { CHUNK_FINE, CHUNK_MISSING, CHUNK_TORN, CHUNK_DAMAGED, CHUNK_NO_MEMORY };

/* Reads the next chunk without decompressing it. The caller frees *stored. */
static enum chunk_state read_chunk(FILE *f, enum launch_chunk *type, size_t *bytes, size_t *n, unsigned char **stored) {
    unsigned char h[CHUNK_HEADER];
    size_t got = fread(h, 1, sizeof h, f);
    *stored = NULL;
    if (got < sizeof h)
        return got ? CHUNK_TORN : CHUNK_MISSING;
    if (!(*type = header_of(h, bytes, n)))
        return CHUNK_DAMAGED;
    if (!(*stored = malloc(*n + 1)))
        return CHUNK_NO_MEMORY;
    if (fread(*stored, 1, *n, f) < *n)
        return CHUNK_TORN;
    uint64_t sum = number(h + 16) | (uint64_t)number(h + 20) << 32;
    return sum == checksum(h, *stored, *n) ? CHUNK_FINE : CHUNK_DAMAGED;
}

enum launch_chunk launch_file_next(struct launch_file *r, struct chunk_text *t) {
    enum launch_chunk type = 0;
    size_t bytes, n;
    unsigned char *stored = NULL;
    t->n = t->at = 0;
    t->bad = false;
    if ((uint64_t)ftello(r->f) >= r->usable)
        return 0;
    bool fine = read_chunk(r->f, &type, &bytes, &n, &stored) == CHUNK_FINE && unpack(stored, n, bytes, t);
    free(stored);
    t->bad = !fine;
    return fine ? type : 0;
}

static bool check_header(FILE *f, const char *path, char *err, size_t size) {
    unsigned char h[HEADER];
    size_t got = fread(h, 1, sizeof h, f);
    if (got < sizeof magic || memcmp(h, magic, sizeof magic) != 0)
        snprintf(err, size, "%s: it is no file of launches; 'heddle record' and --checkpoint write such files", path);
    else if (got < sizeof h)
        snprintf(err, size, "%s: cut off in its header: record the program again", path);
    else if (number(h + 8) != LAUNCH_FILE_VERSION)
        snprintf(err, size,
                 "%s: a file of launches of format %u; Heddle %s reads format %d: record the program again "
                 "with this version",
                 path, number(h + 8), HEDDLE_VERSION, LAUNCH_FILE_VERSION);
    else
        return true;
    return false;
}

/* Updates the fields of `r` that describe the whole file: number of launches, how the file ends. */
static void note_chunk(struct launch_file *r, enum launch_chunk type, struct chunk_text *t) {
    if (type == CHUNK_LAUNCH) {
        uint64_t call = chunk_u64(t);
        if (!r->launches++)
            r->first = call;
    }
    if (type == CHUNK_END)
        r->end = chunk_u32(t) ? FILE_STOPPED : FILE_WHOLE;
}

static bool check_chunks(struct launch_file *r, char *err, size_t size) {
    struct chunk_text t = {0};
    bool ends = false;
    r->end = FILE_CUT_OFF;
    for (;;) {
        enum launch_chunk type;
        size_t bytes, n;
        unsigned char *stored;
        r->usable = (uint64_t)ftello(r->f);
        enum chunk_state state = ends ? CHUNK_MISSING : read_chunk(r->f, &type, &bytes, &n, &stored);
        bool look = state == CHUNK_FINE && (type == CHUNK_LAUNCH || type == CHUNK_END);
        if (look && !unpack(stored, n, bytes, &t))
            state = CHUNK_DAMAGED;
        if (look && state == CHUNK_FINE)
            note_chunk(r, type, &t);
        if (!ends)
            free(stored);
        ends |= state == CHUNK_FINE && type == CHUNK_END;
        if (state == CHUNK_FINE)
            continue;
        chunk_free(&t);
        if (state == CHUNK_NO_MEMORY)
            snprintf(err, size, "the host is out of memory");
        if (state == CHUNK_DAMAGED)
            snprintf(err, size,
                     "%s: damaged at byte %llu, after %llu launches: the checksum is wrong; copy the file "
                     "again, or record the program again",
                     r->path, (unsigned long long)r->usable, (unsigned long long)r->launches);
        return state == CHUNK_MISSING || state == CHUNK_TORN;
    }
}

bool launch_file_open(struct launch_file *r, const char *path, char *err, size_t err_size) {
    *r = (struct launch_file){.f = fopen(path, "rbe"), .path = strdup(path)};
    if (!r->f)
        snprintf(err, err_size, "%s: %s", path, strerror(errno));
    else if (!r->path)
        snprintf(err, err_size, "the host is out of memory");
    else if (check_header(r->f, path, err, err_size) && check_chunks(r, err, err_size)) {
        fseeko(r->f, HEADER, SEEK_SET);
        return true;
    }
    launch_file_close(r);
    return false;
}

void launch_file_close(struct launch_file *r) {
    if (r->f)
        fclose(r->f);
    free(r->path);
    *r = (struct launch_file){0};
}
