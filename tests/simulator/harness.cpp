// The kernels of transport.cu as functions that ctypes can call, in blocks of one warp.
#include "cuda_on_cpu.h"

#include TRANSPORT

static struct {
  const Side *x, *y;
  const int *x_graphs, *y_graphs;
  int n_x, n_y, d, k;
  double floor, per_label;
  int width, rows, places;
  char* scratch;
  int64 scratch_bytes;
  double* out;
  int64 stride;
  int2* again;
  int* n_again;
} a;

#define RUN(name)                                                                                \
  static void name##_warp() {                                                                    \
    name(a.x, a.y, a.x_graphs, a.n_x, a.y_graphs, a.n_y, a.d, a.k, a.floor, a.per_label,         \
         a.width, a.rows, a.places, a.scratch, a.scratch_bytes, a.out, a.stride, a.again,        \
         a.n_again);                                                                             \
  }                                                                                              \
  extern "C" void run_##name(int blocks, long shared_bytes, const Side* x, const Side* y,        \
                             const int* x_graphs, int n_x, const int* y_graphs, int n_y, int d,  \
                             int k, double floor, double per_label, int width, int rows,         \
                             int places, int64 scratch_bytes, double* out, int64 stride,         \
                             int2* again, int* n_again) {                                        \
    /* exactly as large as the schedule says, and filled with rubbish */                         \
    shared = (char*)std::malloc(shared_bytes);                                                   \
    char* scratch = (char*)std::malloc(scratch_bytes * blocks);                                  \
    std::memset(shared, 0xcd, shared_bytes), std::memset(scratch, 0xcd, scratch_bytes * blocks); \
    a = {x, y, x_graphs, y_graphs, n_x, n_y, d, k, floor, per_label, width, rows, places,        \
         scratch, scratch_bytes, out, stride, again, n_again};                                   \
    gridDim.x = blocks;                                                                          \
    for (blockIdx.x = 0; (int)blockIdx.x < blocks; ++blockIdx.x) warp::run(name##_warp);         \
    std::free(shared), std::free(scratch);                                                       \
  }

RUN(guess_short_in_shared_memory)
RUN(guess_in_shared_memory)
RUN(guess_in_scratch_memory)
RUN(solve_exactly_in_shared_memory)
RUN(solve_exactly_in_scratch_memory)
RUN(solve_many_sinks_in_scratch_memory)
