// Enough of CUDA to run the kernels on a CPU: the threads of a block as coroutines in one thread.
//
// A lane runs until it reaches a warp-wide operation, stores its value, and yields. When all 32 have
// reached it, all continue. Lanes that reach different operations abort the program: so the tests
// also check that a warp never diverges around one. A warp runs until it reaches a barrier of the
// block, then the next. Run backwards, warps and lanes take turns in the opposite order: results
// that differ show that a barrier is missing.
#pragma once
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define __device__
#define __forceinline__ inline
#define __global__
#define __launch_bounds__(...)
#define __align__(n)
#define __shared__ static

using std::max;
using std::min;

struct int2 { int x, y; };
struct float4 { float x, y, z, w; };
static int2 make_int2(int x, int y) { return {x, y}; }
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
struct Index { unsigned x; };

namespace warp {
const int LANES = 32, MOST_THREADS = 1024, STACK = 256 * 1024;
const int BARRIER = 6;  // the operation at which all threads of a block meet
static ucontext_t scheduler, context[MOST_THREADS];
static char* stacks[MOST_THREADS];
static int thread, finished[MOST_THREADS];
static long calls[MOST_THREADS];
static unsigned long long slots[2][MOST_THREADS];
static int kinds[2][MOST_THREADS];
static bool backwards;  // whether the last warp and the last lane of each run first
static void (*body)();

static void differ(int kind, int other, int other_kind) {
  std::fprintf(stderr, "thread %d is at operation %d, thread %d at %d\n", thread, kind, other,
               other_kind);
  std::abort();
}
static void meet(int kind, unsigned long long value) {
  const int side = calls[thread]++ & 1, first = thread / LANES * LANES;
  slots[side][thread] = value, kinds[side][thread] = kind;
  swapcontext(&context[thread], &scheduler);
  for (int other = first; other < first + LANES; ++other)
    if (kinds[side][other] != kind || calls[other] < calls[thread])
      differ(kind, other, kinds[side][other]);
}
static unsigned long long* met() {
  return &slots[(calls[thread] - 1) & 1][thread / LANES * LANES];
}

static void start() {
  body();
  finished[thread] = 1;
  swapcontext(&context[thread], &scheduler);
}

// Run a warp until it has finished or is at a barrier; whether it is at one.
static bool run_to_barrier(int first) {
  for (bool running = true; running;) {
    running = false;
    for (int k = 0; k < LANES; ++k) {
      thread = first + (backwards ? LANES - 1 - k : k);
      if (!finished[thread]) swapcontext(&scheduler, &context[thread]);
      running |= !finished[thread];
    }
    if (running && kinds[(calls[first] - 1) & 1][first] == BARRIER && !finished[first]) return true;
  }
  return false;
}

static void run(void (*kernel)(), int threads = LANES) {
  body = kernel;
  for (int k = 0; k < threads; ++k) {
    if (!stacks[k]) stacks[k] = (char*)std::malloc(STACK);
    finished[k] = calls[k] = 0;
    getcontext(&context[k]);
    context[k].uc_stack.ss_sp = stacks[k];
    context[k].uc_stack.ss_size = STACK;
    context[k].uc_link = &scheduler;
    makecontext(&context[k], start, 0);
  }
  const int warps = threads / LANES;
  for (int waiting = warps; waiting;) {
    waiting = 0;
    for (int k = 0; k < warps; ++k)
      waiting += run_to_barrier((backwards ? warps - 1 - k : k) * LANES);
    if (waiting && waiting < warps) differ(BARRIER, -1, 0);
  }
}
}  // namespace warp

struct ThreadIndex {
  struct { operator unsigned() const { return warp::thread; } } x;
};
static ThreadIndex threadIdx;
static Index blockIdx = {0}, gridDim = {1}, blockDim = {32};

template <typename T> static T value_of(int from) {
  T value;
  std::memcpy(&value, &warp::met()[from & 31], sizeof(T));
  return value;
}
template <typename T> static void leave(int kind, T value) {
  unsigned long long bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  warp::meet(kind, bits);
}
static void __syncwarp() { leave(0, 0); }
static void __syncthreads() { leave(warp::BARRIER, 0); }
template <typename T> static T __shfl_sync(unsigned, T value, int from) {
  leave(1, value);
  return value_of<T>(from);
}
template <typename T> static T __shfl_xor_sync(unsigned, T value, int apart) {
  leave(2, value);
  return value_of<T>(warp::thread % 32 ^ apart);
}
static unsigned __ballot_sync(unsigned, bool condition) {
  leave(3, (int)condition);
  unsigned bits = 0;
  for (int k = 0; k < 32; ++k) bits |= (unsigned)value_of<int>(k) << k;
  return bits;
}
static bool __any_sync(unsigned, bool condition) {
  leave(4, (int)condition);
  bool any = false;
  for (int k = 0; k < 32; ++k) any |= value_of<int>(k) != 0;
  return any;
}
static unsigned __match_any_sync(unsigned, int value) {
  leave(5, value);
  unsigned bits = 0;
  for (int k = 0; k < 32; ++k) bits |= (unsigned)(value_of<int>(k) == value) << k;
  return bits;
}
static float __fsqrt_rn(float x) { return std::sqrt(x); }
static int __ffs(unsigned x) { return __builtin_ffs(x); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int atomicAdd(int* at, int value) { return (*at += value) - value; }
