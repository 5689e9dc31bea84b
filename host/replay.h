#ifndef HOST_REPLAY_H
#define HOST_REPLAY_H
/* Restores the state of a context from the chunks of a file of launches (launch_file.h). */
#include "device_launch.h"
#include "launch_file.h"

/* The place of a data page in the file: its chunk, and the offset in the contents of this chunk. */
struct stored_page {
    uint64_t chunk;
    uint32_t at, bytes;
};

/* The state of reading a file. */
struct replay {
    struct heddle *h;
    struct launch_file file;
    struct chunk_text chunk, other; /* the present chunk; an earlier chunk of pages */
    uint64_t other_at;              /* offset of the chunk in `other`; 0: none */
    struct heddle_module **modules; /* the modules, in the order of the file */
    uint32_t n_modules;
    struct stored_page *pages; /* the data pages, in the order of the file */
    uint64_t n_pages, cap_pages;
    uint64_t here; /* offset of the present chunk in the file */
};

/* A launch of the file. */
struct replayed_launch {
    uint64_t call; /* number of the launch in the recorded program */
    struct heddle_module *module;
    struct packed_launch packed; /* its strings are valid until the next chunk is read */
    struct heddle_dim cluster;
    bool large_clusters;
};

/* Opens a file for a context that is new. Returns HEDDLE_USAGE with a message if the file cannot be read, or if it is
 * cut off and `partial` is false. */
enum heddle_status replay_open(struct replay *r, struct heddle *h, const char *path, bool partial);
/* Restores the state before the next launch. Returns false after the last launch, or with *status set on an error. */
bool replay_next(struct replay *r, struct replayed_launch *l, enum heddle_status *status);
/* Runs a launch that replay_next() returned. */
enum heddle_status replay_run(struct replay *r, const struct replayed_launch *l);
void replay_close(struct replay *r);
/* Applies one chunk to a context. Returns false with a message if the chunk is wrong. For CHUNK_LAUNCH fills *l. */
bool replay_apply(struct replay *r, enum launch_chunk type, struct replayed_launch *l);

/* The information of CHUNK_INFO. Strings point into `text`. */
struct launch_file_info {
    const char *version, *model, *config;
    const char **set; /* ended by NULL */
    uint64_t first, launches;
    enum launch_file_end end;
    struct chunk_text text;
};
/* Reads the information of a file. Returns false with a message in `err`. Free it with launch_file_info_free(). */
bool launch_file_info(const char *path, struct launch_file_info *out, char *err, size_t err_size);
void launch_file_info_free(struct launch_file_info *i);
/* Prints a line for each launch: number, kernel, grid, block and how it ended. Returns false with a message. */
bool launch_file_list(const char *path, FILE *out, char *err, size_t err_size);
#endif
