// Exact transport between many small sets of points, on the GPU.
//
// The method, its words and its steps are those of `_cpu.py`, `_problem.py` and `_few_sinks.py`:
// successive shortest paths on the graph of sinks, in whole numbers. Where the CPU has the sinks
// of one problem in the lanes of a vector, here they are in the lanes of a warp, and a warp takes
// as many problems as fit side by side: 32 / width. All problems of a warp go through the same
// loops together (`any` ends a loop when the last of them is done), so a warp never diverges.
//
// Guess and prove. `guess` solves with costs of 18 bits: half the memory, so twice the warps in
// flight, and one instruction where 64 bits need two. Then it computes the costs again, exactly
// as the CPU does, to 48 bits, and proves that the flow found is an optimum for these: that no
// cycle of moves is cheaper. A problem without that proof, with masses above 31 bits, or with a
// distance so small that it needs a finer unit, goes on the list `again`. `solve_exactly` solves
// those with 64 bits throughout. More than 32 sinks are `solve_many_sinks`' work: one problem for
// each warp, as in `_many_sinks.py`.

typedef long long int64;
typedef unsigned long long uint64;
typedef unsigned int uint32;
typedef unsigned short uint16;

#define STEP static __device__ __forceinline__

const uint32 ALL = 0xffffffffu;

// In a label's low bits: the sink before on the path, and above it the number of arcs.
const int PARENT = 31;
const int ARC = 32;
const int LOW_BITS = 10;
const int LOW = (1 << LOW_BITS) - 1;

// A half of the sources is solved first while it has this many times as many nodes as sinks.
const int COARSE = 16;

// The relative error that whole costs may bring into a distance.
const double ACCURACY = 1e-10;
// The relative error of a guess that passes for proven.
const double PROVEN = 1e-11;
const int64 LARGEST_TOTAL = 1ll << 62;
const int64 ROUNDED_TOTAL = 1ll << 53;

template <typename Whole> struct Limits;
template <> struct Limits<int> {
  static const int COST_BITS = 18;
  static const int INFINITE = 1 << 30;
};
template <> struct Limits<int64> {
  static const int COST_BITS = 48;
  static const int64 INFINITE = 1ll << 62;
};

// What all problems of one collection share; `_cuda_side.py` makes it.
struct Side {
  const double* points;   // (nodes, d)
  const float* coarse;    // (nodes, d rounded up to a multiple of 4): the points for a guess
  const int64* masses;    // (nodes,) positive whole numbers
  const int64* rounded;   // (nodes,) the same, rounded to a total of ROUNDED_TOTAL
  const int* offsets;     // (graphs + 1,)
  const int64* labels;    // (nodes,) or null
  const double* low;      // (graphs, d) the smallest coordinates of a graph
  const double* high;     // (graphs, d) the largest
  const int64* totals;    // (graphs,) the mass of a graph
};

// Which problems a launch solves: all pairs of graphs of two lists, or the pairs of a list.
struct Tasks {
  const int* x_graphs;
  const int* y_graphs;
  uint32 n_x, n_y;
  const int2* pairs;
  const int* n_pairs;
};

// Where a launch leaves its results.
struct Results {
  double* out;   // (graphs of x, graphs of y)
  int64 stride;
  int2* again;   // pairs without a result
  int* n_again;
};

// ------------------------------------------------------------------------ lanes and problems

// A lane's place: sink number `sink` of the problem whose first sink is in lane `base`.
struct Lane {
  int lane, base, sink;
  int column;    // in the tables; lanes without a sink share one that nobody reads
  int n, m;      // sources and sinks of its problem; none: 0
  uint32 own;    // the problem's sinks as lanes of the warp
};

// A lane's problem: graph g of x and graph r of y; the smaller are the sinks.
struct Problem {
  int g, r;
  const Side* sources;
  const Side* sinks;
  int source_graph, sink_graph;
  int first;     // the first source among the nodes of its side
  int at;        // the lane's sink among the nodes of its side
};

STEP bool any_problem(bool condition) { return __any_sync(ALL, condition); }

// The problem's sinks for which the condition holds, as bits.
STEP uint32 bits(const Lane& l, bool condition) {
  return (__ballot_sync(ALL, condition) & l.own) >> l.base;
}

STEP int lowest_bit(uint32 x) { return __ffs(x) - 1; }

// The value that the lane of a sink of the same problem has.
template <typename T> STEP T of_sink(const Lane& l, T value, int sink) {
  return __shfl_sync(ALL, value, l.base + sink);
}

template <typename T> STEP T minimum(T a, T b) { return b < a ? b : a; }

// The sum over the sinks of a problem, always in the same order.
template <typename T> STEP T sum_over_sinks(const Lane& l, T value, int width) {
  T sum = 0;
  for (int k = 0; k < width; ++k) {
    T next = of_sink(l, value, k);
    if (k < l.m) sum += next;
  }
  return sum;
}

STEP int most_in_warp(int value) {
  for (int apart = 16; apart; apart >>= 1) value = max(value, __shfl_xor_sync(ALL, value, apart));
  return value;
}

// Give each lane its problem among those that begin with number `start`.
STEP void take_problem(const Side* x, const Side* y, const Tasks& tasks, int64 start, int64 count,
                       int width, int places, int spare, Lane& l, Problem& p) {
  const int lane = threadIdx.x & 31;
  const int place = lane / width;
  const int64 number = start + place;
  const bool used = place < places;
  l = Lane{lane, used ? place * width : 0, used ? lane % width : 0, used ? lane : spare, 0, 0, 0};
  p = Problem{-1, -1, x, y, 0, 0, 0, 0};
  if (place >= places || number >= count) return;
  if (tasks.pairs) {
    const int2 pair = tasks.pairs[number];
    p.g = pair.x, p.r = pair.y;
  } else {
    p.g = tasks.x_graphs[(uint32)number % tasks.n_x], p.r = tasks.y_graphs[(uint32)number / tasks.n_x];
  }
  const int n_x = x->offsets[p.g + 1] - x->offsets[p.g];
  const int n_y = y->offsets[p.r + 1] - y->offsets[p.r];
  const bool swapped = n_x < n_y;
  p.sources = swapped ? y : x, p.source_graph = swapped ? p.r : p.g;
  p.sinks = swapped ? x : y, p.sink_graph = swapped ? p.g : p.r;
  p.first = p.sources->offsets[p.source_graph];
  l.n = max(n_x, n_y), l.m = min(n_x, n_y);
  l.own = (l.m < 32 ? (1u << l.m) - 1 : ALL) << l.base;
  p.at = p.sinks->offsets[p.sink_graph] + min(l.sink, l.m - 1);
}

