// The solver for at most 32 sinks: successive shortest paths, every lane a sink.

// The residual graph on the sinks: row j, column k is the cheapest way to take a unit of flow from
// sink j to sink k, and the source that moves. Here both are in one number: a cost has LOW_BITS low
// bits that are zero, and there are at most 2**LOW_BITS sources.
struct PackedArcs {
  typedef int Cost;
  typedef int Arc;
  int* best;

  __device__ __forceinline__ void take(char*& memory, int cells) {
    best = (int*)memory, memory += cells * sizeof(int);
  }
  static __device__ __forceinline__ Arc none() { return Limits<int>::INFINITE; }
  static __device__ __forceinline__ Arc least(Arc a, Arc b) { return min(a, b); }
  static __device__ __forceinline__ Arc better(Arc old, int cost, int i) {
    return min(old, cost | i);
  }
  static __device__ __forceinline__ Arc of_lane(Arc arc, int lane) {
    return __shfl_sync(ALL, arc, lane);
  }
  __device__ __forceinline__ Arc read(int cell) const { return best[cell]; }
  __device__ __forceinline__ void write(int cell, Arc arc) const { best[cell] = arc; }
  __device__ __forceinline__ int cost(int cell) const { return best[cell] & ~LOW; }
  __device__ __forceinline__ int source(int cell) const { return best[cell] & LOW; }
};

// The same for any number of sources, in two tables. Of equally cheap arcs both keep that of the
// first source: results do not depend on where the tables are.
template <typename Cost_> struct SeparateArcs {
  typedef Cost_ Cost;
  struct Arc {
    Cost cost;
    int source;
  };
  Cost* best;
  int* who;

  __device__ __forceinline__ void take(char*& memory, int cells) {
    best = (Cost*)memory, memory += cells * sizeof(Cost);
    who = (int*)memory, memory += cells * sizeof(int);
  }
  static __device__ __forceinline__ Arc none() { return Arc{Limits<Cost>::INFINITE, 0}; }
  static __device__ __forceinline__ Arc least(Arc a, Arc b) {
    return b.cost < a.cost || (b.cost == a.cost && b.source < a.source) ? b : a;
  }
  static __device__ __forceinline__ Arc better(Arc old, Cost cost, int i) {
    return least(old, Arc{cost, i});
  }
  static __device__ __forceinline__ Arc of_lane(Arc arc, int lane) {
    return Arc{__shfl_sync(ALL, arc.cost, lane), __shfl_sync(ALL, arc.source, lane)};
  }
  __device__ __forceinline__ Arc read(int cell) const { return Arc{best[cell], who[cell]}; }
  __device__ __forceinline__ void write(int cell, Arc arc) const {
    best[cell] = arc.cost, who[cell] = arc.source;
  }
  __device__ __forceinline__ Cost cost(int cell) const { return best[cell]; }
  __device__ __forceinline__ int source(int cell) const { return who[cell]; }
};

// One warp's tables. Each lane that has a sink owns a column.
template <typename Arcs_, typename Flow_> struct State {
  typedef Arcs_ Arcs;
  typedef typename Arcs::Cost Cost;
  typedef Flow_ Flow;       // as it is in memory
  typedef decltype(Flow_() + 0) Mass;  // as it is in registers
  Cost* cost;       // (n, row) C_ik as integers
  Arcs arcs;        // (m, row)
  Flow* flow;       // (n, row) F_ik
  uint32* members;  // (n / 32, row) bit i: whether source i, not settled, has flow at sink k
  int* below;       // (row,) the next sink on a path that is augmented
  int width;        // lanes of a problem
  int words;        // rows of members
  int row;          // columns: one for each lane that has a sink, and spare ones
  bool alone;       // whether a warp has one problem only
};

// The masses of the sources: supply of source i is masses[i] * factor; of a further one, the rest.
template <typename Mass> struct Supply {
  const int64* masses;
  Mass factor;
  int n_sources;
  Mass further;
  __device__ __forceinline__ Mass operator()(int i) const {
    return PARTIAL && i >= n_sources ? further : (Mass)masses[i] * factor;
  }
};

template <typename Mass>
STEP Supply<Mass> supply_of(const Problem& p, const int64* masses, Mass factor) {
  return Supply<Mass>{masses + p.first, factor, p.n_sources, (Mass)-p.surplus};
}

// Let source i, which now has flow at sink k, improve the arcs out of it.
template <typename S> STEP void improve_arcs(const Lane& l, const S& s, int k, int i, bool active) {
  if (!active) return;
  const int cell = k * s.row + l.column;
  const typename S::Cost change = s.cost[i * s.row + l.column] - s.cost[i * s.row + l.base + k];
  s.arcs.write(cell, S::Arcs::better(s.arcs.read(cell), change, i));
}

