#ifndef TEST_TOYS_POLICIES_H
#define TEST_TOYS_POLICIES_H
/* Policies for tests, not part of the product, and the descriptor of the mechanism that adds them (policies.c). */
extern const struct sched_ops sched_highest;          /* highest.c: selects the warp in the highest slot */
extern const struct replacement_ops replacement_fifo; /* fifo.c: evicts the line that was allocated first */
extern const struct cta_ops cta_policy_chunks;        /* chunks.c: gives each SM a contiguous part of the grid */
extern const struct mechanism mechanism_policies;
#endif