// ------------------------------------------------------------------------ costs and masses

STEP double label_distance(const Side* side, int d) { return side->labels ? sqrt((double)d) : 0.0; }

// No cost between two graphs is larger: the diagonal of the box around both.
STEP double cost_bound(const Problem& p, int d) {
  double square = 0.0;
  const double* low = p.sources->low + (int64)p.source_graph * d;
  const double* high = p.sources->high + (int64)p.source_graph * d;
  const double* sink_low = p.sinks->low + (int64)p.sink_graph * d;
  const double* sink_high = p.sinks->high + (int64)p.sink_graph * d;
  for (int c = 0; c < d; ++c) {
    const double reach = fmax(high[c] - sink_low[c], sink_high[c] - low[c]);
    square += reach * reach;
  }
  return fmax(sqrt(square), label_distance(p.sources, d));
}

// A power of two that brings every cost up to the bound below 2**COST_BITS.
STEP double units_per_cost(double bound, int cost_bits) {
  int exponent;
  frexp(bound * 1.000001, &exponent);
  return ldexp(1.0, min(max(cost_bits - exponent, -900), 900));
}

// A lower bound on costs to solve again with, or 0 when the distance is accurate.
STEP double finer_bound(double bound, double distance, double total) {
  const double dearest = distance * total;
  const bool accurate = bound * (1.0 / (1ll << 47)) <= ACCURACY * distance;
  return accurate || dearest * 2 >= bound ? 0.0 : dearest;
}

// The ground distance of the sources to the lane's sink: the only place, but for `coarse_costs`.
struct Ground {
  const double* source;
  const double* sink;
  const int64* labels;  // of the sources, or null
  int64 label;          // of the sink
  double apart;         // nodes with different labels are at least so far apart
  int d;

  __device__ __forceinline__ double operator()(int i) const {
    double square = 0.0;
    for (int c = 0; c < d; ++c) {
      const double difference = source[(int64)i * d + c] - sink[c];
      square += difference * difference;
    }
    const double distance = sqrt(square);
    return labels && labels[i] != label ? fmax(distance, apart) : distance;
  }
};

STEP Ground ground_distance(const Problem& p, int d) {
  const int64* labels = p.sources->labels;
  return Ground{p.sources->points + (int64)p.first * d,
                p.sinks->points + (int64)p.at * d,
                labels ? labels + p.first : 0,
                labels ? p.sinks->labels[p.at] : 0,
                label_distance(p.sources, d),
                d};
}

STEP int64 whole_cost(double distance, double units) {
  return (int64)fmin(distance * units, (double)(1ll << 48));
}

// The factors that bring both sides to a common total; false where it does not fit the bits.
STEP bool small_factors(int64 here, int64 there, int mass_bits, int& source_factor,
                        int& sink_factor, int& total) {
  if ((here | there) >> 31) return false;
  uint32 divisor = here, rest = there;
  while (rest) {
    const uint32 next = divisor % rest;
    divisor = rest, rest = next;
  }
  source_factor = (uint32)there / divisor, sink_factor = (uint32)here / divisor;
  const int64 product = here * source_factor;
  total = (int)product;
  return !(product >> mass_bits);
}

// The same for totals up to LARGEST_TOTAL; beyond that the rounded masses are taken.
STEP bool factors(int64 here, int64 there, int64& source_factor, int64& sink_factor, int64& total) {
  int64 divisor = here, rest = there;
  while (rest) {
    const int64 next = divisor % rest;
    divisor = rest, rest = next;
  }
  const bool exact = there / divisor <= LARGEST_TOTAL / here;
  source_factor = exact ? there / divisor : 1, sink_factor = exact ? here / divisor : 1;
  total = exact ? here * source_factor : ROUNDED_TOTAL;
  return exact;
}

// ------------------------------------------------------------------------ the solver

// The cheapest moves between sinks: row j, column k is the cheapest move of a unit from sink j
// to sink k and the source that makes it. Here both in one number: a change has LOW_BITS low
// bits that are zero, and sources are at most 2**LOW_BITS.
struct PackedMoves {
  typedef int Whole;
  typedef int Move;
  int* best;

  __device__ __forceinline__ void take(char*& memory, int cells) {
    best = (int*)memory, memory += cells * sizeof(int);
  }
  static __device__ __forceinline__ Move none() { return Limits<int>::INFINITE; }
  static __device__ __forceinline__ Move least(Move a, Move b) { return min(a, b); }
  static __device__ __forceinline__ Move better(Move old, int change, int i) {
    return min(old, change | i);
  }
  static __device__ __forceinline__ Move of_lane(Move move, int lane) {
    return __shfl_sync(ALL, move, lane);
  }
  __device__ __forceinline__ Move read(int cell) const { return best[cell]; }
  __device__ __forceinline__ void write(int cell, Move move) const { best[cell] = move; }
  __device__ __forceinline__ int change(int cell) const { return best[cell] & ~LOW; }
  __device__ __forceinline__ int mover(int cell) const { return best[cell] & LOW; }
};

