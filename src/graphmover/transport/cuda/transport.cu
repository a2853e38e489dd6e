// Exact transport between many small sets of points, on the GPU.
//
// The method, its terms and its steps are those of `cpu/engine.py` and `cpu/few_sinks.py`:
// successive shortest paths on the residual graph of the sinks, in integers. Where the CPU has the
// sinks of one problem in the lanes of a vector, here they are in the lanes of a warp, and a warp
// takes as many problems as fit side by side: 32 / width. All problems of a warp go through the same
// loops together (`any_problem` ends a loop when the last of them is done): a warp never diverges.
//
// Problems with more than MOST_FEW sinks (`schedule.py`) are solved by the simplex method, one in a
// warp: as in `cpu/simplex.py`, in integers too.
//
// Guess and prove. Both solve with costs of 18 or 22 bits: half the memory, so twice the warps in
// flight, and one instruction where 64 bits need two. Then they compute the costs again, exactly
// as the CPU does, and prove that the flow found is optimal for these up to 1e-11 of the distance.
// A problem without that proof, with masses above 31 bits, or with a distance so small that it needs
// finer costs, goes on the list `again`, for the next solver: from few sinks to the simplex method,
// which goes on with exact costs; from there to 64 bits throughout, by `solve_exactly` or
// `solve_many_sinks`, one problem per warp, as in `cpu/many_sinks.py`.
//
// Counts. Compiled with PARTIAL, the kernels count masses instead of shares (`ground.py`): the side
// with less mass gets a further node at no cost to anyone, its last, as in `cpu/problem.py`.

#ifndef PARTIAL
#define PARTIAL 0
#endif

// How many labels a node has, if that is known when the kernels are compiled.
#define ANY_NUMBER -1
#ifndef LABELS
#define LABELS ANY_NUMBER
#endif

typedef long long int64;
typedef unsigned long long uint64;
typedef unsigned int uint32;
typedef unsigned short uint16;

// Warps on a multiprocessor that the simplex method leaves registers for.
#ifndef SIMPLEX_WARPS
#define SIMPLEX_WARPS 24
#endif

#define STEP static __device__ __forceinline__

#include "ground.cuh"
#include "problem.cuh"
#include "few_sinks.cuh"
#include "guess.cuh"
#include "simplex.cuh"
#include "many_sinks.cuh"

// Solve with 64 bits throughout.
template <typename S>
STEP void solve_exactly(const Side* x, const Side* y, const Tasks& tasks, const Results& results,
                        const GroundDistance& ground, const Tables& tables) {
  S s;
  lay_out(s, tables);
  int places = tables.places;
  const int64 count = number_of_tasks(tasks);
  if (count <= gridDim.x) places = 1;  // so few that none has to wait for another
  s.alone = places == 1;
  for (int64 start = (int64)blockIdx.x * places; start < count; start += (int64)gridDim.x * places) {
    Lane l;
    Problem p;
    take_problem(x, y, tasks, start, count, s.width, places, s.row - 1, l, p);
    int64 source_factor = 0, sink_factor = 0, total = 1, price;
    bool exact = true;
    if (l.m)
      exact = factors(p.sources->totals[p.source_graph], p.sinks->totals[p.sink_graph],
                      source_factor, sink_factor, total);
    const int64 matched = matched_mass(p, total);
    const Supply<int64> supply =
        supply_of(p, exact ? p.sources->masses : p.sources->rounded, source_factor);
    const int64 demand =
        l.m ? demand_of(p, exact ? p.sinks->masses : p.sinks->rounded, sink_factor) : 0;
    const Distances distances = distances_of(ground, p);
    double bound = l.m ? cost_bound(ground, p) : 0.0;
    double distance = 0.0;
    __syncwarp();
    while (any_problem(bound > 0)) {
      Lane active = l;
      if (!(bound > 0)) active.n = active.m = active.own = 0;
      const double units = units_per_cost(bound, Limits<int64>::COST_BITS);
      for (int i = 0; i < active.n; ++i)
        s.cost[i * s.row + l.column] = integer_cost(distances(i), units) << LOW_BITS;
      __syncwarp();
      solve(active, s, supply, demand, total, price);
      double cost = 0.0;
      for (int i = 0; i < active.n; ++i) {
        const int64 flow = l.sink < active.m ? s.flow[i * s.row + l.column] : 0;
        if (flow) cost += flow * distances(i);
      }
      __syncwarp();
      cost = sum_over_sinks(l, cost, s.width) / matched;
      if (bound > 0) {
        distance = cost;
        bound = finer_bound(bound, distance, matched);
      }
    }
    if (l.m && l.sink == 0) leave_result(p, tasks, results, true, distance);
    __syncwarp();
  }
}