// Send every source of the sample (every step-th) to its cheapest sink at the present prices.
//
// A source whose second cheapest sink is dearer by at least `reach` is settled.
template <typename S>
STEP void assign(const Lane& l, const S& s, const Supply<typename S::Mass>& supply, int step,
                 typename S::Cost reach, typename S::Cost price, typename S::Mass& deficit) {
  typedef typename S::Cost Cost;
  typedef typename S::Mass Mass;
  for (int j = 0; j < s.width; ++j) s.arcs.write(j * s.row + l.column, S::Arcs::none());
  for (int w = 0; w < s.words; ++w) s.members[w * s.row + l.column] = 0;
  const int sample = l.n ? (l.n + step - 1) / step : 0;
  const int most = most_in_warp(sample);
  for (int start = 0; start < most; start += s.width) {
    // Each lane finds the cheapest sink of one source; then all lanes process source after source.
    const int mine = (start + l.sink) * step;
    const bool exists = start + l.sink < sample;
    Cost least = Limits<Cost>::INFINITE, second = Limits<Cost>::INFINITE;
    int cheapest = 0;
    for (int k = 0; k < s.width; ++k) {
      const Cost price_k = of_sink(l, price, k);
      if (!exists || k >= l.m) continue;
      const Cost reduced = s.cost[mine * s.row + l.base + k] - price_k;
      second = reduced < least ? least : minimum(second, reduced);
      if (reduced < least) least = reduced, cheapest = k;
    }
    const Mass my_supply = exists ? supply(mine) : 0;
    const int settled = reach < Limits<Cost>::INFINITE && second - least >= reach ? 32 : 0;
    for (int t = 0; t < s.width && start + t < most; ++t) {
      const int i = (start + t) * step;
      const int home = of_sink(l, cheapest + settled, t);
      const Mass amount = of_sink(l, my_supply, t);
      const bool active = start + t < sample;
      const bool here = active && (home & 31) == l.sink;
      if (active) s.flow[i * s.row + l.column] = here ? amount : 0;
      if (here) deficit -= amount;
      if (here && home < 32) s.members[(i >> 5) * s.row + l.column] |= 1u << (i & 31);
      improve_arcs(l, s, home, i, active && home < 32);
    }
  }
  __syncwarp();
}

