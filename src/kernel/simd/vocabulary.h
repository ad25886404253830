/* SPDX-License-Identifier: MIT */
/* vocabulary.h - the types every simd_<isa>.h speaks of, from VBYTES (bytes of a vector).
 * Elementwise + - * / & | << and comparisons are the compiler's own on these types; a comparison
 * gives -1 or 0 in each lane. What a compiler cannot know is added by each simd_<isa>.h under the
 * same names:
 *
 *     vfma32 vfma64     a * b + c, one rounding
 *     sfma32 sfma64     the same for one number
 *     vmax32 vmax64     a > b ? a : b, so b if a NaN is in
 *     vrint32 vrint64   to an integer, ties to even
 *     vany32 vany64     1 if any bit of any lane is set
 *     vturn32 vturn64   as many vectors as lanes, rows to columns
 *     vhalves32 vbfloats32   as many f16, bf16 numbers as lanes, at any address, widened
 *     vturn_f16         as vturn32, where each lane is a pair of f16 numbers of neighbouring columns, for
 *     vpair_f16         which widens the two columns of one vector of the result, at an aligned place
 *     vkeep32 vkeep64 vkeep_bits   opaque to the optimiser
 */
#ifndef VBYTES
#error "include through a simd_<isa>.h"
#endif

#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

typedef float f32v __attribute__((vector_size(VBYTES), may_alias));
typedef double f64v __attribute__((vector_size(VBYTES64), may_alias));
typedef int32_t i32v __attribute__((vector_size(VBYTES), may_alias));
typedef int64_t i64v __attribute__((vector_size(VBYTES64), may_alias));
typedef uint32_t u32v __attribute__((vector_size(VBYTES), may_alias));
typedef uint64_t u64v __attribute__((vector_size(VBYTES64), may_alias));
/* single numbers at any byte address */
typedef float f32u __attribute__((aligned(1), may_alias));
typedef double f64u __attribute__((aligned(1), may_alias));
typedef int32_t i32u __attribute__((aligned(1), may_alias));
typedef int64_t i64u __attribute__((aligned(1), may_alias));

typedef uint16_t u16v __attribute__((vector_size(VBYTES / 2), may_alias));
typedef uint16_t u16v_u __attribute__((vector_size(VBYTES / 2), aligned(1), may_alias));

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FIRST_HALF_LOW 0 /* of two 16-bit numbers in a lane, the one at the lower address */
#else
#define FIRST_HALF_LOW 1
#endif

/* a pointer that the compiler must take as new: what is read through it cannot wait in registers */
#define OPAQUE(p) __asm__("" : "+r"(p))
/* what is stored there is read from there */
#define OPAQUE_MEMORY(x) __asm__("" : "+m"(x))