// The same for any number of sources, in two tables. Of equal moves that of the first source
// counts, in both: so results do not depend on where the tables are.
template <typename Whole_> struct SeparateMoves {
  typedef Whole_ Whole;
  struct Move {
    Whole change;
    int mover;
  };
  Whole* best;
  int* who;

  __device__ __forceinline__ void take(char*& memory, int cells) {
    best = (Whole*)memory, memory += cells * sizeof(Whole);
    who = (int*)memory, memory += cells * sizeof(int);
  }
  static __device__ __forceinline__ Move none() { return Move{Limits<Whole>::INFINITE, 0}; }
  static __device__ __forceinline__ Move least(Move a, Move b) {
    return b.change < a.change || (b.change == a.change && b.mover < a.mover) ? b : a;
  }
  static __device__ __forceinline__ Move better(Move old, Whole change, int i) {
    return least(old, Move{change, i});
  }
  static __device__ __forceinline__ Move of_lane(Move move, int lane) {
    return Move{__shfl_sync(ALL, move.change, lane), __shfl_sync(ALL, move.mover, lane)};
  }
  __device__ __forceinline__ Move read(int cell) const { return Move{best[cell], who[cell]}; }
  __device__ __forceinline__ void write(int cell, Move move) const {
    best[cell] = move.change, who[cell] = move.mover;
  }
  __device__ __forceinline__ Whole change(int cell) const { return best[cell]; }
  __device__ __forceinline__ int mover(int cell) const { return who[cell]; }
};

// One warp's tables. Each lane that has a sink owns a column.
template <typename Moves_, typename Flow_> struct State {
  typedef Moves_ Moves;
  typedef typename Moves::Whole Whole;
  typedef Flow_ Flow;       // as it is in memory
  typedef decltype(Flow_() + 0) Mass;  // as it is in registers
  Whole* whole;     // (n, row) C_ik as whole units
  Moves moves;      // (m, row)
  Flow* flow;       // (n, row) F_ik
  uint32* members;  // (n / 32, row) bit i: whether source i, not settled, has flow at sink k
  int* below;       // (row,) the next sink on a path that mass is drawn along
  int width;        // lanes of a problem
  int words;        // rows of members
  int row;          // columns: one for each lane that has a sink, and some to spare
  bool alone;       // whether a warp has one problem only
};

// The masses of the sources: supply of source i is masses[i] * factor.
template <typename Mass> struct Supply {
  const int64* masses;
  Mass factor;
  __device__ __forceinline__ Mass operator()(int i) const { return (Mass)masses[i] * factor; }
};

// Let source i, which has come to sink k, improve the moves from there.
template <typename S> STEP void offer_moves(const Lane& l, const S& s, int k, int i, bool active) {
  if (!active) return;
  const int cell = k * s.row + l.column;
  const typename S::Whole change = s.whole[i * s.row + l.column] - s.whole[i * s.row + l.base + k];
  s.moves.write(cell, S::Moves::better(s.moves.read(cell), change, i));
}

// Every source of the sample (every step-th) to its cheapest sink at the present prices.
//
// A source for which the second cheapest sink is dearer by at least ``reach`` is settled.
template <typename S>
STEP void assign(const Lane& l, const S& s, const Supply<typename S::Mass>& supply, int step,
                 typename S::Whole reach, typename S::Whole price, typename S::Mass& need) {
  typedef typename S::Whole Whole;
  typedef typename S::Mass Mass;
  for (int j = 0; j < s.width; ++j) s.moves.write(j * s.row + l.column, S::Moves::none());
  for (int w = 0; w < s.words; ++w) s.members[w * s.row + l.column] = 0;
  const int sample = l.n ? (l.n + step - 1) / step : 0;
  const int most = most_in_warp(sample);
  for (int start = 0; start < most; start += s.width) {
    // Each lane finds the home of one source; then all lanes look at one source after another.
    const int mine = (start + l.sink) * step;
    const bool exists = start + l.sink < sample;
    Whole least = Limits<Whole>::INFINITE, second = Limits<Whole>::INFINITE;
    int cheapest = 0;
    for (int k = 0; k < s.width; ++k) {
      const Whole price_k = of_sink(l, price, k);
      if (!exists || k >= l.m) continue;
      const Whole reduced = s.whole[mine * s.row + l.base + k] - price_k;
      second = reduced < least ? least : minimum(second, reduced);
      if (reduced < least) least = reduced, cheapest = k;
    }
    const Mass my_supply = exists ? supply(mine) : 0;
    const int settled = reach < Limits<Whole>::INFINITE && second - least >= reach ? 32 : 0;
    for (int t = 0; t < s.width && start + t < most; ++t) {
      const int i = (start + t) * step;
      const int home = of_sink(l, cheapest + settled, t);
      const Mass amount = of_sink(l, my_supply, t);
      const bool active = start + t < sample;
      const bool here = active && (home & 31) == l.sink;
      if (active) s.flow[i * s.row + l.column] = here ? amount : 0;
      if (here) need -= amount;
      if (here && home < 32) s.members[(i >> 5) * s.row + l.column] |= 1u << (i & 31);
      offer_moves(l, s, home, i, active && home < 32);
    }
  }
  __syncwarp();
}

// Whether a lane's sink can no longer keep its path: some arc of it is no longer tight, or the
// sink where it begins has no excess left.
template <typename S>
STEP bool has_lost_its_path(const Lane& l, const S& s, typename S::Mass need,
                            typename S::Whole price, typename S::Whole label) {
  typedef typename S::Whole Whole;
  int above = (int)label & PARENT;
  const Whole length = of_sink(l, price, above) + s.moves.change(above * s.row + l.column);
  int lost = label >= Limits<Whole>::INFINITE || (above == l.sink ? need >= 0 : length != price);
  bool more;
  do {
    const int next = of_sink(l, above, above);
    lost |= of_sink(l, lost, above);
    more = next != above;
    above = next;
  } while (any_problem(more));
  return lost;
}

// The length of the path to the lane's sink through the first one or two sinks of `now`, which
// are taken from it: two at a time, since each waits long for memory.
template <typename S>
STEP typename S::Whole length_through(const Lane& l, const S& s, typename S::Whole label,
                                      uint32& now) {
  typedef typename S::Whole Whole;
  const int j = now ? lowest_bit(now) : 0;
  now &= now - 1;
  const int k = now ? lowest_bit(now) : j;
  now &= now - 1;
  const Whole to_j = (of_sink(l, label, j) & ~(Whole)PARENT) + (ARC + j);
  const Whole to_k = (of_sink(l, label, k) & ~(Whole)PARENT) + (ARC + k);
  return minimum(s.moves.change(j * s.row + l.column) + to_j, s.moves.change(k * s.row + l.column) + to_k);
}

