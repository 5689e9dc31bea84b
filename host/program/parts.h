#ifndef HOST_PROGRAM_PARTS_H
#define HOST_PROGRAM_PARTS_H
/* What the files of host/program share: a program as it was read, and a run of it. The run walks over the settings
 * themselves; script_open() walks over them once without a context, which finds everything that is wrong with the
 * text. */
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
    char *path, *folder, *text; /* folder: with the slash at its end, or "" */
    size_t len;                 /* of the text */
    config_t config;
    const config_setting_t *root;
    const char *help;
    bool checks;
    struct strings inputs, outputs;
    struct strings given;    /* values from outside, "n=4K", also of names that it has not */
    struct strings settings; /* those that it has, "n=4096" */
};

struct script_module {
    const char *name; /* "" of the only one */
    struct heddle_module *m;
};

struct script_graph {
    const char *name;
    struct bench_graph g;
    double *values; /* of the edges; NULL: all 1 */
    uint32_t columns;
    char *names[4]; /* of its values: NAME.nodes ... */
};

struct script_buffer {
    const char *name, *save; /* save: NULL when it is not */
    const struct value_type *type;
    uint64_t address, count, bytes;
    bool symbol; /* a variable of a module */
    char *count_name;
};

enum { TEXTURE_HANDLES = 8 };
struct script_texture {
    const char *name;
    const config_setting_t *at;
    bool is_sampler;
    int buffer; /* which buffer it looks at */
    struct heddle_texture t;
    uint64_t bound; /* address that the module's reference is bound to */
    struct {
        uint64_t address, handle;
        enum arg_object object;
    } handles[TEXTURE_HANDLES];
    int n_handles;
};

/* What the buffers of another model were at each check. */
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
    struct script *open; /* while script_open() looks at it: to note files */
    const struct script *p;
    struct heddle *h; /* NULL: the text is looked at, and nothing happens */
    const struct script_host *host;
    enum bench_size size;
    char *why;
    size_t why_size;
    enum heddle_status status; /* of the first mistake */
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
    struct reference *recording; /* this run is the other model's */
    int depth;                   /* of steps in steps */
};

/* text.c: settings and messages. All return false after a message. */

/* "file:line:column: error: ...", with a caret at `token` (the setting's name when it is NULL, `offset` bytes in). */
bool run_fail(struct run *r, const config_setting_t *s, const char *token, size_t offset, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
bool run_no_memory(struct run *r);
/* A call of the library failed: its message, behind the place, and `doing` unless that is NULL. */
bool run_library(struct run *r, const config_setting_t *s, const char *doing);
bool run_add_name(struct run *r, const char *name, struct value v);
/* Refuses keys that are not in the list, which ends with NULL. */
bool check_keys(struct run *r, const config_setting_t *group, const char *const *known);
/* A group that must be one, absent or there; NULL in *out when it is absent. */
bool read_group(struct run *r, const config_setting_t *in, const char *key, const config_setting_t **out);
/* A string; *out stays as it is when the key is absent. */
bool read_text(struct run *r, const config_setting_t *group, const char *key, const char **out);
/* One of a list of words, which ends with NULL. */
bool read_word(struct run *r, const config_setting_t *s, const char *what, const char *const *words, int *out);
bool read_value(struct run *r, const config_setting_t *s, struct value *out);
bool read_real(struct run *r, const config_setting_t *group, const char *key, double *out);
/* A whole number from min to max; *out stays as it is when the key is absent. */
bool read_integer(struct run *r, const config_setting_t *group, const char *key, int64_t min, int64_t max,
                  int64_t *out);
bool check_whole(struct run *r, const config_setting_t *s, const char *what, struct value v, int64_t min, int64_t max);
/* A value's number, also when libconfig has it as a number; `spare` holds its text. NULL when it is neither. */
const char *setting_text(const config_setting_t *s, char spare[40]);
/* Path of a file that the program names: from the program's folder. Free it. */
char *path_of(struct run *r, const char *file);
/* Appends a copy. */
bool note_text(struct run *r, struct strings *list, const char *text);
/* The whole of a file, with a zero behind it; its mistakes are at `s`. Free it. */
char *read_whole_file(struct run *r, const config_setting_t *s, const char *path, size_t *len);

/* unknown.c: why a name stands for nothing where the setting uses it, when the program has it elsewhere. */
bool explain_unknown(const struct run *r, const config_setting_t *s, const char *word, char *why, size_t size);

/* values.c, graphs.c, matrix.c, buffers.c, fill.c, textures.c, steps.c, check.c */
bool make_values(struct run *r);
bool make_graphs(struct run *r);
bool read_matrix(struct run *r, const config_setting_t *s, const char *path, struct script_graph *g);
bool make_buffers(struct run *r);
int find_buffer(const struct run *r, const char *name, size_t len);
/* The buffer that a setting names; -1 after a message. */
int named_buffer(struct run *r, const config_setting_t *s);
/* The values of a buffer as its setting says; NULL after a message. `zero`: they are all zero. */
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
void references_free(struct run *r);
/* program.c: a run in a context that is there, and what it leaves. */
bool script_go(struct run *r);
void run_free(struct run *r);
#endif
