/* Huffman codes. The codes of one length are consecutive numbers in the order of their symbols (RFC 1951, 3.2.2). */
#include "huffman.h"
#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* Removes the two lightest roots of the tree from `root` and returns the lightest of them first. */
static void two_lightest(const uint64_t *weight, int *root, int *n, int *least, int *next) {
    int *const two[] = {least, next};
    for (int k = 0; k < 2; k++) {
        int best = 0;
        for (int i = 1; i < *n; i++)
            if (weight[root[i]] < weight[root[best]])
                best = i;
        *two[k] = root[best];
        root[best] = root[--*n];
    }
}

/* Builds the tree. Sets the length of each symbol's code. Returns the longest. */
static int lengths(struct huffman *h, const uint32_t *frequency, int n) {
    uint64_t weight[2 * HUFFMAN_MOST];
    int root[HUFFMAN_MOST], parent[2 * HUFFMAN_MOST], roots = 0, nodes = n, longest = 0;
    for (int s = 0; s < n; s++) {
        weight[s] = frequency[s];
        if (frequency[s])
            root[roots++] = s;
    }
    assert(roots >= 2);
    while (roots > 1) {
        int a, b;
        two_lightest(weight, root, &roots, &a, &b);
        weight[nodes] = weight[a] + weight[b];
        parent[a] = parent[b] = nodes;
        root[roots++] = nodes++;
    }
    for (int s = 0; s < n; s++) {
        int length = 0;
        for (int at = s; frequency[s] && at != nodes - 1; at = parent[at])
            length++;
        h->bits[s] = (unsigned char)length;
        longest = length > longest ? length : longest;
    }
    return longest;
}

static uint32_t reversed(uint32_t code, int bits) {
    uint32_t turned = 0;
    for (int i = 0; i < bits; i++)
        turned |= (code >> i & 1) << (bits - 1 - i);
    return turned;
}

void huffman_make(struct huffman *h, const uint32_t *frequency, int n) {
    uint32_t flat[HUFFMAN_MOST], code = 0;
    memset(h, 0, sizeof *h);
    memcpy(flat, frequency, (size_t)n * sizeof *flat);
    /* Flatter frequencies give shorter codes, and nearly as short a text. */
    while (lengths(h, flat, n) > HUFFMAN_LONGEST)
        for (int s = 0; s < n; s++)
            flat[s] = flat[s] / 2 + flat[s] % 2;
    for (int bits = 1; bits <= HUFFMAN_LONGEST; bits++, code <<= 1)
        for (int s = 0; s < n; s++)
            if (h->bits[s] == bits)
                h->code[s] = reversed(code++, bits);
}