// Label all sinks with their paths from the excess sinks; lengths become prices.
//
// Paths of the phase before that still stand are the shortest still, for lengths never fall. The
// others are found by Bellman and Ford's rounds: `now` are the sinks to be looked at in this
// one, `next` those that have become nearer since they were.
template <typename S>
STEP void find_shortest_paths(const Lane& l, const S& s, bool active, typename S::Mass need,
                              typename S::Whole& price, typename S::Whole& label) {
  typedef typename S::Whole Whole;
  const bool lost = has_lost_its_path(l, s, need, price, label);
  if (active && lost) label = Limits<Whole>::INFINITE;
  const Whole before = label;
  uint32 now = bits(l, active && !lost), next = 0;
  while (any_problem(now)) {
    const bool looking = now;
    const Whole length = length_through(l, s, before, now);
    if (looking && length < label) label = length;
  }
  now = bits(l, label < before);
  while (any_problem(now)) {
    const bool looking = now;
    const Whole length = length_through(l, s, label, now);
    const bool shorter = looking && length < label;
    next |= bits(l, shorter) & ~now;
    if (shorter) label = length;
    if (!now) now = next, next = 0;
  }
  if (active) price = label & ~(Whole)LOW;
}

// Draw mass along the paths to the deficit sinks, on all trees of paths at once, until they carry
// no more. Return the sinks that lost a source; `drawn` tells whether any mass has moved.
template <typename S>
STEP uint32 draw(const Lane& l, const S& s, bool active, typename S::Whole label,
                 typename S::Mass& need, bool& drawn) {
  typedef typename S::Mass Mass;
  const bool reached = active && l.sink < l.m && label < Limits<typename S::Whole>::INFINITE;
  const int parent = reached ? (int)label & PARENT : l.sink;
  const bool root = parent == l.sink;
  const int mover = reached && !root ? s.moves.mover(parent * s.row + l.column) : 0;
  uint32 left = 0;
  drawn = false;
  __syncwarp();
  while (true) {
    // What the path to each sink can carry, by jumps of twice the length each.
    Mass carry = !reached ? 0 : root ? -need : (Mass)s.flow[mover * s.row + l.base + parent];
    int above = parent;
    bool more;
    do {
      const Mass other = of_sink(l, carry, above);
      const int next = of_sink(l, above, above);
      carry = minimum(carry, other);
      more = next != above;
      above = next;
    } while (any_problem(more));
    const bool able = need > 0 && carry > 0 && l.sink < l.m;
    if (!any_problem(able)) return left;
    // The first able sink of each tree draws. Its path, from its end up, learns what moves.
    const uint32 peers = __match_any_sync(ALL, able ? l.base + above : 32 + l.lane);
    bool on = able && lowest_bit(peers) == l.lane;
    Mass amount = on ? minimum(need, carry) : 0;
    if (on) need -= amount;
    int child = -1;
    s.below[l.column] = -1;
    __syncwarp();
    bool tells = on && !root;
    while (any_problem(tells)) {
      if (tells) s.below[l.base + parent] = l.sink;
      __syncwarp();
      const bool told = !on && s.below[l.column] >= 0;
      if (told) child = s.below[l.column];
      const Mass from_child = of_sink(l, amount, child < 0 ? 0 : child);
      if (told) amount = from_child;
      on = on || told;
      tells = told && !root;
    }
    const int leaver = of_sink(l, mover, child < 0 ? 0 : child);
    bool leaves = false, comes = false;
    if (on && child >= 0) {
      const Mass rest = s.flow[leaver * s.row + l.column] - amount;
      s.flow[leaver * s.row + l.column] = rest;
      leaves = rest == 0;
      if (leaves) s.members[(leaver >> 5) * s.row + l.column] ^= 1u << (leaver & 31);
    }
    if (on && root) need += amount;
    if (on && !root) {
      const Mass before = s.flow[mover * s.row + l.column];
      s.flow[mover * s.row + l.column] = before + amount;
      comes = before == 0;
      if (comes) s.members[(mover >> 5) * s.row + l.column] ^= 1u << (mover & 31);
    }
    left |= bits(l, leaves);
    drawn |= bits(l, on) != 0;
    uint32 arrivals = bits(l, comes);
    while (any_problem(arrivals)) {
      const int k = arrivals ? lowest_bit(arrivals) : 0;
      offer_moves(l, s, k, of_sink(l, mover, k), arrivals);
      arrivals &= arrivals - 1;
    }
    __syncwarp();
  }
}

// The moves from the sinks that have lost a source anew, from the sources that still have flow.
//
// Where a problem has a warp to itself, all lanes help: lane k + group * width looks for sink k
// at the sources of every group-th word.
template <typename S> STEP void rescan_moves(const Lane& l, const S& s, uint32 left) {
  typedef typename S::Moves Moves;
  const int groups = s.alone ? 32 / s.width : 1;
  const int group = s.alone ? l.lane / s.width : 0;
  const int column = s.alone ? l.lane % s.width : l.column;
  if (s.alone) left = __shfl_sync(ALL, left, 0);
  while (any_problem(left)) {
    const int j = left ? lowest_bit(left) : 0;
    typename Moves::Move row = Moves::none();
    for (int start = 0; start < s.words; start += groups) {
      const int word = start + group;
      const bool exists = left && group < groups && word < s.words;
      uint32 present = exists ? s.members[word * s.row + l.base + j] : 0;
      while (any_problem(present)) {
        if (present) {
          const int cell = (word * 32 + lowest_bit(present)) * s.row;
          const typename S::Whole change = s.whole[cell + column] - s.whole[cell + l.base + j];
          row = Moves::better(row, change, word * 32 + lowest_bit(present));
        }
        present &= present - 1;
      }
    }
    for (int other = 1; other < groups; ++other)
      row = Moves::least(row, Moves::of_lane(row, column + other * s.width));
    if (left && column == l.column) s.moves.write(j * s.row + l.column, row);
    left &= left - 1;
  }
  __syncwarp();
}

