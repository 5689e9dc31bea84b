/* Conditional nodes of graphs. The handle of a condition is the device address of a word, which kernels set by
 * cudaGraphSetConditional() (host/load/device_runtime.c). The word is an object of its graph, and so lives as long as
 * this graph and its copies. */
#include "core_graph_parts.h"
#include <stdlib.h>

/* The variable of a condition: a word in device memory, and its value at the start of each launch. */
struct word {
    struct word *next;
    const struct cuda_graph *graph; /* the graph whose nodes may use the condition */
    uint64_t at;
    unsigned value;
    bool reset; /* true: each launch sets the word to `value` */
};
static struct word *words; /* the variables of all conditions; accessed with the lock held */

static const struct word *word_at(uint64_t at) {
    const struct word *w = words;
    while (w && w->at != at)
        w = w->next;
    return w;
}

/* Frees a word. The last graph that holds the word calls this function. */
static void free_word(void *word) {
    for (struct word **i = &words; *i; i = &(*i)->next)
        if (*i == word) {
            *i = (*i)->next;
            break;
        }
    heddle_free(cuda_core.h, ((struct word *)word)->at);
    free(word);
}

enum cuda_error cuda_condition_create(uint64_t *out, struct cuda_graph *g, unsigned value, unsigned flags) {
    CUDA_LOCK;
    enum { ASSIGN_DEFAULT = 1, NO_SYNC = 1, MOVE = 1 };
    if (!out || !cuda_graph_of(g) || flags > ASSIGN_DEFAULT)
        return CUDA_ErrorInvalidValue;
    struct word *w = malloc(sizeof *w);
    const uint64_t at = w ? heddle_alloc(cuda_core.h, sizeof w->value) : 0;
    if (!at || heddle_write(cuda_core.h, at, &value, sizeof value) != HEDDLE_OK) {
        if (at)
            heddle_free(cuda_core.h, at);
        free(w);
        return CUDA_ErrorMemoryAllocation;
    }
    *w = (struct word){words, g, at, value, flags == ASSIGN_DEFAULT};
    words = w;
    struct cuda_user_object *held;
    enum cuda_error e = cuda_user_object_new(&held, w, free_word, 1, NO_SYNC);
    if (e) {
        free_word(w);
        return e;
    }
    e = cuda_graph_hold(g, held, 1, MOVE);
    if (e)
        cuda_user_object_release(held, 1);
    else
        *out = at;
    return e;
}

enum cuda_error cuda_graph_add_condition(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                         const struct cuda_condition *c, struct cuda_graph ***graphs) {
    CUDA_LOCK;
    const struct word *w = word_at(c->word);
    const unsigned most = c->kind == CONDITION_WHILE ? 1 : c->kind == CONDITION_IF ? 2 : UINT16_MAX;
    if (!out || !graphs || !w || w->graph != g || (unsigned)c->kind > CONDITION_SWITCH || !c->n || c->n > most)
        return CUDA_ErrorInvalidValue;
    const struct cuda_work work = {NODE_CONDITION, .condition = {c->word, c->kind, c->n, NULL}};
    enum cuda_error e = cuda_graph_add_work(out, g, before, n, &work);
    if (!e)
        *graphs = (*out)->work.condition.graphs;
    return e;
}

enum cuda_error cuda_condition_reset(const struct cuda_work *w) {
    const struct word *word = w->kind == NODE_CONDITION ? word_at(w->condition.word) : NULL;
    if (word && word->reset && heddle_write(cuda_core.h, word->at, &word->value, sizeof word->value) != HEDDLE_OK)
        return CUDA_ErrorInvalidValue;
    enum cuda_error e = CUDA_Success;
    const struct cuda_graph *g;
    for (unsigned i = 0; !e && (g = cuda_work_graph(w, i)); i++)
        for (const struct cuda_node *n = g->first; !e && n; n = n->next)
            e = cuda_condition_reset(&n->work);
    return e;
}
