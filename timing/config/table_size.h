#ifndef TIMING_TABLE_SIZE_H
#define TIMING_TABLE_SIZE_H
/* The size of a fixed table. A build with TINY=1 takes the least that it works with, so that tests come to what happens
 * when it is full. Timing depends on it then; results must not. */
#ifdef HEDDLE_TINY
#define TABLE_SIZE(usual, least) (least)
#else
#define TABLE_SIZE(usual, least) (usual)
#endif
#endif
