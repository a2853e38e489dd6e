// Enough of CUDA to run the kernels on a CPU: the threads of a block as coroutines in one thread.
//
// A lane runs until it reaches a warp-wide operation, stores its value, and yields. When all 32 have
// reached it, all continue. Lanes that reach different operations abort the program: so the tests
// also check that a warp never diverges around one. A warp runs until it reaches a barrier of the
// block, then the next. Run backwards, warps and lanes take turns in the opposite order: results
// that differ show that a barrier is missing.
#pragma once
#include <setjmp.h>
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

using std::isinf;
using std::max;
using std::min;

struct int2 { int x, y; };
struct float4 { float x, y, z, w; };
static int2 make_int2(int x, int y) { return {x, y}; }
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
struct Index { unsigned x, y; };

namespace warp {
const int LANES = 32, MOST_THREADS = 1024, STACK = 256 * 1024;
const int BARRIER = 6;  // the operation at which all threads of a block meet
static ucontext_t context[MOST_THREADS];  // where threads start
static jmp_buf scheduler, place[MOST_THREADS];  // where they were left: unlike swapcontext, no system call
static char* stacks[MOST_THREADS];
static bool started[MOST_THREADS];
static int thread, finished[MOST_THREADS];
static long calls[MOST_THREADS];
static unsigned long long slots[2][MOST_THREADS];
static int kinds[2][MOST_THREADS];
static bool backwards;  // whether the last warp and the last lane of each run first
static void (*body)();

static void differ(int one, int kind, int other, int other_kind) {
  std::fprintf(stderr, "thread %d is at operation %d, thread %d at %d\n", one, kind, other,
               other_kind);
  std::abort();
}
// Apart from their callers, since what these change meanwhile would be lost.
static void __attribute__((noinline)) yield() {
  if (!_setjmp(place[thread])) _longjmp(scheduler, 1);
}
static void __attribute__((noinline)) resume() {
  if (_setjmp(scheduler)) return;
  if (started[thread]) _longjmp(place[thread], 1);
  started[thread] = true;
  setcontext(&context[thread]);
}
static void meet(int kind, unsigned long long value) {
  const int side = calls[thread]++ & 1;
  slots[side][thread] = value, kinds[side][thread] = kind;
  yield();
}
static unsigned long long* met() {
  return &slots[(calls[thread] - 1) & 1][thread / LANES * LANES];
}

static void start() {
  body();
  finished[thread] = 1;
  _longjmp(scheduler, 1);
}

// The operation at which all lanes of a warp are.
static int operation(int first) {
  const int side = (calls[first] - 1) & 1, kind = kinds[side][first];
  for (int other = first; other < first + LANES; ++other)
    if (finished[other] || calls[other] != calls[first] || kinds[side][other] != kind)
      differ(first, kind, other, finished[other] ? -1 : kinds[side][other]);
  return kind;
}

// Run a warp until it has finished or is at a barrier; whether it is at one.
static bool run_to_barrier(int first) {
  for (;;) {
    bool running = false;
    for (int k = 0; k < LANES; ++k) {
      thread = first + (backwards ? LANES - 1 - k : k);
      if (!finished[thread]) resume();
      running |= !finished[thread];
    }
    if (!running) return false;
    if (operation(first) == BARRIER) return true;
  }
}

static void run(void (*kernel)(), int threads = LANES) {
  body = kernel;
  for (int k = 0; k < threads; ++k) {
    if (!stacks[k]) stacks[k] = (char*)std::malloc(STACK);
    finished[k] = calls[k] = started[k] = 0;
    getcontext(&context[k]);
    context[k].uc_stack.ss_sp = stacks[k];
    context[k].uc_stack.ss_size = STACK;
    context[k].uc_link = nullptr;
    makecontext(&context[k], start, 0);
  }
  const int warps = threads / LANES;
  for (int waiting = warps; waiting;) {
    waiting = 0;
    for (int k = 0; k < warps; ++k)
      waiting += run_to_barrier((backwards ? warps - 1 - k : k) * LANES);
    if (waiting && waiting < warps) differ(-1, BARRIER, -1, -1);
  }
}
}  // namespace warp

struct ThreadIndex {
  struct { operator unsigned() const { return warp::thread; } } x;
};
static ThreadIndex threadIdx;
static Index blockIdx = {0, 0}, gridDim = {1, 1}, blockDim = {32, 1};

// What a block shares beyond its own variables; sources are changed to refer to it.
static void* shared_memory;

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
static double __dmul_rn(double a, double b) { return a * b; }
static float __fsqrt_rn(float x) { return std::sqrt(x); }
static int __ffs(unsigned x) { return __builtin_ffs(x); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int atomicAdd(int* at, int value) { return (*at += value) - value; }
