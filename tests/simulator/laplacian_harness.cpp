// The kernels of laplacian.cu as functions that ctypes can call.
#include "cuda_on_cpu.h"

#include LAPLACIAN

static struct {
  const int* graphs;
  int n_graphs;
  const int64 *offsets, *indptr;
  const int* indices;
  const double *weights, *degrees;
  int d, few;
  double* scratch;
  int64 scratch_bytes;
  double* points;
  int* unsolved;
} a;

static void rotations_block() {
  by_rotations(a.graphs, a.n_graphs, a.offsets, a.indptr, a.indices, a.weights, a.degrees, a.d,
               a.points);
}

#define BLOCK(name)                                                                            \
  static void name##_block() {                                                                 \
    name(a.graphs, a.n_graphs, a.offsets, a.indptr, a.indices, a.weights, a.degrees, a.d,      \
         a.few, a.scratch, a.scratch_bytes, a.points, a.unsolved);                             \
  }
BLOCK(by_reflections_in_shared_memory)
BLOCK(by_reflections_in_scratch_memory)

static void (*const kernels[])() = {rotations_block, by_reflections_in_shared_memory_block,
                                    by_reflections_in_scratch_memory_block};

extern "C" void run(int kernel, int blocks, int threads, long shared_bytes, int backwards,
                    const int* graphs, int n_graphs, const int64* offsets, const int64* indptr,
                    const int* indices, const double* weights, const double* degrees, int d,
                    int few, int64 scratch_bytes, double* points, int* unsolved) {
  // Exactly as large as the schedule says, and filled with rubbish.
  memory = (double*)std::malloc(shared_bytes);
  char* scratch = (char*)std::malloc(scratch_bytes * blocks);
  std::memset(memory, 0xcd, shared_bytes), std::memset(scratch, 0xcd, scratch_bytes * blocks);
  a = {graphs, n_graphs, offsets, indptr,        indices, weights, degrees, d, few,
       (double*)scratch, scratch_bytes, points, unsolved};
  warp::backwards = backwards;
  gridDim.x = blocks, blockDim.x = threads;
  for (blockIdx.x = 0; (int)blockIdx.x < blocks; ++blockIdx.x)
    warp::run(kernels[kernel], threads);
  std::free(memory), std::free(scratch);
}
