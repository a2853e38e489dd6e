// The solver for more than 32 sinks: one problem per warp, tables in scratch memory.

// One problem's tables, in scratch memory. Lane k % 32 owns what belongs to sink k.
struct Many {
  int64* cost;      // (n, stride) C_ik as integers
  int64* flow;      // (n, stride) F_ik
  int64* arc_cost;  // (stride, stride) the residual graph's arc from sink j to sink k
  int64* deficit;   // (stride,) demand less flow; negative: an excess
  int64* price;     // (stride,) p_k
  int64* length;    // (stride,) shortest path from an excess sink, in reduced costs
  int* arc_source;  // (stride, stride) the source that moves along it
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
  s.cost = (int64*)memory;
  s.flow = s.cost + rows * s.stride;
  s.arc_cost = s.flow + rows * s.stride;
  s.deficit = s.arc_cost + s.stride * s.stride;
  s.price = s.deficit + s.stride;
  s.length = s.price + s.stride;
  s.arc_source = (int*)(s.length + s.stride);
  s.parent = s.arc_source + s.stride * s.stride;
  s.mark = s.parent + s.stride;
  s.members = (uint32*)(s.mark + s.stride);
}

// The least value of all lanes, and where it is; of equal ones the first.
STEP void least_in_warp(int64& value, int& where) {
  for (int apart = 16; apart; apart >>= 1) {
    const int64 other = __shfl_xor_sync(ALL, value, apart);
    const int there = __shfl_xor_sync(ALL, where, apart);
    if (other < value || (other == value && there < where)) value = other, where = there;
  }
}

STEP void improve_arcs(const Many& s, int lane, int k, int i) {
  const int64 here = s.cost[i * s.stride + k];
  for (int64 to = lane; to < s.m; to += 32) {
    const int64 change = s.cost[i * s.stride + to] - here;
    if (change < s.arc_cost[k * s.stride + to]) {
      s.arc_cost[k * s.stride + to] = change;
      s.arc_source[k * s.stride + to] = i;
    }
  }
}

STEP void assign(const Many& s, int lane, const Supply<int64>& supply) {
  for (int64 cell = lane; cell < s.m * s.stride; cell += 32) s.arc_cost[cell] = Limits<int64>::INFINITE;
  for (int64 cell = lane; cell < s.words * s.stride; cell += 32) s.members[cell] = 0;
  for (int k = lane; k < s.m; k += 32) s.price[k] = 0;
  __syncwarp();
  for (int i = 0; i < s.n; ++i) {
    int64 least = Limits<int64>::INFINITE;
    int home = s.m;
    for (int k = lane; k < s.m; k += 32) {
      s.flow[i * s.stride + k] = 0;
      if (s.cost[i * s.stride + k] < least) least = s.cost[i * s.stride + k], home = k;
    }
    least_in_warp(least, home);
    if (home % 32 == lane) {
      s.flow[i * s.stride + home] = supply(i);
      s.deficit[home] -= supply(i);
      s.members[(i >> 5) * s.stride + home] |= 1u << (i & 31);
    }
    improve_arcs(s, lane, home, i);
  }
  __syncwarp();
}

