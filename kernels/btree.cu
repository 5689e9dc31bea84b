// btree: keys looked up in a B+ tree. A CTA descends for one query; thread t compares with key t of a node. Block shapes
// and problem sizes are those of public programs, so that cycles can be held against a card's.
// btree_find: the value of a key. Rodinia, b+tree, findK. Divergence: nested ifs that one thread of a CTA passes.
//   Barriers: two a level. Block: 256 x 1.
// btree_range: the first record and the number of records between two keys, whose descents alternate. Rodinia, b+tree,
//   findRangeK. Divergence and barriers: likewise. Block: 256 x 1.
// Contraction: left to nvcc, as in the public programs.

enum { ORDER = 256 };

// Key i of an inner node is the least key below child i, and that of its first child is INT_MIN. Keys after the last one
// are INT_MAX. A child of a leaf is the number of a record.
struct node {
    int number, child[ORDER + 1], key[ORDER + 1];
    bool leaf;
    int children;
};

// As in the public programs, the state of a query lies in global memory, and every thread reads it again: at is its
// node, next the node below.
extern "C" __global__ void btree_find(long levels, node *tree, long nodes, int *record, long *at, long *next, int *key,
                                     int *value) {
    int t = threadIdx.x, query = blockIdx.x;
    for (int level = 0; level < levels; level++) {
        if (tree[at[query]].key[t] <= key[query] && tree[at[query]].key[t + 1] > key[query] &&
            tree[next[query]].child[t] < nodes)
            next[query] = tree[next[query]].child[t];
        __syncthreads();
        if (t == 0)
            at[query] = next[query];
        __syncthreads();
    }
    if (tree[at[query]].key[t] == key[query])
        value[query] = record[tree[at[query]].child[t]];
}

extern "C" __global__ void btree_range(long levels, node *tree, long nodes, long *at, long *next, long *last_at,
                                      long *last_next, int *first_key, int *last_key, int *first, int *records) {
    int t = threadIdx.x, query = blockIdx.x;
    for (int level = 0; level < levels; level++) {
        if (tree[at[query]].key[t] <= first_key[query] && tree[at[query]].key[t + 1] > first_key[query] &&
            tree[at[query]].child[t] < nodes)
            next[query] = tree[at[query]].child[t];
        if (tree[last_at[query]].key[t] <= last_key[query] && tree[last_at[query]].key[t + 1] > last_key[query] &&
            tree[last_at[query]].child[t] < nodes)
            last_next[query] = tree[last_at[query]].child[t];
        __syncthreads();
        if (t == 0) {
            at[query] = next[query];
            last_at[query] = last_next[query];
        }
        __syncthreads();
    }
    if (tree[at[query]].key[t] == first_key[query])
        first[query] = tree[at[query]].child[t];
    __syncthreads();
    if (tree[last_at[query]].key[t] == last_key[query])
        records[query] = tree[last_at[query]].child[t] - first[query] + 1;
}
