/* Makes the graphs of a program: generated, or read from matrix-market files. */
#include "parts.h"
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"hubs", "power-law", "road", NULL};

static bool generate_hubs(struct run *r, const config_setting_t *s, uint64_t seed, struct script_graph *g) {
    static const char *const keys[] = {"generate", "seed",      "nodes",    "least", "most",
                                       "every",    "hub_least", "hub_most", NULL};
    enum { MOST = 1 << 20 };
    int64_t nodes = 0, least = 2, most = 10, every = 64, hub_least = 16, hub_most = 64;
    if (!check_keys(r, s, keys) || !read_integer(r, s, "nodes", 1, UINT32_MAX - 1, &nodes) ||
        !read_integer(r, s, "most", 1, MOST, &most) || !read_integer(r, s, "least", 1, most, &least) ||
        !read_integer(r, s, "every", 1, UINT32_MAX, &every) || !read_integer(r, s, "hub_most", 1, MOST, &hub_most) ||
        !read_integer(r, s, "hub_least", 1, hub_most, &hub_least))
        return false;
    if (!config_setting_get_member(s, "nodes"))
        return run_fail(r, s, NULL, 0, "how many nodes? nodes = NUMBER is missing");
    if (least > most || hub_least > hub_most)
        return run_fail(r, s, NULL, 0, "least and hub_least are not above most and hub_most");
    return !r->h ||
           bench_graph_hubs(&g->g, (uint32_t)nodes, (uint32_t)least, (uint32_t)most, (uint32_t)every,
                            (uint32_t)hub_least, (uint32_t)hub_most, seed) ||
           run_fail(r, s, NULL, 0, "the graph is too large");
}

static bool generate_power_law(struct run *r, const config_setting_t *s, uint64_t seed, struct script_graph *g) {
    static const char *const keys[] = {"generate", "seed", "nodes", "edges", NULL};
    int64_t nodes = 0, edges = 0;
    if (!check_keys(r, s, keys) || !read_integer(r, s, "nodes", 1, UINT32_MAX - 1, &nodes) ||
        !read_integer(r, s, "edges", 0, UINT32_MAX - 1, &edges))
        return false;
    if (!config_setting_get_member(s, "nodes") || !config_setting_get_member(s, "edges"))
        return run_fail(r, s, NULL, 0, "nodes = NUMBER or edges = NUMBER is missing");
    return !r->h || bench_graph_power_law(&g->g, (uint32_t)nodes, (uint32_t)edges, seed) ||
           run_fail(r, s, NULL, 0, "the graph is too large");
}

static bool generate_road(struct run *r, const config_setting_t *s, uint64_t seed, struct script_graph *g) {
    static const char *const keys[] = {"generate", "seed", "width", "height", "keep", NULL};
    int64_t width = 0, height = 0, keep = 90;
    if (!check_keys(r, s, keys) || !read_integer(r, s, "width", 1, 1 << 20, &width) ||
        !read_integer(r, s, "height", 1, 1 << 20, &height) || !read_integer(r, s, "keep", 0, 100, &keep))
        return false;
    if (!config_setting_get_member(s, "width") || !config_setting_get_member(s, "height"))
        return run_fail(r, s, NULL, 0, "width = NUMBER or height = NUMBER is missing");
    return !r->h || bench_graph_road(&g->g, (uint32_t)width, (uint32_t)height, (uint32_t)keep, seed) ||
           run_fail(r, s, NULL, 0, "the graph is too large");
}

static bool from_file(struct run *r, const config_setting_t *s, struct script_graph *g) {
    static const char *const keys[] = {"file", NULL};
    const char *file = NULL;
    if (!check_keys(r, s, keys) || !read_text(r, s, "file", &file))
        return false;
    char *path = path_of(r, file);
    bool fine = path && read_matrix(r, config_setting_get_member(s, "file"), path, g);
    free(path);
    return fine;
}

/* Adds the names NAME.nodes, NAME.edges, NAME.rows and NAME.columns, with their values, for use in expressions. */
static bool add_names(struct run *r, struct script_graph *g) {
    static const char *const parts[] = {"nodes", "edges", "rows", "columns"};
    uint32_t values[] = {g->g.nodes, g->g.edges, g->g.nodes, g->columns};
    for (int i = 0; i < 4; i++)
        if (asprintf(&g->names[i], "%s.%s", g->name, parts[i]) < 0) {
            g->names[i] = NULL;
            return run_no_memory(r);
        } else if (!run_add_name(r, g->names[i], (struct value){.i = values[i]})) {
            return false;
        }
    return true;
}

static bool make(struct run *r, const config_setting_t *s, struct script_graph *g) {
    static bool (*const generators[])(struct run *, const config_setting_t *, uint64_t,
                                      struct script_graph *) = {generate_hubs, generate_power_law, generate_road};
    g->name = config_setting_name(s);
    if (!config_setting_is_group(s))
        return run_fail(r, s, NULL, 0, "a graph is a group: %s = { generate = \"road\"; ... }", g->name);
    const config_setting_t *kind = config_setting_get_member(s, "generate");
    if (config_setting_get_member(s, "file"))
        return from_file(r, s, g) && add_names(r, g);
    int which = 0;
    int64_t seed = 1;
    if (!kind)
        return run_fail(r, s, NULL, 0, "where does the graph come from? file = \"X.mtx\" or generate = \"road\"");
    if (!read_word(r, kind, "generator of graphs", kinds, &which) ||
        !read_integer(r, s, "seed", INT64_MIN, INT64_MAX, &seed) || !generators[which](r, s, (uint64_t)seed, g))
        return false;
    g->columns = g->g.nodes;
    return add_names(r, g);
}

bool make_graphs(struct run *r) {
    const config_setting_t *group;
    if (!read_group(r, r->p->root, "graphs", &group) || !group)
        return r->status == HEDDLE_OK;
    int n = config_setting_length(group);
    r->graphs = calloc((size_t)n + 1, sizeof *r->graphs);
    if (!r->graphs)
        return run_no_memory(r);
    for (int i = 0; i < n; i++, r->n_graphs++)
        if (!make(r, config_setting_get_elem(group, (unsigned)i), &r->graphs[i])) {
            r->n_graphs++; /* counts the graph that failed, too, so that run_free() frees its arrays */
            return false;
        }
    return true;
}