// Dijkstra from all excess sinks until every deficit sink is reached; update the prices.
STEP void find_shortest_paths(const Many& s, int lane, int deficits) {
  for (int k = lane; k < s.m; k += 32) {
    s.length[k] = s.deficit[k] < 0 ? 0 : Limits<int64>::INFINITE;
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
    if (s.deficit[j] > 0 && --deficits == 0) break;
    const int64 here = length + s.price[j];
    for (int k = lane; k < s.m; k += 32) {
      const int64 through = s.arc_cost[j * s.stride + k] + (here - s.price[k]);
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

// Send what the path to a deficit sink can carry.
STEP void augment(const Many& s, int lane, int sink) {
  int64 amount = s.deficit[sink];
  int k = sink;
  for (int parent = s.parent[k]; parent != k; k = parent, parent = s.parent[k])
    amount = minimum(amount, s.flow[s.arc_source[parent * s.stride + k] * s.stride + parent]);
  amount = minimum(amount, -s.deficit[k]);
  __syncwarp();
  if (amount <= 0) return;
  if (k % 32 == lane) s.deficit[k] += amount;
  if (sink % 32 == lane) s.deficit[sink] -= amount;
  k = sink;
  for (int parent = s.parent[k]; parent != k; k = parent, parent = s.parent[k]) {
    const int i = s.arc_source[parent * s.stride + k];
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
    if (there == 0) improve_arcs(s, lane, k, i);
    __syncwarp();
  }
}

// Compute the arcs out of sink j again, from the sources that still have flow there.
STEP void rebuild_arcs(const Many& s, int lane, int j) {
  for (int k = lane; k < s.m; k += 32) s.arc_cost[j * s.stride + k] = Limits<int64>::INFINITE;
  for (int word = 0; word < s.words; ++word)
    for (uint32 present = s.members[word * s.stride + j]; present; present &= present - 1)
      improve_arcs(s, lane, j, word * 32 + lowest_bit(present));
  __syncwarp();
}

STEP void balance(const Many& s, int lane) {
  while (true) {
    int deficits = 0;
    for (int k = 0; k < s.m; k += 32)
      deficits += __popc(__ballot_sync(ALL, k + lane < s.m && s.deficit[k + lane] > 0));
    if (!deficits) return;
    find_shortest_paths(s, lane, deficits);
    for (int k = 0; k < s.m; ++k)
      if (s.deficit[k] > 0) augment(s, lane, k);
    for (int k = 0; k < s.m; ++k)
      if (s.mark[k] == LOST) rebuild_arcs(s, lane, k);
  }
}

STEP void solve_many_sinks(const Side* x, const Side* y, const Tasks& tasks,
                           const Results& results, const GroundDistance& ground,
                           const Tables& tables) {
  Many s;
  lay_out_many(s, tables.memory, tables.rows, tables.width);
  const int64 count = number_of_tasks(tasks);
  for (int64 number = blockIdx.x; number < count; number += gridDim.x) {
    Lane l;
    Problem p;
    take_problem(x, y, tasks, number, count, 32, 1, 32, l, p);
    s.n = l.n, s.m = l.m, s.words = (l.n + 31) / 32;
    int64 source_factor, sink_factor, total;
    const bool exact = factors(p.sources->totals[p.source_graph], p.sinks->totals[p.sink_graph],
                               source_factor, sink_factor, total);
    const int64 matched = matched_mass(p, total);
    const Supply<int64> supply =
        supply_of(p, exact ? p.sources->masses : p.sources->rounded, source_factor);
    double bound = cost_bound(ground, p), distance = 0.0;
    while (bound > 0) {
      const double units = units_per_cost(bound, Limits<int64>::COST_BITS);
      for (int k = l.lane; k < s.m; k += 32) {
        look_at_sink(p, k);
        s.deficit[k] = demand_of(p, exact ? p.sinks->masses : p.sinks->rounded, sink_factor);
        const Distances distances = distances_of(ground, p);
        for (int i = 0; i < s.n; ++i) s.cost[i * s.stride + k] = integer_cost(distances(i), units);
      }
      __syncwarp();
      assign(s, l.lane, supply);
      balance(s, l.lane);
      double cost = 0.0;
      for (int k = l.lane; k < s.m; k += 32) {
        look_at_sink(p, k);
        const Distances distances = distances_of(ground, p);
        for (int i = 0; i < s.n; ++i)
          if (s.flow[i * s.stride + k]) cost += s.flow[i * s.stride + k] * distances(i);
      }
      for (int apart = 16; apart; apart >>= 1) cost += __shfl_xor_sync(ALL, cost, apart);
      distance = cost / matched;
      bound = finer_bound(bound, distance, matched);
    }
    if (l.lane == 0) leave_result(p, tasks, results, true, distance);
    __syncwarp();
  }
}
