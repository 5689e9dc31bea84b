/* Looks up buffers by name, and explains names that are unknown where they are used. */
#include "parts.h"
#include <string.h>

/* The groups of a program file, in the order in which a run processes them. Their order in the file has no effect. */
static const char *const groups[] = {"values", "graphs", "buffers", "textures", "samplers", "steps"};
enum { VALUES, GRAPHS, BUFFERS, N_GROUPS = sizeof groups / sizeof groups[0] };

/* Returns the group that contains a setting. Settings in groups that describe values (paper, ranges) count as settings
 * in `values`. */
static int group_of(const config_setting_t *s) {
    const config_setting_t *up = config_setting_parent(s);
    for (; up && !config_setting_is_root(up); up = config_setting_parent(up))
        s = up;
    const char *name = config_setting_name(s);
    for (int i = 0; name && i < N_GROUPS; i++)
        if (strcmp(groups[i], name) == 0)
            return i;
    return VALUES;
}

/* Returns the loop whose counter has this name, among the steps and all nested steps. */
static const config_setting_t *find_loop(const config_setting_t *steps, const char *name) {
    const config_setting_t *found = NULL;
    for (int i = 0; steps && !found && i < config_setting_length(steps); i++) {
        const config_setting_t *s = config_setting_get_elem(steps, (unsigned)i);
        const config_setting_t *loop = config_setting_is_group(s) ? config_setting_get_member(s, "loop") : NULL;
        const config_setting_t *inner = config_setting_is_group(s) ? config_setting_get_member(s, "steps") : NULL;
        const char *own = loop ? config_setting_get_string(loop) : NULL;
        found = own && strcmp(own, name) == 0                 ? s
                : inner && config_setting_is_aggregate(inner) ? find_loop(inner, name)
                                                              : NULL;
    }
    return found;
}

/* Returns the member `name` of a group of the program file; NULL if the file does not have it. */
static const config_setting_t *member(const struct run *r, int group, const char *name) {
    const config_setting_t *g = config_setting_get_member(r->p->root, groups[group]);
    return g && config_setting_is_group(g) && *name ? config_setting_get_member(g, name) : NULL;
}

/* Explains that the name is used before its object is made. */
static void say_later(const config_setting_t *use, const config_setting_t *there, int group, const char *word,
                      char *why, size_t size) {
    int own = group_of(use);
    const config_setting_t *self = use;
    while (self && self != there)
        self = config_setting_parent(self);
    if (self)
        snprintf(why, size, "'%s' is not known while it is made itself", word);
    else if (own < group)
        snprintf(why, size, "'%s' is not known here: %s are made before %s", word, groups[own], groups[group]);
    else
        snprintf(why, size, "'%s' is not known yet: it stands further down, in line %u, and %s are made in their order",
                 word, config_setting_source_line(there), groups[group]);
}

int find_buffer(const struct run *r, const char *name, size_t len) {
    for (int i = 0; i < r->n_buffers; i++)
        if (strlen(r->buffers[i].name) == len && memcmp(r->buffers[i].name, name, len) == 0)
            return i;
    return -1;
}

bool explain_unknown(const struct run *r, const config_setting_t *s, const char *word, char *why, size_t size) {
    char name[64];
    const config_setting_t *there;
    const char *dot = strchr(word, '.');
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "."), word);
    if (!dot && (there = member(r, VALUES, word)))
        say_later(s, there, VALUES, word, why, size);
    else if (!dot && (there = find_loop(config_setting_get_member(r->p->root, "steps"), word)))
        snprintf(why, size, "'%s' counts the loop of line %u, and is known in its steps alone", word,
                 config_setting_source_line(there));
    else if (!dot && member(r, BUFFERS, word))
        snprintf(why, size, "'%s' is a buffer, and a number is expected here; '%s.count' is how many values it has",
                 word, word);
    else if (!dot && member(r, GRAPHS, word))
        snprintf(why, size,
                 "'%s' is a graph, and a number is expected here; there are %s.nodes, .edges, .rows and "
                 ".columns",
                 word, word);
    else if (dot && strcmp(dot, ".count") == 0 && (there = member(r, BUFFERS, name)) &&
             find_buffer(r, name, strlen(name)) < 0)
        say_later(s, there, BUFFERS, word, why, size);
    else if (dot && strcmp(dot, ".count") != 0 && (there = member(r, GRAPHS, name)) && group_of(s) <= GRAPHS)
        say_later(s, there, GRAPHS, word, why, size);
    else
        return false;
    return true;
}
