// One transport problem in integers: its two sides, its lanes, its masses, its costs.

const uint32 ALL = 0xffffffffu;

// In a path's low bits: the sink before on the path, and above it the number of arcs.
const int PARENT = 31;
const int ARC = 32;
const int LOW_BITS = 10;
const int LOW = (1 << LOW_BITS) - 1;

// A sample of half the sources is solved first while it has this many times as many as sinks.
const int COARSE = 16;

// The relative error that integer costs may bring into a distance.
const double ACCURACY = 1e-10;
// The relative error up to which a guess counts as proven.
const double PROVEN = 1e-11;
// As in `side.py`.
const int64 MAX_COMMON_TOTAL = 1ll << 62;
const int64 ROUNDED_TOTAL = 1ll << 53;

template <typename Cost> struct Limits;
template <> struct Limits<int> {
  static const int COST_BITS = 18;
  static const int INFINITE = 1 << 30;
};
template <> struct Limits<int64> {
  static const int COST_BITS = 48;
  static const int64 INFINITE = 1ll << 62;
};

// What all problems of one collection share; `side.py` beside this file makes it.
struct Side {
  const double* points;   // (nodes, d)
  const float* coarse;    // (nodes, d rounded up to a multiple of 4): the points for a guess
  const int64* masses;    // (nodes,) positive integers
  const int64* rounded;   // (nodes,) the same, rounded to a total of ROUNDED_TOTAL
  const int* offsets;     // (graphs + 1,)
  const int64* labels;    // (nodes, k)
  const double* low;      // (graphs, d) the smallest coordinates of a graph
  const double* high;     // (graphs, d) the largest
  const int64* totals;    // (graphs,) the mass of a graph
};

// All pairs of consecutive graphs of two lists, numbered from `first` on among a launch's problems.
struct Rectangle {
  int first;
  int x, n_x;  // the first graph in the list of x, and how many
  int y, n_y;
};

// Which problems a launch solves: those of its rectangles, or, if there are none, the graphs at equal
// places of both lists. Problems have numbers; with `chosen`, only those of a list are solved.
struct Tasks {
  const int* x_graphs;
  const int* y_graphs;
  const Rectangle* rectangles;
  int n_rectangles;
  int n_problems;
  const int* chosen;
  const int* n_chosen;
};

STEP int number_of_tasks(const Tasks& tasks) {
  return tasks.chosen ? *tasks.n_chosen : tasks.n_problems;
}

// The rectangle of a problem: the last that does not begin after it.
STEP Rectangle rectangle_of(const Tasks& tasks, int number) {
  int here = 0, beyond = tasks.n_rectangles;
  while (beyond - here > 1) {
    const int middle = (here + beyond) / 2;
    (tasks.rectangles[middle].first <= number ? here : beyond) = middle;
  }
  return tasks.rectangles[here];
}

// Where a launch leaves its results.
struct Results {
  double* out;   // (graphs of x, graphs of y), or for each of the pairs
  int64 stride;
  int* again;    // numbers of the problems without a result
  int* n_again;
};