// Move mass along shortest paths until no sink has a deficit; false if one has no path.
template <typename S>
STEP bool balance(const Lane& l, const S& s, typename S::Mass& need, typename S::Whole& price) {
  typename S::Whole label = price | l.sink;
  uint32 deficits = bits(l, need > 0);
  bool possible = true;
  while (any_problem(deficits)) {
    bool drawn;
    find_shortest_paths(l, s, deficits, need, price, label);
    const uint32 left = draw(l, s, deficits, label, need, drawn);
    rescan_moves(l, s, left);
    possible = possible && (drawn || !deficits);
    deficits = bits(l, possible && need > 0);
  }
  return possible;
}

// The part of a sink's demand that falls to a sample: every step-th source.
template <typename Mass>
STEP Mass share_of_demand(const Lane& l, const Supply<Mass>& supply, Mass demand, Mass total,
                          int step, int width) {
  Mass rest = 0;
  for (int i = l.sink * step; i < l.n; i += l.m * step) rest += l.sink < l.m ? supply(i) : 0;
  rest = sum_over_sinks(l, rest, width);
  Mass share = (Mass)((double)demand * ((double)rest / (double)total * (1.0 - 1e-12)));
  rest -= sum_over_sinks(l, share, width);
  return l.sink == 0 ? share + rest : share;
}

// The least and the most of the sinks' values.
template <typename Whole>
STEP void range_of_sinks(const Lane& l, Whole value, int width, Whole& least, Whole& most) {
  least = most = of_sink(l, value, 0);
  for (int k = 1; k < width; ++k) {
    const Whole other = of_sink(l, value, k);
    if (k < l.m) least = minimum(least, other), most = other < most ? most : other;
  }
}

// Solve ever larger samples of the sources, each from the prices of the one before.
//
// How far prices will move against each other (``reach``) is guessed from the sample before, and
// checked afterwards: too short, and settled sources stood in the way.
template <typename S>
STEP void solve(const Lane& l, const S& s, const Supply<typename S::Mass>& supply,
                typename S::Mass demand, typename S::Mass total, typename S::Whole& price) {
  typedef typename S::Whole Whole;
  typedef typename S::Mass Mass;
  const Whole infinite = Limits<Whole>::INFINITE;
  int step = 1;
  Whole reach = infinite;
  price = 0;
  while (l.m > 1 && l.n / (2 * COARSE) / step >= l.m) step *= 2;
  bool done = l.n == 0;
  while (any_problem(!done)) {
    Lane active = l;
    if (done) active.n = active.m = active.own = 0;
    Mass need = demand;
    if (any_problem(step > 1)) {
      const Mass share = share_of_demand(active, supply, demand, total, step, s.width);
      if (step > 1) need = share;
    }
    if (l.sink >= active.m) need = 0;
    const Whole before = price;
    assign(active, s, supply, step, reach, price, need);
    const bool possible = balance(active, s, need, price);
    if (!any_problem(!done && (step > 1 || reach < infinite))) return;
    Whole least, most;
    range_of_sinks(l, price - before, s.width, least, most);
    const Whole moved = possible ? most - least + LOW + 1 : infinite;
    range_of_sinks(l, price, s.width, least, most);
    if (!done && (moved < reach || reach == infinite)) {
      // A price beyond every cost difference says no more than it.
      price = minimum<Whole>(price - least, infinite >> 2);
      done = step == 1;
      step = max(step / 2, 1);
      reach = moved;
    } else if (!done) {
      price = before;
      reach = reach < infinite >> 2 ? 4 * reach : infinite;
    }
  }
}

template <typename S>
STEP void lay_out(S& s, char* memory, int rows, int width, int places) {
  const char* start = memory;
  s.row = (width * places + 1) | 1;  // odd: sources down a column are in different banks
  s.width = width;
  s.words = (rows + 31) / 32;
  s.whole = (typename S::Whole*)memory;
  memory += (int64)rows * s.row * sizeof(*s.whole);
  s.moves.take(memory, width * s.row);
  // The proof needs a table of 64 bits for each move: it takes the place of costs and moves.
  memory += max((int64)0, (int64)(width * s.row * sizeof(int64)) - (memory - start));
  memory += -(memory - start) & 7;
  s.flow = (typename S::Flow*)memory;
  memory += (int64)rows * s.row * sizeof(*s.flow);
  memory += -(memory - start) & 7;
  s.members = (uint32*)memory;
  s.below = (int*)(s.members + s.words * s.row);
}

// ------------------------------------------------------------------------ guess and prove

// The costs from single-precision points: good enough to guess with.
template <typename S>
STEP void coarse_costs(const Lane& l, const S& s, const Problem& p, int d, double bound) {
  const int blocks = (d + 3) / 4;
  const float units = (float)units_per_cost(bound, Limits<int>::COST_BITS);
  const float most = (float)(1 << Limits<int>::COST_BITS);
  const float apart = (float)label_distance(p.sources, d);
  const float4* sinks = (const float4*)p.sinks->coarse + (int64)p.at * blocks;
  const float4* sources = (const float4*)p.sources->coarse + (int64)p.first * blocks;
  const bool labelled = p.sources->labels;
  const int64 label = labelled ? p.sinks->labels[p.at] : 0;
  const int64* labels = labelled ? p.sources->labels + p.first : 0;
  const float4 near = sinks[0], far = sinks[blocks > 1 ? 1 : 0];
  for (int i = 0; i < l.n; ++i) {
    float square = 0.0f;
    for (int block = 0; block < blocks; ++block) {
      const float4 a = sources[i * blocks + block];
      const float4 b = block == 0 ? near : block == 1 ? far : sinks[block];
      const float4 apart4 = make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
      square += apart4.x * apart4.x + apart4.y * apart4.y;
      square += apart4.z * apart4.z + apart4.w * apart4.w;
    }
    float distance = __fsqrt_rn(square);
    if (labelled && labels[i] != label) distance = fmaxf(distance, apart);
    s.whole[i * s.row + l.column] = (int)fminf(distance * units, most) << LOW_BITS;
  }
}