extern __shared__ __align__(16) char shared[];

// `warps` is the number that a multiprocessor should have room for.
#define KERNEL(name, warps, step, ...)                                                           \
  extern "C" __global__ void __launch_bounds__(32, warps)                                        \
      name(const Side* x, const Side* y, const int* x_graphs, const int* y_graphs,               \
           const Rectangle* rectangles, int n_rectangles, int n_problems, int d, int k,          \
           double floor, double per_label, int width, int rows, int places, char* scratch,       \
           int64 scratch_bytes, double* out, int64 stride, const int* chosen,                    \
           const int* n_chosen, int* again, int* n_again) {                                      \
    const Tasks tasks = {x_graphs,   y_graphs, rectangles, n_rectangles,                         \
                         n_problems, chosen,   n_chosen};                                        \
    const Results results = {out, stride, again, n_again};                                       \
    const GroundDistance ground = {d, k, floor, per_label};                                      \
    const Tables tables = {width, rows, places, __VA_ARGS__};                                    \
    step(x, y, tasks, results, ground, tables);                                                  \
  }

#define SCRATCH (scratch + blockIdx.x * scratch_bytes)
#define FEW(...) State<__VA_ARGS__>

KERNEL(guess_short_in_shared_memory, 24, (guess<FEW(PackedArcs, uint16)>), shared, 0)
KERNEL(guess_in_shared_memory, 24, (guess<FEW(PackedArcs, int)>), shared, 0)
KERNEL(guess_in_scratch_memory, 16, (guess<FEW(SeparateArcs<int>, int)>), SCRATCH, 0)
KERNEL(solve_exactly_in_shared_memory, 16, (solve_exactly<FEW(SeparateArcs<int64>, int64)>), shared, 0)
KERNEL(solve_exactly_in_scratch_memory, 16, (solve_exactly<FEW(SeparateArcs<int64>, int64)>), SCRATCH, 0)
KERNEL(guess_by_simplex_in_shared_memory, SIMPLEX_WARPS, guess_by_simplex, shared, 0)
KERNEL(guess_by_simplex_in_scratch_memory, SIMPLEX_WARPS, guess_by_simplex, shared, SCRATCH)
// More warps in flight hide more of the scratch memory's latency than spilled registers cost.
KERNEL(solve_many_sinks_in_scratch_memory, 24, solve_many_sinks, SCRATCH, 0)

// The smallest and largest coordinates of each graph, one warp for each.
extern "C" __global__ void extents(const double* points, const int* offsets, int n_graphs, int d,
                                   double* low, double* high) {
  const int64 graph = (blockIdx.x * (int64)blockDim.x + threadIdx.x) / 32;
  if (graph >= n_graphs) return;
  for (int c = threadIdx.x % 32; c < d; c += 32) {
    const int first = offsets[graph], last = offsets[graph + 1];
    double least = first < last ? points[(int64)first * d + c] : 0.0, most = least;
    for (int i = first + 1; i < last; ++i) {
      least = fmin(least, points[(int64)i * d + c]);
      most = fmax(most, points[(int64)i * d + c]);
    }
    low[graph * d + c] = least, high[graph * d + c] = most;
  }
}