// One warp's memory, and what it must hold.
struct Tables {
  int width;   // lanes of a problem; sinks of the largest where those are not lanes
  int rows;    // sources of the largest problem
  int places;  // problems side by side
  char* memory;
  char* costs; // of the simplex method, if not in the same memory
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
  int number;    // among the launch's; none: -1
  int g, r;
  const Side* sources;
  const Side* sinks;
  int source_graph, sink_graph;
  int first;     // the first source among the nodes of its side
  int at;        // the lane's sink among the nodes of its side
  int n_sources, n_sinks;  // without a further node
  int n_costly;  // the sources that it costs to reach the lane's sink: the first ones
  int64 surplus; // what the further sink takes; negative: what the further source has
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

// Let the lane look at a sink of its problem. A further one is free to reach, and at no place.
STEP void look_at_sink(Problem& p, int sink) {
  const bool further = PARTIAL && sink >= p.n_sinks;
  p.at = p.sinks->offsets[p.sink_graph] + (further ? 0 : sink);
  p.n_costly = further ? 0 : p.n_sources;
}

STEP int most_in_warp(int value) {
  for (int apart = 16; apart; apart >>= 1) value = max(value, __shfl_xor_sync(ALL, value, apart));
  return value;
}

// Give each lane its problem among those from number `start` on.
STEP void take_problem(const Side* x, const Side* y, const Tasks& tasks, int64 start, int64 count,
                       int width, int places, int spare, Lane& l, Problem& p) {
  const int lane = threadIdx.x & 31;
  const int place = lane / width;
  const int64 number = start + place;
  const bool used = place < places;
  l = Lane{lane, used ? place * width : 0, used ? lane % width : 0, used ? lane : spare, 0, 0, 0};
  p = Problem{-1, -1, -1, x, y, 0, 0, 0, 0, 0, 0, 0, 0};
  if (place >= places || number >= count) return;
  p.number = tasks.chosen ? tasks.chosen[number] : (int)number;
  int at_x = p.number, at_y = p.number;
  if (tasks.n_rectangles) {
    const Rectangle all = rectangle_of(tasks, p.number);
    const uint32 local = p.number - all.first;
    at_x = all.x + local % all.n_x, at_y = all.y + local / all.n_x;
  }
  p.g = tasks.x_graphs[at_x], p.r = tasks.y_graphs[at_y];
  const int n_x = x->offsets[p.g + 1] - x->offsets[p.g];
  const int n_y = y->offsets[p.r + 1] - y->offsets[p.r];
  const bool swapped = n_x < n_y;
  p.sources = swapped ? y : x, p.source_graph = swapped ? p.r : p.g;
  p.sinks = swapped ? x : y, p.sink_graph = swapped ? p.g : p.r;
  p.first = p.sources->offsets[p.source_graph];
  l.n = p.n_sources = max(n_x, n_y), l.m = p.n_sinks = min(n_x, n_y);
  if (PARTIAL) {
    p.surplus = p.sources->totals[p.source_graph] - p.sinks->totals[p.sink_graph];
    l.n += p.surplus < 0, l.m += p.surplus > 0;
  }
  l.own = (l.m < 32 ? (1u << l.m) - 1 : ALL) << l.base;
  look_at_sink(p, min(l.sink, l.m - 1));
}

// Leave a problem's distance, or its number among those to solve again.
STEP void leave_result(const Problem& p, const Tasks& tasks, const Results& results, bool solved,
                double distance) {
  if (!solved)
    results.again[atomicAdd(results.n_again, 1)] = p.number;
  else
    results.out[tasks.n_rectangles ? p.g * results.stride + p.r : p.number] = distance;
}

// ------------------------------------------------------------------------ costs and masses

// A power of two that brings every cost up to the bound below 2**COST_BITS.
STEP double units_per_cost(double bound, int cost_bits) {
  int exponent;
  frexp(bound * 1.000001, &exponent);
  return ldexp(1.0, min(max(cost_bits - exponent, -900), 900));
}

// A smaller bound on costs to solve again with, or 0 when the distance is accurate.
STEP double finer_bound(double bound, double distance, double total) {
  const double dearest = distance * total;
  const bool accurate = bound * (1.0 / (1ll << 47)) <= ACCURACY * distance;
  return accurate || dearest * 2 >= bound ? 0.0 : dearest;
}

STEP double cost_bound(const GroundDistance& ground, const Problem& p) {
  const int64 sources = (int64)p.source_graph * ground.d, sinks = (int64)p.sink_graph * ground.d;
  return cost_bound(ground, p.sources->low + sources, p.sources->high + sources,
                    p.sinks->low + sinks, p.sinks->high + sinks);
}

STEP Labels labels_of(const GroundDistance& ground, const Problem& p) {
  return labels_of(ground, p.sources->labels + (int64)p.first * ground.k,
                   p.sinks->labels + (int64)p.at * ground.k);
}

// The ground distances of the sources to the lane's sink.
STEP Distances distances_of(const GroundDistance& ground, const Problem& p) {
  return Distances{rule_of<double>(ground), labels_of(ground, p),
                   p.sources->points + (int64)p.first * ground.d,
                   p.sinks->points + (int64)p.at * ground.d, ground.d, p.n_costly};
}

STEP CoarseDistances coarse_distances_of(const GroundDistance& ground, const Problem& p) {
  const int blocks = (ground.d + 3) / 4;
  const float4* sink = (const float4*)p.sinks->coarse + (int64)p.at * blocks;
  return CoarseDistances{rule_of<float>(ground), labels_of(ground, p),
                         (const float4*)p.sources->coarse + (int64)p.first * blocks, sink,
                         sink[0], sink[blocks > 1 ? 1 : 0], blocks, p.n_costly};
}

STEP int64 integer_cost(double distance, double units) {
  return (int64)fmin(distance * units, (double)(1ll << 48));
}

// The mass that is matched, of all mass: a further node matches none.
template <typename Mass> STEP Mass matched_mass(const Problem& p, Mass total) {
  return PARTIAL ? (Mass)(total - (p.surplus < 0 ? -p.surplus : p.surplus)) : total;
}

// The demand of the lane's sink.
template <typename Mass>
STEP Mass demand_of(const Problem& p, const int64* masses, Mass factor) {
  if (PARTIAL && !p.n_costly) return (Mass)p.surplus;
  return (Mass)masses[p.at] * factor;
}

// The factors that bring both sides to a common total; false where it does not fit the bits.
STEP bool small_factors(int64 here, int64 there, int mass_bits, int& source_factor,
                        int& sink_factor, int& total) {
  if ((here | there) >> 31) return false;
  if (PARTIAL) {
    source_factor = sink_factor = 1, total = (int)max(here, there);
    return !(max(here, there) >> mass_bits);
  }
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

// The same for totals up to MAX_COMMON_TOTAL; beyond that the rounded masses are used.
STEP bool factors(int64 here, int64 there, int64& source_factor, int64& sink_factor, int64& total) {
  if (PARTIAL) {
    source_factor = sink_factor = 1, total = max(here, there);
    return true;
  }
  int64 divisor = here, rest = there;
  while (rest) {
    const int64 next = divisor % rest;
    divisor = rest, rest = next;
  }
  const bool exact = there / divisor <= MAX_COMMON_TOTAL / here;
  source_factor = exact ? there / divisor : 1, sink_factor = exact ? here / divisor : 1;
  total = exact ? here * source_factor : ROUNDED_TOTAL;
  return exact;
}