// Whether a lane's sink can no longer keep its path: some arc of it no longer has a reduced cost of
// zero, or the sink where it begins has no excess left.
template <typename S>
STEP bool has_lost_its_path(const Lane& l, const S& s, typename S::Mass deficit,
                            typename S::Cost price, typename S::Cost path) {
  typedef typename S::Cost Cost;
  int above = (int)path & PARENT;
  const Cost length = of_sink(l, price, above) + s.arcs.cost(above * s.row + l.column);
  int lost = path >= Limits<Cost>::INFINITE || (above == l.sink ? deficit >= 0 : length != price);
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
// are removed from it: two at a time, to hide the latency of memory.
template <typename S>
STEP typename S::Cost length_through(const Lane& l, const S& s, typename S::Cost path,
                                      uint32& now) {
  typedef typename S::Cost Cost;
  const int j = now ? lowest_bit(now) : 0;
  now &= now - 1;
  const int k = now ? lowest_bit(now) : j;
  now &= now - 1;
  const Cost to_j = (of_sink(l, path, j) & ~(Cost)PARENT) + (ARC + j);
  const Cost to_k = (of_sink(l, path, k) & ~(Cost)PARENT) + (ARC + k);
  return minimum(s.arcs.cost(j * s.row + l.column) + to_j, s.arcs.cost(k * s.row + l.column) + to_k);
}

// Find the shortest paths from the excess sinks; their lengths become prices.
//
// Paths of the previous phase that still stand are still shortest, for lengths never decrease. The
// others are found by Bellman-Ford: `now` are the sinks to relax in this round, `next` those that
// have become nearer since they were.
template <typename S>
STEP void find_shortest_paths(const Lane& l, const S& s, bool active, typename S::Mass deficit,
                              typename S::Cost& price, typename S::Cost& path) {
  typedef typename S::Cost Cost;
  const bool lost = has_lost_its_path(l, s, deficit, price, path);
  if (active && lost) path = Limits<Cost>::INFINITE;
  const Cost before = path;
  uint32 now = bits(l, active && !lost), next = 0;
  while (any_problem(now)) {
    const bool looking = now;
    const Cost length = length_through(l, s, before, now);
    if (looking && length < path) path = length;
  }
  now = bits(l, path < before);
  while (any_problem(now)) {
    const bool looking = now;
    const Cost length = length_through(l, s, path, now);
    const bool shorter = looking && length < path;
    next |= bits(l, shorter) & ~now;
    if (shorter) path = length;
    if (!now) now = next, next = 0;
  }
  if (active) price = path & ~(Cost)LOW;
}

// Augment along the paths to the deficit sinks, on all trees of paths at once, until they carry no
// more. Return the sinks that lost a source; `augmented` says whether any mass has moved.
template <typename S>
STEP uint32 augment(const Lane& l, const S& s, bool active, typename S::Cost path,
                 typename S::Mass& deficit, bool& augmented) {
  typedef typename S::Mass Mass;
  const bool reached = active && l.sink < l.m && path < Limits<typename S::Cost>::INFINITE;
  const int parent = reached ? (int)path & PARENT : l.sink;
  const bool root = parent == l.sink;
  const int mover = reached && !root ? s.arcs.source(parent * s.row + l.column) : 0;
  uint32 left = 0;
  augmented = false;
  __syncwarp();
  while (true) {
    // What the path to each sink can carry, by pointer jumping.
    Mass carry = !reached ? 0 : root ? -deficit : (Mass)s.flow[mover * s.row + l.base + parent];
    int above = parent;
    bool more;
    do {
      const Mass other = of_sink(l, carry, above);
      const int next = of_sink(l, above, above);
      carry = minimum(carry, other);
      more = next != above;
      above = next;
    } while (any_problem(more));
    const bool able = deficit > 0 && carry > 0 && l.sink < l.m;
    if (!any_problem(able)) return left;
    // The first able sink of each tree augments. Its path learns from its end up what moves.
    const uint32 peers = __match_any_sync(ALL, able ? l.base + above : 32 + l.lane);
    bool on = able && lowest_bit(peers) == l.lane;
    Mass amount = on ? minimum(deficit, carry) : 0;
    if (on) deficit -= amount;
    int child = -1;
    s.below[l.column] = -1;
    __syncwarp();
    bool notifies = on && !root;
    while (any_problem(notifies)) {
      if (notifies) s.below[l.base + parent] = l.sink;
      __syncwarp();
      const bool notified = !on && s.below[l.column] >= 0;
      if (notified) child = s.below[l.column];
      const Mass from_child = of_sink(l, amount, child < 0 ? 0 : child);
      if (notified) amount = from_child;
      on = on || notified;
      notifies = notified && !root;
    }
    const int leaver = of_sink(l, mover, child < 0 ? 0 : child);
    bool leaves = false, comes = false;
    if (on && child >= 0) {
      const Mass rest = s.flow[leaver * s.row + l.column] - amount;
      s.flow[leaver * s.row + l.column] = rest;
      leaves = rest == 0;
      if (leaves) s.members[(leaver >> 5) * s.row + l.column] ^= 1u << (leaver & 31);
    }
    if (on && root) deficit += amount;
    if (on && !root) {
      const Mass before = s.flow[mover * s.row + l.column];
      s.flow[mover * s.row + l.column] = before + amount;
      comes = before == 0;
      if (comes) s.members[(mover >> 5) * s.row + l.column] ^= 1u << (mover & 31);
    }
    left |= bits(l, leaves);
    augmented |= bits(l, on) != 0;
    uint32 arrivals = bits(l, comes);
    while (any_problem(arrivals)) {
      const int k = arrivals ? lowest_bit(arrivals) : 0;
      improve_arcs(l, s, k, of_sink(l, mover, k), arrivals);
      arrivals &= arrivals - 1;
    }
    __syncwarp();
  }
}

// Compute the arcs out of the sinks that have lost a source again, from the sources that still have
// flow there.
//
// Where a problem has a warp to itself, all lanes help: lane k + group * width looks for sink k
// at the sources of every group-th word.
template <typename S> STEP void rebuild_arcs(const Lane& l, const S& s, uint32 left) {
  typedef typename S::Arcs Arcs;
  const int groups = s.alone ? 32 / s.width : 1;
  const int group = s.alone ? l.lane / s.width : 0;
  const int column = s.alone ? l.lane % s.width : l.column;
  if (s.alone) left = __shfl_sync(ALL, left, 0);
  while (any_problem(left)) {
    const int j = left ? lowest_bit(left) : 0;
    typename Arcs::Arc row = Arcs::none();
    for (int start = 0; start < s.words; start += groups) {
      const int word = start + group;
      const bool exists = left && group < groups && word < s.words;
      uint32 present = exists ? s.members[word * s.row + l.base + j] : 0;
      while (any_problem(present)) {
        if (present) {
          const int cell = (word * 32 + lowest_bit(present)) * s.row;
          const typename S::Cost change = s.cost[cell + column] - s.cost[cell + l.base + j];
          row = Arcs::better(row, change, word * 32 + lowest_bit(present));
        }
        present &= present - 1;
      }
    }
    for (int other = 1; other < groups; ++other)
      row = Arcs::least(row, Arcs::of_lane(row, column + other * s.width));
    if (left && column == l.column) s.arcs.write(j * s.row + l.column, row);
    left &= left - 1;
  }
  __syncwarp();
}

// Augment along shortest paths until no sink has a deficit; false if one has no path.
template <typename S>
STEP bool balance(const Lane& l, const S& s, typename S::Mass& deficit, typename S::Cost& price) {
  typename S::Cost path = price | l.sink;
  uint32 deficits = bits(l, deficit > 0);
  bool possible = true;
  while (any_problem(deficits)) {
    bool augmented;
    find_shortest_paths(l, s, deficits, deficit, price, path);
    const uint32 left = augment(l, s, deficits, path, deficit, augmented);
    rebuild_arcs(l, s, left);
    possible = possible && (augmented || !deficits);
    deficits = bits(l, possible && deficit > 0);
  }
  return possible;
}

// The part of a sink's demand that a sample, every step-th source, can meet.
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
template <typename Cost>
STEP void range_of_sinks(const Lane& l, Cost value, int width, Cost& least, Cost& most) {
  least = most = of_sink(l, value, 0);
  for (int k = 1; k < width; ++k) {
    const Cost other = of_sink(l, value, k);
    if (k < l.m) least = minimum(least, other), most = other < most ? most : other;
  }
}

// Solve ever larger samples of the sources, each from the prices of the one before.
//
// How far prices will move relative to each other (`reach`) is guessed from the sample before, and
// checked afterwards: if it was too short, settled sources were in the way.
template <typename S>
STEP void solve(const Lane& l, const S& s, const Supply<typename S::Mass>& supply,
                typename S::Mass demand, typename S::Mass total, typename S::Cost& price) {
  typedef typename S::Cost Cost;
  typedef typename S::Mass Mass;
  const Cost infinite = Limits<Cost>::INFINITE;
  int step = 1;
  Cost reach = infinite;
  price = 0;
  while (l.m > 1 && l.n / (2 * COARSE) / step >= l.m) step *= 2;
  bool done = l.n == 0;
  while (any_problem(!done)) {
    Lane active = l;
    if (done) active.n = active.m = active.own = 0;
    Mass deficit = demand;
    if (any_problem(step > 1)) {
      const Mass share = share_of_demand(active, supply, demand, total, step, s.width);
      if (step > 1) deficit = share;
    }
    if (l.sink >= active.m) deficit = 0;
    const Cost before = price;
    assign(active, s, supply, step, reach, price, deficit);
    const bool possible = balance(active, s, deficit, price);
    if (!any_problem(!done && (step > 1 || reach < infinite))) return;
    Cost least, most;
    range_of_sinks(l, price - before, s.width, least, most);
    const Cost moved = possible ? most - least + LOW + 1 : infinite;
    range_of_sinks(l, price, s.width, least, most);
    if (!done && (moved < reach || reach == infinite)) {
      // Beyond every cost difference, the size of a price has no meaning.
      price = minimum<Cost>(price - least, infinite >> 2);
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
STEP void lay_out(S& s, const Tables& tables) {
  const int rows = tables.rows, width = tables.width;
  char* memory = tables.memory;
  const char* start = memory;
  s.row = (width * tables.places + 1) | 1;  // odd: sources down a column are in different banks
  s.width = width;
  s.words = (rows + 31) / 32;
  s.cost = (typename S::Cost*)memory;
  memory += (int64)rows * s.row * sizeof(*s.cost);
  s.arcs.take(memory, width * s.row);
  // The proof needs a table of 64 bits for each arc: it takes the place of costs and arcs.
  memory += max((int64)0, (int64)(width * s.row * sizeof(int64)) - (memory - start));
  memory += -(memory - start) & 7;
  s.flow = (typename S::Flow*)memory;
  memory += (int64)rows * s.row * sizeof(*s.flow);
  memory += -(memory - start) & 7;
  s.members = (uint32*)memory;
  s.below = (int*)(s.members + s.words * s.row);
}