// The flow's cost, and whether it is proven to be the least up to PROVEN of itself.
//
// With lengths p such that no move from j to k costs less than p_k - p_j - slack, no flow of the
// same loads costs less by more than slack for each unit of mass. Bellman and Ford find such
// lengths, now from all sinks, within m rounds, or there are none.
template <typename S>
STEP double prove(const Lane& l, const S& s, const Ground& ground, double units, double total,
                  int price, bool& proven) {
  __syncwarp();  // all have done with the costs
  int64* best = (int64*)s.whole;
  for (int j = 0; j < s.width; ++j) best[j * s.row + l.column] = Limits<int64>::INFINITE;
  double cost = 0.0;
  const int most = most_in_warp(l.n);
  for (int i = 0; i < most; ++i) {
    const bool exists = i < l.n;
    const double distance = exists ? ground(i) : 0.0;
    const int64 whole = whole_cost(distance, units);
    const int flow = exists && l.sink < l.m ? s.flow[i * s.row + l.column] : 0;
    cost += flow * distance;
    uint32 holders = bits(l, flow > 0);
    while (any_problem(holders)) {
      const int j = holders ? lowest_bit(holders) : 0;
      const int64 change = whole - of_sink(l, whole, j);
      if (holders && change < best[j * s.row + l.column]) best[j * s.row + l.column] = change;
      holders &= holders - 1;
    }
  }
  const double distance = sum_over_sinks(l, cost, s.width) / total;
  const int64 slack = whole_cost(distance * PROVEN, units);
  int64 length = (int64)(price >> LOW_BITS) << (Limits<int64>::COST_BITS - Limits<int>::COST_BITS);
  uint32 now = l.own >> l.base, next = 0;
  int round = 0;
  while (any_problem(now)) {
    const bool looking = now;
    const int j = looking ? lowest_bit(now) : 0;
    now &= now - 1;
    const int64 through = best[j * s.row + l.column] + of_sink(l, length, j) + slack;
    const bool shorter = looking && through < length;
    next |= bits(l, shorter) & ~now;
    if (shorter) length = through;
    if (!now && round < l.m) now = next, next = 0, ++round;
  }
  proven = !next;
  return distance;
}

template <typename S>
STEP void guess(const Side* x, const Side* y, const Tasks& tasks, const Results& results, int d,
                int width, int rows, int places, char* memory) {
  S s;
  lay_out(s, memory, rows, width, places);
  s.alone = places == 1;
  const int64 count = (int64)tasks.n_x * tasks.n_y;
  for (int64 start = (int64)blockIdx.x * places; start < count; start += (int64)gridDim.x * places) {
    Lane l;
    Problem p;
    take_problem(x, y, tasks, start, count, width, places, s.row - 1, l, p);
    const bool exists = l.m;
    int source_factor = 0, sink_factor = 0, total = 0;
    const bool possible =
        exists && small_factors(p.sources->totals[p.source_graph], p.sinks->totals[p.sink_graph],
                                sizeof(typename S::Flow) == 2 ? 16 : 31, source_factor,
                                sink_factor, total);
    if (!possible) l.n = l.m = l.own = 0;
    const double bound = possible ? cost_bound(p, d) : 0.0;
    const Supply<int> supply = {p.sources->masses + p.first, source_factor};
    const int demand = possible ? (int)p.sinks->masses[p.at] * sink_factor : 0;
    __syncwarp();
    if (possible) coarse_costs(l, s, p, d, bound);
    __syncwarp();
    int price;
    bool proven;
    solve(l, s, supply, demand, total, price);
    const double units = units_per_cost(bound, Limits<int64>::COST_BITS);
    const double distance = prove(l, s, ground_distance(p, d), units, total, price, proven);
    if (exists && l.sink == 0) {
      if (possible && proven && !(finer_bound(bound, distance, total) > 0))
        results.out[p.g * results.stride + p.r] = distance;
      else
        results.again[atomicAdd(results.n_again, 1)] = make_int2(p.g, p.r);
    }
    __syncwarp();
  }
}

// ------------------------------------------------------------------------ 64 bits throughout

template <typename S>
STEP void solve_exactly(const Side* x, const Side* y, const Tasks& tasks, const Results& results,
                        int d, int width, int rows, int places, char* memory) {
  S s;
  lay_out(s, memory, rows, width, places);
  const int64 count = *tasks.n_pairs;
  if (count <= gridDim.x) places = 1;  // few: no problem has to wait for another
  s.alone = places == 1;
  for (int64 start = (int64)blockIdx.x * places; start < count; start += (int64)gridDim.x * places) {
    Lane l;
    Problem p;
    take_problem(x, y, tasks, start, count, width, places, s.row - 1, l, p);
    int64 source_factor = 0, sink_factor = 0, total = 1, price;
    bool exact = true;
    if (l.m)
      exact = factors(p.sources->totals[p.source_graph], p.sinks->totals[p.sink_graph],
                      source_factor, sink_factor, total);
    const Supply<int64> supply = {(exact ? p.sources->masses : p.sources->rounded) + p.first,
                                  source_factor};
    const int64 demand =
        l.m ? (exact ? p.sinks->masses : p.sinks->rounded)[p.at] * sink_factor : 0;
    const Ground ground = ground_distance(p, d);
    double bound = l.m ? cost_bound(p, d) : 0.0;
    double distance = 0.0;
    __syncwarp();
    while (any_problem(bound > 0)) {
      Lane active = l;
      if (!(bound > 0)) active.n = active.m = active.own = 0;
      const double units = units_per_cost(bound, Limits<int64>::COST_BITS);
      for (int i = 0; i < active.n; ++i)
        s.whole[i * s.row + l.column] = whole_cost(ground(i), units) << LOW_BITS;
      __syncwarp();
      solve(active, s, supply, demand, total, price);
      double cost = 0.0;
      for (int i = 0; i < active.n; ++i) {
        const int64 flow = l.sink < active.m ? s.flow[i * s.row + l.column] : 0;
        if (flow) cost += flow * ground(i);
      }
      __syncwarp();
      cost = sum_over_sinks(l, cost, width) / total;
      if (bound > 0) {
        distance = cost;
        bound = finer_bound(bound, distance, total);
      }
    }
    if (l.m && l.sink == 0) results.out[p.g * results.stride + p.r] = distance;
    __syncwarp();
  }
}

