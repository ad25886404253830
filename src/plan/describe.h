/* SPDX-License-Identifier: MIT */
/* describe.h - a plan as text. */
#ifndef QKVI_DESCRIBE_H
#define QKVI_DESCRIBE_H

#include "base/text.h"
#include "plan/plan.h"

void qkvi_plan_text(const qkv_plan *plan, qkvi_text *text);

#endif
