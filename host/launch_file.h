#ifndef HOST_LAUNCH_FILE_H
#define HOST_LAUNCH_FILE_H
/* The format of files of launches (checkpoints and records, docs/checkpoints.md): a header, then chunks. A chunk has a
 * type, its sizes, a checksum and contents compressed by zstd. All numbers are little-endian. These functions know
 * nothing about the contents of chunks, except the fields that they read and write for the caller. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    LAUNCH_FILE_VERSION = 1,
    LAUNCH_FILE_PAGE = 4096, /* bytes of a page, the unit of changed memory; the last page of a buffer is shorter */
    LAUNCH_FILE_CHUNK = 64 << 20, /* most bytes of a chunk's contents */
};
enum launch_chunk {
    CHUNK_INFO = 1,    /* Heddle's version, model, configuration and options of the recorded run */
    CHUNK_MODULE,      /* a module: name, PTX and the addresses of its variables */
    CHUNK_ALLOCATIONS, /* all live allocations, the heap's blocks and the limits of device memory */
    CHUNK_TEXTURES,    /* all textures, samplers and surfaces */
    CHUNK_PAGES,       /* contents of pages that changed since the last launch */
    CHUNK_WROTE,       /* address ranges that the host wrote; replay invalidates their lines in the L2 */
    CHUNK_LAUNCH,      /* a launch: it starts after all chunks before it are applied */
    CHUNK_LAUNCHED,    /* how this launch ended, and a checksum of device memory */
    CHUNK_END,         /* the file is complete */
    N_LAUNCH_CHUNKS
};

/* The contents of a chunk that is written or read. A read beyond the end sets `bad` and returns zeros. */
struct chunk_text {
    unsigned char *data;
    size_t n, cap, at;
    bool bad; /* the contents end early or are wrong; while writing: the host is out of memory */
};
void chunk_put(struct chunk_text *t, const void *data, size_t n);
void chunk_put_u32(struct chunk_text *t, uint32_t v);
void chunk_put_u64(struct chunk_text *t, uint64_t v);
void chunk_put_string(struct chunk_text *t, const char *s); /* NULL is written as "" */
uint32_t chunk_u32(struct chunk_text *t);
uint64_t chunk_u64(struct chunk_text *t);
/* Returns the next `n` bytes, or NULL if there are fewer. */
const unsigned char *chunk_bytes(struct chunk_text *t, size_t n);
/* Returns the next string, which ends with a zero byte; "" if the contents are wrong. */
const char *chunk_string(struct chunk_text *t);
/* Reads the number of elements that follow, each of at least `each` bytes. Returns 0 and sets `bad` if the rest of the
 * contents is too short for them. */
uint32_t chunk_count(struct chunk_text *t, size_t each);
void chunk_free(struct chunk_text *t);

/* Writes the header of a file. */
bool launch_file_begin(FILE *f);
/* Writes a chunk and empties `t`. Returns false if the file cannot be written (errno) or `t` is bad (ENOMEM). */
bool launch_file_put(FILE *f, enum launch_chunk type, struct chunk_text *t);

/* How a file ends. */
enum launch_file_end { FILE_WHOLE, FILE_STOPPED, FILE_CUT_OFF };
/* The state of reading a file. */
struct launch_file {
    FILE *f;
    char *path;
    uint64_t launches, first; /* launches: number of launches in the file; first: number of its first launch */
    enum launch_file_end end;
    uint64_t usable; /* offset of the end of the last chunk that is whole */
};
/* Opens a file, and checks its header and the checksum of every chunk. Returns false with a message in `err` if the
 * file is no file of launches, has another version or is damaged. A file that is cut off opens with FILE_CUT_OFF. */
bool launch_file_open(struct launch_file *r, const char *path, char *err, size_t err_size);
/* Reads the next chunk to `t`. Returns its type; 0 after the last whole chunk, or if out of memory (t->bad). */
enum launch_chunk launch_file_next(struct launch_file *r, struct chunk_text *t);
void launch_file_close(struct launch_file *r);
#endif