extern __shared__ __align__(16) char shared[];

// `warps` is how many a multiprocessor should have room for.
#define KERNEL(name, warps, step, memory, ...)                                                   \
  extern "C" __global__ void __launch_bounds__(32, warps)                                        \
      name(const Side* x, const Side* y, const int* x_graphs, int n_x, const int* y_graphs,      \
           int n_y, int d, int width, int rows, int places, char* scratch, int64 scratch_bytes,  \
           double* out, int64 stride, int2* again, int* n_again) {                                            \
    const Tasks tasks = {x_graphs, y_graphs, (uint32)n_x, (uint32)n_y, x_graphs ? 0 : again,     \
                         n_again};                                                               \
    const Results results = {out, stride, again, n_again};                                       \
    step<State<__VA_ARGS__>>(x, y, tasks, results, d, width, rows, places, memory);              \
  }

#define SCRATCH (scratch + blockIdx.x * scratch_bytes)

KERNEL(guess_short_in_shared_memory, 24, guess, shared, PackedMoves, uint16)
KERNEL(guess_in_shared_memory, 24, guess, shared, PackedMoves, int)
KERNEL(guess_in_scratch_memory, 16, guess, SCRATCH, SeparateMoves<int>, int)
KERNEL(solve_exactly_in_shared_memory, 16, solve_exactly, shared, SeparateMoves<int64>, int64)
KERNEL(solve_exactly_in_scratch_memory, 16, solve_exactly, SCRATCH, SeparateMoves<int64>, int64)

// ------------------------------------------------------------------------ more than 32 sinks

// One problem's tables, in scratch memory. Lane k % 32 owns what belongs to sink k.
struct Many {
  int64* whole;     // (n, stride) C_ik as whole units
  int64* flow;      // (n, stride) F_ik
  int64* best;      // (stride, stride) cheapest move of a unit from sink j to sink k
  int64* need;      // (stride,) demand less flow: positive is a deficit, negative an excess
  int64* price;     // (stride,) p_k
  int64* length;    // (stride,) shortest path from an excess sink, less the difference of prices
  int* mover;       // (stride, stride) the source that makes the move
  int* parent;      // (stride,) the sink before on it; an excess sink is its own
  int* mark;        // (stride,) CLOSED once that length is final; LOST once a source has left
  uint32* members;  // (n / 32, stride) bit i: whether source i has flow at sink k
  int64 stride;
  int n, m, words;
};

const int CLOSED = 1;
const int LOST = 2;

STEP void lay_out_many(Many& s, char* memory, int rows, int sinks) {
  s.stride = (sinks + 31) / 32 * 32;
  s.whole = (int64*)memory;
  s.flow = s.whole + rows * s.stride;
  s.best = s.flow + rows * s.stride;
  s.need = s.best + s.stride * s.stride;
  s.price = s.need + s.stride;
  s.length = s.price + s.stride;
  s.mover = (int*)(s.length + s.stride);
  s.parent = s.mover + s.stride * s.stride;
  s.mark = s.parent + s.stride;
  s.members = (uint32*)(s.mark + s.stride);
}

// The least of all lanes' values, and where it is; of equal ones the first.
STEP void least_in_warp(int64& value, int& where) {
  for (int apart = 16; apart; apart >>= 1) {
    const int64 other = __shfl_xor_sync(ALL, value, apart);
    const int there = __shfl_xor_sync(ALL, where, apart);
    if (other < value || (other == value && there < where)) value = other, where = there;
  }
}

STEP void offer_moves(const Many& s, int lane, int k, int i) {
  const int64 here = s.whole[i * s.stride + k];
  for (int64 to = lane; to < s.m; to += 32) {
    const int64 change = s.whole[i * s.stride + to] - here;
    if (change < s.best[k * s.stride + to]) {
      s.best[k * s.stride + to] = change;
      s.mover[k * s.stride + to] = i;
    }
  }
}

STEP void assign(const Many& s, int lane, const Supply<int64>& supply) {
  for (int64 cell = lane; cell < s.m * s.stride; cell += 32) s.best[cell] = Limits<int64>::INFINITE;
  for (int64 cell = lane; cell < s.words * s.stride; cell += 32) s.members[cell] = 0;
  for (int k = lane; k < s.m; k += 32) s.price[k] = 0;
  __syncwarp();
  for (int i = 0; i < s.n; ++i) {
    int64 least = Limits<int64>::INFINITE;
    int home = s.m;
    for (int k = lane; k < s.m; k += 32) {
      s.flow[i * s.stride + k] = 0;
      if (s.whole[i * s.stride + k] < least) least = s.whole[i * s.stride + k], home = k;
    }
    least_in_warp(least, home);
    if (home % 32 == lane) {
      s.flow[i * s.stride + home] = supply(i);
      s.need[home] -= supply(i);
      s.members[(i >> 5) * s.stride + home] |= 1u << (i & 31);
    }
    offer_moves(s, lane, home, i);
  }
  __syncwarp();
}

