#ifndef HOST_PROGRAM_PARTS_H
#define HOST_PROGRAM_PARTS_H
/* Internals of host/program: a parsed program, and a run of it. A run interprets libconfig's settings directly.
 * script_open() makes a dry run without a context, which finds all errors of the text. */
#include "args.h"
#include "benchmarks/graph.h"
#include "expr.h"
#include "script.h"
#include <libconfig.h>

struct strings {
    char **list;
    int n;
};

struct script {
    char *path, *folder, *text; /* folder: ends with a slash, or "" */
    size_t len;                 /* bytes of the text */
    config_t config;
    const config_setting_t *root;
    const char *help;
    bool checks;
    struct strings inputs, outputs;
    /* values that the caller set, as written: "n=4K"; the program may lack some of these names */
    struct strings given;
    struct strings settings; /* values that the caller set and that the program declares, as numbers: "n=4096" */
};

struct script_module {
    const char *name; /* name of the module; "" for a single module without a name */
    struct heddle_module *m;
};

struct script_graph {
    const char *name;
    struct bench_graph g;
    double *values; /* values of the edges; NULL: all 1 */
    uint32_t columns;
    char *names[4]; /* names of the graph's values for expressions: NAME.nodes ... */
};

struct script_buffer {
    const char *name, *save; /* save: name of the file to which the buffer is saved at the end; NULL: it is not saved */
    const struct value_type *type;
    uint64_t address, count, bytes;
    bool symbol; /* true if the buffer is a variable of a module */
    char *count_name;
};

enum { TEXTURE_HANDLES = 8 };
struct script_texture {
    const char *name;
    const config_setting_t *at;
    bool is_sampler;
    int buffer; /* index of the buffer that has the texels; -1 for a sampler */
    struct heddle_texture t;
    /* device address of the texels to which the module's reference is bound; 1 for a bound sampler; 0: not bound yet */
    uint64_t bound;
    struct {
        uint64_t address, handle;
        enum arg_object object;
    } handles[TEXTURE_HANDLES];
    int n_handles;
};

/* The contents of buffers at the checks of a run of the program in another model, in the order of the checks. The main
 * run compares its buffers with them. */
struct reference {
    const char *model;
    struct snapshot {
        unsigned char *data;
        uint64_t bytes;
    } * list;
    int n, used;
    struct reference *next;
};

struct run {
    /* the program while script_open() makes the dry run, which collects the names of files; NULL in other runs */
    struct script *open;
    const struct script *p;
    struct heddle *h; /* NULL: a dry run, which only checks the text */
    const struct script_host *host;
    enum bench_size size;
    char *why;
    size_t why_size;
    bool (*go)(struct run *r); /* script_go(), for a check that runs the whole program in another model */
    enum heddle_status status; /* status of the first error */
    struct names names;
    int cap_names;
    struct script_module *modules;
    int n_modules;
    struct script_graph *graphs;
    int n_graphs;
    struct script_buffer *buffers;
    int n_buffers;
    struct script_texture *textures;
    int n_textures;
    struct reference *references;
    /* not NULL if this run is the reference run in another model, which records the buffers */
    struct reference *recording;
    int depth; /* nesting depth of steps */
};

/* text.c: settings and messages. On an error, all these functions print a message and return false. */

/* Prints "file:line:column: error: ...", with a caret `offset` bytes into `token` (NULL: the setting's name). */
bool run_fail(struct run *r, const config_setting_t *s, const char *token, size_t offset, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
bool run_no_memory(struct run *r);
/* Reports a failed call of the library: the place, `doing` unless it is NULL, and the library's message. */
bool run_library(struct run *r, const config_setting_t *s, const char *doing);
bool run_add_name(struct run *r, const char *name, struct value v);
/* Refuses keys that are not in the list, which ends with NULL. */
bool check_keys(struct run *r, const config_setting_t *group, const char *const *known);
/* Reads an optional group. Sets *out to NULL if it is absent. A setting of another type is an error. */
bool read_group(struct run *r, const config_setting_t *in, const char *key, const config_setting_t **out);
/* Reads a string; *out is unchanged if the key is absent. */
bool read_text(struct run *r, const config_setting_t *group, const char *key, const char **out);
/* Reads a setting whose value must be one of `words`, a list that ends with NULL. Sets *out to the index of the
 * word. */
bool read_word(struct run *r, const config_setting_t *s, const char *what, const char *const *words, int *out);
bool read_value(struct run *r, const config_setting_t *s, struct value *out);
bool read_real(struct run *r, const config_setting_t *group, const char *key, double *out);
/* Reads an integer from min to max; *out is unchanged if the key is absent. */
bool read_integer(struct run *r, const config_setting_t *group, const char *key, int64_t min, int64_t max,
                  int64_t *out);
bool check_whole(struct run *r, const config_setting_t *s, const char *what, struct value v, int64_t min, int64_t max);
/* Returns a setting's text; a number is converted into `spare`. Returns NULL if the setting is neither text nor
 * number. */
const char *setting_text(const config_setting_t *s, char spare[40]);
/* Returns the path of a file relative to the program's folder; the caller frees it. */
char *path_of(struct run *r, const char *file);
/* Appends a copy of the text. */
bool note_text(struct run *r, struct strings *list, const char *text);
/* Reads a whole file and appends a zero; the caller frees it. Messages point to `s`. */
char *read_whole_file(struct run *r, const config_setting_t *s, const char *path, size_t *len);

/* unknown.c: explains why a name is unknown here although the program defines it elsewhere. */
bool explain_unknown(const struct run *r, const config_setting_t *s, const char *word, char *why, size_t size);

/* Each function here is in one of the files values.c, graphs.c, matrix.c, buffers.c, fill.c, textures.c, steps.c and
 * check.c, and performs the part of a program that its name says. */
bool make_values(struct run *r);
bool make_graphs(struct run *r);
bool read_matrix(struct run *r, const config_setting_t *s, const char *path, struct script_graph *g);
bool make_buffers(struct run *r);
int find_buffer(const struct run *r, const char *name, size_t len);
/* Returns the index of the buffer that a setting names; prints a message and returns -1 if there is no such buffer. */
int named_buffer(struct run *r, const config_setting_t *s);
/* Makes the initial values of a buffer. Sets *zero if all values are zero. Prints a message and returns NULL on an
 * error. */
unsigned char *fill_buffer(struct run *r, const config_setting_t *s, struct script_buffer *b, bool *zero);
bool store_value(struct run *r, const config_setting_t *s, const char *token, const struct value_type *t,
                 struct value v, unsigned char *out);
bool make_textures(struct run *r);
int find_texture(const struct run *r, const char *name);
bool bind_textures(struct run *r);
bool texture_handle(struct run *r, const config_setting_t *s, struct script_texture *t, enum arg_object object,
                    uint64_t *out);
bool run_launch(struct run *r, const config_setting_t *s);
bool run_steps(struct run *r, const config_setting_t *steps);
bool run_check(struct run *r, const config_setting_t *s);
/* program_check.c: frees what a run has made. */
void run_free(struct run *r);
#endif
