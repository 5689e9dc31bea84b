#ifndef TIMING_TABLE_SIZE_H
#define TIMING_TABLE_SIZE_H
/* The size of a fixed table. A build with TINY=1 uses the smallest size that works, so that tests fill the tables.
 * In such a build, timing may differ, but results must not. */
#ifdef HEDDLE_TINY
#define TABLE_SIZE(usual, least) (least)
#else
#define TABLE_SIZE(usual, least) (usual)
#endif
#endif
