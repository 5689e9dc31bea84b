#ifndef ISA_CTA_STACK_NODES_H
#define ISA_CTA_STACK_NODES_H
/* The nodes and paths of the stacks in cta_stack.h: how they are made, counted and freed. cta_stack.c decides which
 * nodes exist. */
#include "cta_stack.h"

/* Returns an upper bound of the number of nodes. A node with m threads and all nodes above it are at most 2m - 1 nodes:
 * its children have two or more disjoint sets of its threads, or one proper subset, and it gets new children only after
 * these have ended. There are at most m aside nodes in addition. */
static inline uint32_t cta_most_nodes(uint32_t n_warps) { return 3 * MAX_WARP_LANES * n_warps; }

/* Makes a node with the fields of `like`, and counts it in its parent. Returns its number. */
uint16_t cta_new_node(struct cta_stack *s, struct cta_node like);
/* Makes a path of a warp with the fields of `like`, in a free slot. */
void cta_new_path(struct cta_stack *s, uint32_t warp, struct cta_path like);
/* Ends a path. The nodes keep its threads. */
void cta_free_path(struct cta_stack *s, struct cta_path *p);
/* Changes the state of a path. */
void cta_set_state(struct cta_stack *s, struct cta_path *p, enum cta_path_state state);
/* Returns the first path of the node in this state whose number is *at or higher, and sets *at to the number after it.
 * Returns NULL if there is none. The paths of warp w have numbers from w * MAX_WARP_LANES on. */
struct cta_path *cta_next_path(const struct cta_stack *s, uint32_t node, enum cta_path_state state, uint32_t *at);
/* Returns the warp of the path that cta_next_path() has just returned. `at` is the value that this call has left in
 * *at. */
uint32_t cta_warp_before(uint32_t at);
/* Ends the path if it has reached the rpc of its node; only the nodes below then have its lanes. Returns true if the
 * path has ended. */
bool cta_path_ends(struct cta_stack *s, struct cta_path *p, uint32_t warp);
/* Returns the group number of a new compacted warp. A number is reused only after all other numbers. */
uint16_t cta_new_group(struct cta_stack *s);
/* Makes paths at the PC of `node` for all its threads. The paths belong to node `to`. If node `to` is `home`, the i-th
 * compacted warp has the threads of warp i. Otherwise it has the i-th thread of each lane. With plan.any_lane, each
 * compacted warp is filled with threads of any lanes before the next one begins. */
void cta_make_paths(struct cta_stack *s, uint16_t node, uint16_t to);
/* Frees an aside node whose branch has reconverged. Its threads return to the parent node. */
void cta_come_back(struct cta_stack *s, uint16_t node);
/* Removes one child from the count of `parent`. If it was the last one, the threads of `parent` continue. */
void cta_drop_child(struct cta_stack *s, uint16_t parent);
/* Frees a node without children. If it was the last child, the threads of its parent continue. */
void cta_free_node(struct cta_stack *s, uint16_t node);
#endif
