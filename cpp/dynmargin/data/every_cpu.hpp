// Loops that exist several times, for the widest registers that a CPU may have; which one runs is decided when the
// library is loaded.
//
// Only for loops whose result does not depend on that: over integers, over numbers that are not summed across
// registers, or with sums in lanes that are written out (wide_lanes.hpp). There is one build for all CPUs, and the
// result is the same bit for bit everywhere.
#pragma once

#include <cstddef>  // any header of the library says whether it is glibc

#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(DYNMARGIN_SANITIZED)
#if __GNUC__ >= 12
#define DYNMARGIN_FOR_EVERY_CPU __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define DYNMARGIN_FOR_EVERY_CPU __attribute__((target_clones("avx2", "default")))
#endif
#else
#define DYNMARGIN_FOR_EVERY_CPU
#endif

// A part of such a loop that is written as a function of its own.
#ifdef __GNUC__
#define DYNMARGIN_PART_OF_A_LOOP __attribute__((always_inline)) inline
#else
#define DYNMARGIN_PART_OF_A_LOOP inline
#endif
