// The kernels of transport.cu as functions that ctypes can call, in blocks of one warp.
#include "cuda_on_cpu.h"

#include TRANSPORT

static struct {
  const Side *x, *y;
  const int *x_graphs, *y_graphs;
  const Rectangle* rectangles;
  int n_rectangles, n_problems, d, k;
  double floor, per_label;
  int width, rows, places;
  char* scratch;
  int64 scratch_bytes;
  double* out;
  int64 stride;
  const int *chosen, *n_chosen;
  int* again;
  int* n_again;
} a;

#define RUN(name)                                                                                \
  static void name##_warp() {                                                                    \
    name(a.x, a.y, a.x_graphs, a.y_graphs, a.rectangles, a.n_rectangles, a.n_problems, a.d, a.k, \
         a.floor, a.per_label, a.width, a.rows, a.places, a.scratch, a.scratch_bytes, a.out,     \
         a.stride, a.chosen, a.n_chosen, a.again, a.n_again);                                    \
  }                                                                                              \
  extern "C" void run_##name(int blocks, long shared_bytes, const Side* x, const Side* y,        \
                             const int* x_graphs, const int* y_graphs,                           \
                             const Rectangle* rectangles, int n_rectangles, int n_problems,      \
                             int d, int k, double floor, double per_label, int width, int rows,  \
                             int places, int64 scratch_bytes, double* out, int64 stride,         \
                             const int* chosen, const int* n_chosen, int* again, int* n_again) { \
    /* exactly as large as the schedule says, and filled with rubbish */                         \
    shared = (char*)std::malloc(shared_bytes);                                                   \
    char* scratch = (char*)std::malloc(scratch_bytes * blocks);                                  \
    std::memset(shared, 0xcd, shared_bytes), std::memset(scratch, 0xcd, scratch_bytes * blocks); \
    a = {x, y, x_graphs, y_graphs, rectangles, n_rectangles, n_problems, d, k, floor, per_label, \
         width, rows, places, scratch, scratch_bytes, out, stride, chosen, n_chosen, again,      \
         n_again};                                                                               \
    gridDim.x = blocks;                                                                          \
    for (blockIdx.x = 0; (int)blockIdx.x < blocks; ++blockIdx.x) warp::run(name##_warp);         \
    std::free(shared), std::free(scratch);                                                       \
  }

RUN(guess_short_in_shared_memory)
RUN(guess_in_shared_memory)
RUN(guess_in_scratch_memory)
RUN(solve_exactly_in_shared_memory)
RUN(solve_exactly_in_scratch_memory)
RUN(guess_by_simplex_in_shared_memory)
RUN(guess_by_simplex_in_scratch_memory)
RUN(solve_many_sinks_in_scratch_memory)
