/* SPDX-License-Identifier: MIT */
/* describe.h - a plan as text, for qkv_plan_describe().
 *
 * It prints real numbers: call it in the environment of rule 0.
 */
#ifndef QKVI_DESCRIBE_H
#define QKVI_DESCRIBE_H

#include "base/text.h"
#include "plan/plan.h"

void qkvi_plan_text(const qkv_plan *plan, qkvi_text *text);

#endif