// Dijkstra from all excess sinks until every deficit sink is reached; prices rise with it.
STEP void find_shortest_paths(const Many& s, int lane, int deficits) {
  for (int k = lane; k < s.m; k += 32) {
    s.length[k] = s.need[k] < 0 ? 0 : Limits<int64>::INFINITE;
    s.parent[k] = k;
    s.mark[k] = 0;
  }
  int64 length;
  while (true) {
    int j = s.m;
    length = Limits<int64>::INFINITE;
    for (int k = lane; k < s.m; k += 32)
      if (!s.mark[k] && s.length[k] < length) length = s.length[k], j = k;
    least_in_warp(length, j);
    __syncwarp();
    if (s.need[j] > 0 && --deficits == 0) break;
    const int64 here = length + s.price[j];
    for (int k = lane; k < s.m; k += 32) {
      const int64 through = s.best[j * s.stride + k] + (here - s.price[k]);
      if (through < s.length[k]) s.length[k] = through, s.parent[k] = j;
      if (k == j) s.mark[k] = CLOSED;
    }
    __syncwarp();
  }
  for (int k = lane; k < s.m; k += 32) {
    s.price[k] += minimum(s.length[k], length);
    s.mark[k] = 0;
  }
  __syncwarp();
}

// Move what the path to a deficit sink can carry.
STEP void draw(const Many& s, int lane, int sink) {
  int64 amount = s.need[sink];
  int k = sink;
  for (int parent = s.parent[k]; parent != k; k = parent, parent = s.parent[k])
    amount = minimum(amount, s.flow[s.mover[parent * s.stride + k] * s.stride + parent]);
  amount = minimum(amount, -s.need[k]);
  __syncwarp();
  if (amount <= 0) return;
  if (k % 32 == lane) s.need[k] += amount;
  if (sink % 32 == lane) s.need[sink] -= amount;
  k = sink;
  for (int parent = s.parent[k]; parent != k; k = parent, parent = s.parent[k]) {
    const int i = s.mover[parent * s.stride + k];
    const int64 from = i * s.stride + parent, to = i * s.stride + k;
    const int64 before = s.flow[from], there = s.flow[to];
    __syncwarp();
    if (parent % 32 == lane) {
      s.flow[from] = before - amount;
      if (before == amount) {
        s.members[(i >> 5) * s.stride + parent] ^= 1u << (i & 31);
        s.mark[parent] = LOST;
      }
    }
    if (k % 32 == lane) {
      s.flow[to] = there + amount;
      if (there == 0) s.members[(i >> 5) * s.stride + k] ^= 1u << (i & 31);
    }
    if (there == 0) offer_moves(s, lane, k, i);
    __syncwarp();
  }
}

// The moves from sink j anew, from the sources that still have flow there.
STEP void rescan_moves(const Many& s, int lane, int j) {
  for (int k = lane; k < s.m; k += 32) s.best[j * s.stride + k] = Limits<int64>::INFINITE;
  for (int word = 0; word < s.words; ++word)
    for (uint32 present = s.members[word * s.stride + j]; present; present &= present - 1)
      offer_moves(s, lane, j, word * 32 + lowest_bit(present));
  __syncwarp();
}

STEP void balance(const Many& s, int lane) {
  while (true) {
    int deficits = 0;
    for (int k = 0; k < s.m; k += 32)
      deficits += __popc(__ballot_sync(ALL, k + lane < s.m && s.need[k + lane] > 0));
    if (!deficits) return;
    find_shortest_paths(s, lane, deficits);
    for (int k = 0; k < s.m; ++k)
      if (s.need[k] > 0) draw(s, lane, k);
    for (int k = 0; k < s.m; ++k)
      if (s.mark[k] == LOST) rescan_moves(s, lane, k);
  }
}

extern "C" __global__ void __launch_bounds__(32)
    solve_many_sinks_in_scratch_memory(const Side* x, const Side* y, const int* x_graphs, int n_x,
                                       const int* y_graphs, int n_y, int d, int sinks, int rows,
                                       int, char* scratch, int64 scratch_bytes, double* out,
                                       int64 stride, int2*, int*) {
  Many s;
  lay_out_many(s, scratch + blockIdx.x * scratch_bytes, rows, sinks);
  const Tasks tasks = {x_graphs, y_graphs, (uint32)n_x, (uint32)n_y, 0, 0};
  const int64 count = (int64)n_x * n_y;
  for (int64 number = blockIdx.x; number < count; number += gridDim.x) {
    Lane l;
    Problem p;
    take_problem(x, y, tasks, number, count, 32, 1, 32, l, p);
    s.n = l.n, s.m = l.m, s.words = (l.n + 31) / 32;
    int64 source_factor, sink_factor, total;
    const bool exact = factors(p.sources->totals[p.source_graph], p.sinks->totals[p.sink_graph],
                               source_factor, sink_factor, total);
    const Supply<int64> supply = {(exact ? p.sources->masses : p.sources->rounded) + p.first,
                                  source_factor};
    const int first_sink = p.sinks->offsets[p.sink_graph];
    double bound = cost_bound(p, d), distance = 0.0;
    while (bound > 0) {
      const double units = units_per_cost(bound, Limits<int64>::COST_BITS);
      for (int k = l.lane; k < s.m; k += 32) {
        p.at = first_sink + k;
        s.need[k] = (exact ? p.sinks->masses : p.sinks->rounded)[p.at] * sink_factor;
        const Ground ground = ground_distance(p, d);
        for (int i = 0; i < s.n; ++i) s.whole[i * s.stride + k] = whole_cost(ground(i), units);
      }
      __syncwarp();
      assign(s, l.lane, supply);
      balance(s, l.lane);
      double cost = 0.0;
      for (int k = l.lane; k < s.m; k += 32) {
        p.at = first_sink + k;
        const Ground ground = ground_distance(p, d);
        for (int i = 0; i < s.n; ++i)
          if (s.flow[i * s.stride + k]) cost += s.flow[i * s.stride + k] * ground(i);
      }
      for (int apart = 16; apart; apart >>= 1) cost += __shfl_xor_sync(ALL, cost, apart);
      distance = cost / total;
      bound = finer_bound(bound, distance, total);
    }
    if (l.lane == 0) out[p.g * stride + p.r] = distance;
    __syncwarp();
  }
}

// ------------------------------------------------------------------------ what a side needs

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
