#ifndef ISA_PATH_TREE_H
#define ISA_PATH_TREE_H
/* The paths of a warp as a tree of nodes, for models that have a table of splits. A node's children
 * are either on the stack, and run one at a time, the last pushed first; or they are splits, entries of the table, and
 * all run at once. A leaf is a path. It ends when its PC reaches its rpc; a node continues at its own PC when its last
 * child has ended. 96 nodes are enough, because each child has fewer lanes than its parent when it is made, and
 * siblings share no lane.
 *
 * If the table is limited, the splits that find no entry are parked. A parked split is not scheduled and does not
 * merge. The oldest parked split enters the table when a split ends or merges, or replaces a split that waits at a
 * barrier.
 *
 * The functions with the arguments of struct reconv_ops (reconv.h) can be its members; the model's state then begins
 * with a struct path_tree. The id of a path is the number of its node. */
#include "reconv.h"

enum { TREE_NODES = 3 * MAX_WARP_LANES, TREE_NO_NODE = 255 };

struct path_node {
    uint32_t pc, rpc;
    lanemask_t lanes;
    uint16_t depth, rpc_depth; /* current call depth of the lanes, and their call depth at the divergence */
    uint8_t parent;
    bool is_split; /* true if the node is a split; it has an entry of the table while it is a leaf and not parked */
    bool parked;   /* a split without an entry in the table */
    bool asleep;   /* the path waits at a barrier, or for lanes of its member mask */
    bool used;
    uint8_t children;
    uint32_t age; /* order of creation */
};

struct path_tree {
    uint32_t entries; /* entries of the table of splits; 0: unlimited */
    bool last_first;  /* the side of a branch that comes last in the arguments runs first on the stack */
    bool merges;      /* splits with the same parent merge when they are at the same PC */
    uint32_t clock, n_splits, n_parked;
    int n;    /* nodes in use */
    int high; /* number of slots that were ever used */
    struct path_node node[TREE_NODES];
};

/* Starts a warp with one path. The fields of `s` before `node` are zero, but the model may have set the first three. */
void path_tree_start(struct path_tree *s, uint32_t pc, lanemask_t lanes);
/* Returns true if the table of splits has room for n more splits. */
static inline bool path_tree_has_room(const struct path_tree *s, uint32_t n) {
    return !s->entries || s->n_splits + n <= s->entries;
}
/* Performs a branch that all lanes of the path take to `pc`. Returns RECONV_CHANGED if a path has ended or merged. */
unsigned path_tree_jump(struct path_tree *s, int id, uint32_t pc, const struct branch_site *site);
/* Makes the path `id` a node that continues at the branch's rpc, with a child for each side of the branch that is not
 * at this rpc yet. The children are splits, or on the stack. A branch without an rpc uses the rpc of the node. Returns
 * RECONV_CHANGED. */
unsigned path_tree_nest(struct path_tree *s, int id, const struct target *t, int n, const struct branch_site *site,
                        bool splits);
/* Replaces the path `id` by n splits, which end at the rpc of one node. This node is the path itself if it is no split,
 * else its parent. `site` is NULL if the path splits at a load. The caller must then call path_tree_settle(). A caller
 * may postpone this call to the next step; until then, splits at the same PC do not merge. */
void path_tree_subdivide(struct path_tree *s, int id, const struct target *t, int n, const struct branch_site *site);
/* Removes nodes that have reached their rpc, and merges splits. Returns RECONV_CHANGED if it has changed a path. */
unsigned path_tree_settle(struct path_tree *s);

/* Members of struct reconv_ops. path_tree_give_way() makes a path the root of a separate tree if it waits for lanes
 * that cannot be scheduled before the path has ended. path_tree_stall() gives the table entry of a split that waits at
 * a barrier to a parked split. path_tree_board() returns RECONV_BOARD_LANES. */
int path_tree_paths(const void *st, struct path *out, int max);
bool path_tree_finished(const void *st);
unsigned path_tree_advance(void *st, int id, uint32_t next);
unsigned path_tree_leave(void *st, int id, lanemask_t lanes, uint32_t next);
unsigned path_tree_give_way(void *st, const struct lane_waits *ws);
unsigned path_tree_stall(void *st, int id, enum reconv_stall why);
unsigned path_tree_wake(void *st, int id);
int path_tree_describe(const void *st, struct path_desc *out, int max);
int path_tree_depth(const void *st);
enum reconv_board path_tree_board(const struct reconv_cfg *cfg);
#endif
