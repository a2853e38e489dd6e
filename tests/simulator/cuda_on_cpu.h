// Enough of CUDA to run transport.cu on a CPU: one warp as 32 coroutines in one thread.
//
// A lane runs until it reaches a warp-wide operation, stores its value, and yields. When all 32 have
// reached it, all continue. Lanes that reach different operations abort the program: so the tests
// also check that a warp never diverges around one.
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
#define __shared__

using std::max;
using std::min;

struct int2 { int x, y; };
struct float4 { float x, y, z, w; };
static int2 make_int2(int x, int y) { return {x, y}; }
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
struct Index { unsigned x; };

namespace warp {
const int LANES = 32, STACK = 256 * 1024;
static ucontext_t scheduler, context[LANES];
static char* stacks;
static int lane, finished[LANES];
static long calls[LANES];
static unsigned long long slots[2][LANES];
static int kinds[2][LANES];
static void (*body)();

static void meet(int kind, unsigned long long value) {
  const int side = calls[lane]++ & 1;
  slots[side][lane] = value, kinds[side][lane] = kind;
  swapcontext(&context[lane], &scheduler);
  for (int other = 0; other < LANES; ++other)
    if (kinds[side][other] != kind || calls[other] < calls[lane]) {
      std::fprintf(stderr, "lane %d is at operation %d, lane %d at %d\n", lane, kind, other,
                   kinds[side][other]);
      std::abort();
    }
}
static unsigned long long* met() { return slots[(calls[lane] - 1) & 1]; }

static void start() {
  body();
  finished[lane] = 1;
  swapcontext(&context[lane], &scheduler);
}

static void run(void (*kernel)()) {
  if (!stacks) stacks = (char*)std::malloc((size_t)LANES * STACK);
  body = kernel;
  for (int k = 0; k < LANES; ++k) {
    finished[k] = calls[k] = 0;
    getcontext(&context[k]);
    context[k].uc_stack.ss_sp = stacks + (size_t)k * STACK;
    context[k].uc_stack.ss_size = STACK;
    context[k].uc_link = &scheduler;
    makecontext(&context[k], start, 0);
  }
  for (bool running = true; running;) {
    running = false;
    for (lane = 0; lane < LANES; ++lane)
      if (!finished[lane]) swapcontext(&scheduler, &context[lane]), running |= !finished[lane];
  }
}
}  // namespace warp

struct ThreadIndex {
  struct { operator unsigned() const { return warp::lane; } } x;
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
template <typename T> static T __shfl_sync(unsigned, T value, int from) {
  leave(1, value);
  return value_of<T>(from);
}
template <typename T> static T __shfl_xor_sync(unsigned, T value, int apart) {
  leave(2, value);
  return value_of<T>(warp::lane ^ apart);
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
