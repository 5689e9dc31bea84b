#ifndef HOST_TIMED_SURVEY_H
#define HOST_TIMED_SURVEY_H
/* A unit of each SM (timing/sm/unit.h) that surveys the CTAs of a launch that run in time. An SM without such a CTA
 * keeps its fast path. The unit changes no statistic. */
#include "host/sampled/survey.h"
#include "timing/sm/unit.h"

/* The unit's ctx is a struct survey *const *, which points to NULL while no launch is surveyed. */
extern const struct sm_unit_ops timed_survey;
#endif
