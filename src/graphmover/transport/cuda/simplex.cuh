// The solver for problems with many sinks: the transportation simplex method, one problem per warp.
//
// A basis is a spanning tree of sources and sinks, of which every node but the root knows its
// parent and the flow on the arc to it. Nodes have numbers in preorder and know how many are below
// them (Barr, Glover and Klingman 1979), so every lane can tell by two comparisons whether a node of
// its own is on a path to the root, or below some node: each step of a pivot is done for all nodes
// at once. Memory is a table of costs and a few numbers for each node, so many warps are in flight.

// Integer costs of a guess have so many bits: with the number of a row or column they fit 32, and
// sums along a path in the tree fit 31. With 16, large problems need many pivots by exact costs.
const int SIMPLEX_COST_BITS = 22;
const int INDEX_BITS = 10;
const uint32 INDEX = (1u << INDEX_BITS) - 1;

// Rows that are priced before the best arc so far enters.
const int PRICED_ROWS = 6;

// The same of exact costs: hardly ever is there one.
const int EXACT_ROWS = 16;

// A lane keeps up to so many nodes in registers.
const int MOST_UNROLLED = 4;
const int MOST_PASSES = 64;

// Reduced costs that are no larger, relative to the largest cost, may be rounding errors: 2**-46.
// `finer_bound` asks for smaller costs where that is too much for the distance of what is matched.
const double NOISE = 1.0 / (1ll << 46);

// While the first tree grows: the parent of a node that has none yet.
const uint16 NO_PARENT = 0xffff;
const uint32 NO_ROW = 0xffffffffu;

// A node of the tree, without the flow on the arc to its parent.
struct __align__(8) TreeNode {
  uint16 parent;
  uint16 position;  // in preorder
  uint16 below;     // the number of nodes of its subtree, itself included
  uint16 mark;
};

// Sources are nodes 0 ... n - 1, sinks n ... n + m - 1. Lane t % 32 owns node t.
struct Basis {
  int* cost;       // (n, m) C_ik as integers; at the end, potentials from exact costs
  TreeNode* node;  // (nodes,)
  int* flow;       // (nodes,) on the arc to the parent
  int* potential;  // (nodes,) those of both ends of an arc of the tree add up to its cost
  int n, m, nodes;
  int root;
};

// Tables for each node are in shared memory, and costs behind them, or, if they are many, in scratch
// memory: then more warps are in flight.
STEP void lay_out_basis(Basis& s, char* memory, char* costs, int n, int m) {
  s.n = n, s.m = m, s.nodes = n + m;
  s.node = (TreeNode*)memory, memory += s.nodes * sizeof(TreeNode);
  s.flow = (int*)memory, memory += s.nodes * sizeof(int);
  s.potential = (int*)memory, memory += s.nodes * sizeof(int);
  s.cost = (int*)(costs ? costs : memory);
}

template <typename T> STEP T least_of_warp(T value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(ALL, value);
#else
  for (int apart = 16; apart; apart >>= 1) value = min(value, __shfl_xor_sync(ALL, value, apart));
  return value;
#endif
}

// Whether a node at a position is in the subtree that begins at another and has so many nodes.
STEP bool is_below(int position, int start, int count) {
  return (uint32)(position - start) < (uint32)count;
}

// Compute the integer costs, and the least of each row, and where it is: for now its position.
STEP void fill_costs(const Basis& s, int lane, const GroundDistance& ground, Problem& p,
                     double bound, int sink_factor) {
  uint32* cheapest = (uint32*)s.potential;  // (n,) least cost of a row, and the row
  const float units = (float)units_per_cost(bound, SIMPLEX_COST_BITS);
  const float most = (float)((1 << SIMPLEX_COST_BITS) - 2);
  for (int start = 0; start < s.m; start += 32) {
    const int k = start + lane;
    const bool exists = k < s.m;
    look_at_sink(p, exists ? k : s.m - 1);
    if (exists) s.flow[s.n + k] = demand_of(p, p.sinks->masses, sink_factor);
    const CoarseDistances distances = coarse_distances_of(ground, p);
#pragma unroll 2
    for (int i = 0; i < s.n; ++i) {
      const int cost = (int)fminf(distances(i) * units, most);
      if (exists) s.cost[i * s.m + k] = cost;
      const uint32 least = least_of_warp(exists ? (uint32)cost << INDEX_BITS | k : NO_ROW);
      if (i % 32 == lane && (!start || least >> INDEX_BITS < cheapest[i] >> INDEX_BITS))
        cheapest[i] = (least & ~INDEX) | i, s.node[i].position = least & INDEX;
    }
  }
}

// Grow a first tree by the least cost: the cheapest arc between a source and a sink that both have
// mass left carries as much as it can. The end that has nothing left becomes a child of the other.
//
// Every row knows its cheapest column. Where that column has ended since, the cost is a lower bound:
// the row is searched again only once this bound is the least of all.
STEP void grow_tree(Basis& s, int lane) {
  uint32* cheapest = (uint32*)s.potential;
  int* rest = s.flow;  // (nodes,) mass that is left
  const int n = s.n;
  for (int t = lane; t < s.nodes; t += 32) s.node[t].parent = NO_PARENT, s.node[t].below = 1;
  __syncwarp();
  int rows = n, columns = s.m;
  while (rows + columns > 1) {
    uint32 least = NO_ROW;
    for (int i = lane; i < n; i += 32) least = min(least, cheapest[i]);
    const int i = least_of_warp(least) & INDEX;
    const int k = s.node[i].position;
    if (s.node[n + k].parent != NO_PARENT) {
      least = NO_ROW;
      for (int other = lane; other < s.m; other += 32)
        if (s.node[n + other].parent == NO_PARENT)
          least = min(least, (uint32)s.cost[i * s.m + other] << INDEX_BITS | other);
      least = least_of_warp(least);
      __syncwarp();
      if (lane == 0) cheapest[i] = (least & ~INDEX) | i, s.node[i].position = least & INDEX;
      __syncwarp();
      continue;
    }
    const int supply = rest[i], demand = rest[n + k];
    const bool row_ends = rows > 1 && (supply <= demand || columns == 1);
    const int child = row_ends ? i : n + k, above = row_ends ? n + k : i;
    const int amount = min(supply, demand);
    const uint16 nodes_above = s.node[above].below, nodes_below = s.node[child].below;
    __syncwarp();
    if (lane == 0) {
      s.node[child] = TreeNode{(uint16)above, nodes_above, nodes_below, 0};
      s.flow[child] = amount, rest[above] = max(supply, demand) - amount;
      s.node[above].below = nodes_above + nodes_below;
      if (row_ends) cheapest[i] = NO_ROW;
    }
    row_ends ? --rows : --columns;
    s.root = above;
    __syncwarp();
  }
}

// Let nodes follow their parents, level by level: potentials are an arc's cost less that of the
// parent. With `number`, positions relative to the parent become positions in preorder.
template <bool number, typename Potential>
STEP void settle(const Basis& s, int lane, Potential* potential) {
  for (int t = lane; t < s.nodes; t += 32) s.node[t].mark = t == s.root;
  if (s.root % 32 == lane) {
    potential[s.root] = 0;
    if (number) s.node[s.root].position = 0;
  }
  __syncwarp();
  bool more = true;
  while (any_problem(more)) {
    more = false;
    for (int start = 0; start < s.nodes; start += 32) {
      const int t = start + lane;
      const bool waits = t < s.nodes && !s.node[t].mark;
      const int above = waits ? s.node[t].parent : 0;
      const TreeNode parent = s.node[above];
      const Potential there = potential[above];
      const bool ready = waits && parent.mark;
      __syncwarp();
      if (ready) {
        potential[t] -= there, s.node[t].mark = 1;
        if (number) s.node[t].position += parent.position;
      }
      more |= waits && !ready;
      __syncwarp();
    }
  }
}

STEP int source_of(const Basis& s, int t) { return t < s.n ? t : s.node[t].parent; }
STEP int sink_of(const Basis& s, int t) { return (t < s.n ? s.node[t].parent : t) - s.n; }

// The best arc among some rows whose reduced cost is negative: its row and column, or NO_ROW.
STEP uint32 price_rows(const Basis& s, int lane, int first, int last, int& reduced) {
  int best = 0;
  uint32 where = NO_ROW;
  for (int k = lane; k < s.m; k += 32) {
    const int potential = s.potential[s.n + k];
#pragma unroll
    for (int row = 0; row < PRICED_ROWS; ++row) {
      const int i = first + row;
      if (i >= last) break;
      const int change = s.cost[i * s.m + k] - s.potential[i] - potential;
      if (change < best) best = change, where = i << INDEX_BITS | k;
    }
  }
  reduced = least_of_warp(best);
  if (!reduced) return NO_ROW;
  const uint32 found = __ballot_sync(ALL, best == reduced);
  return __shfl_sync(ALL, where, lowest_bit(found));
}

// Let an arc enter the basis. A lane has up to K nodes: in registers if K is small.
template <int K, typename Potential>
STEP void pivot_nodes(const Basis& s, int lane, Potential* potential, int source, int sink,
                      Potential reduced) {
  const int passes = K <= MOST_UNROLLED ? K : (s.nodes + 31) / 32;
  int position[K], below[K], flow[K], moved[K];
#pragma unroll
  for (int q = 0; q < passes; ++q) {
    const int t = lane + 32 * q;
    const bool exists = t < s.nodes;
    const TreeNode own = s.node[exists ? t : 0];
    position[q] = own.position, below[q] = exists ? own.below : 0;
    flow[q] = s.flow[exists ? t : 0];
  }
  const int at_source = s.node[source].position, at_sink = s.node[sink].position;
  // The cycle: nodes from which exactly one end of the arc hangs. The arc to the parent loses flow
  // where a source is above the source, or a sink above the sink. Of several that limit the flow, the
  // last on the way from the top through the arc leaves (Cunningham 1976): no endless loops.
  uint32 limit = ALL;
#pragma unroll
  for (int q = 0; q < passes; ++q) {
    const bool here = is_below(at_source, position[q], below[q]);
    const bool loses = here == (lane + 32 * q < s.n);
    if (here != is_below(at_sink, position[q], below[q]) && loses)
      limit = min(limit, (uint32)flow[q]);
  }
  const int amount = least_of_warp(limit);
  uint32 rank = ALL;
#pragma unroll
  for (int q = 0; q < passes; ++q) {
    const bool here = is_below(at_source, position[q], below[q]);
    if (here == is_below(at_sink, position[q], below[q])) continue;
    const bool loses = here == (lane + 32 * q < s.n);
    const uint32 order = here ? 4095 - position[q] : position[q];
    if (loses && flow[q] == amount) rank = min(rank, order << 11 | (lane + 32 * q));
    flow[q] += loses ? -amount : amount;
  }
  rank = least_of_warp(rank);
  const int top = rank & 2047;  // of the subtree that is cut off
  const bool from_source = rank >> 22;
  const int end = from_source ? source : sink, to = from_source ? sink : source;
  const int at_end = from_source ? at_source : at_sink;
  const int start = s.node[top].position, count = s.node[top].below, hook = s.node[to].position;
  // The nodes from the arc's end up to the top change places with their parents. What hangs from
  // each, except for the part it was reached from, keeps its order and comes behind that part. Tables
  // in memory stay as they were until all is known.
  int stem = end, above = to, above_flow = amount;
  TreeNode inner = {0, 0, 0, 0};
  while (true) {
    const TreeNode old = s.node[stem];
    const int old_flow = s.flow[stem] + (from_source == (stem < s.n) ? -amount : amount);
#pragma unroll
    for (int q = 0; q < passes; ++q) {
      if (is_below(position[q], old.position, old.below) &&
          !is_below(position[q], inner.position, inner.below))
        moved[q] = position[q] - old.position + (position[q] < inner.position ? inner.below : 0);
      if (lane + 32 * q == stem) {
        flow[q] = above_flow, below[q] = count - inner.below;
        s.node[stem].mark = above;
      }
    }
    if (stem == top) break;
    above = stem, above_flow = old_flow, stem = old.parent;
    inner = old;
  }
  __syncwarp();
  // The subtree moves behind the node that it hangs from now.
  const int place = hook < start ? hook + 1 : hook + 1 - count;
#pragma unroll
  for (int q = 0; q < passes; ++q) {
    const int t = lane + 32 * q;
    if (t >= s.nodes) continue;
    TreeNode own = s.node[t];
    if (is_below(position[q], start, count)) {
      // On the stem are those that the arc's end hung from.
      if (is_below(at_end, own.position, own.below)) own.parent = own.mark;
      own.position = place + moved[q], own.below = below[q];
      potential[t] += (t < s.n) == from_source ? reduced : -reduced;
    } else {
      own.below = below[q] + (is_below(hook, position[q], below[q]) ? count : 0) -
                  (is_below(start, position[q], below[q]) ? count : 0);
      if (position[q] > start && position[q] <= hook) own.position = position[q] - count;
      if (position[q] < start && position[q] > hook) own.position = position[q] + count;
    }
    s.node[t] = own, s.flow[t] = flow[q];
  }
  __syncwarp();
}

STEP void pivot(const Basis& s, int lane, int source, int sink, int reduced) {
  if (s.nodes <= 64)
    pivot_nodes<2>(s, lane, s.potential, source, sink, reduced);
  else if (s.nodes <= 96)
    pivot_nodes<3>(s, lane, s.potential, source, sink, reduced);
  else if (s.nodes <= 32 * MOST_UNROLLED)
    pivot_nodes<MOST_UNROLLED>(s, lane, s.potential, source, sink, reduced);
  else
    pivot_nodes<MOST_PASSES>(s, lane, s.potential, source, sink, reduced);
}

// Pivot until no arc can lower the cost of integers, or until that takes too long.
STEP void optimise(const Basis& s, int lane) {
  int first = 0, without = 0;
  for (int patience = 32 * s.nodes; without < s.n && patience; --patience) {
    const int last = min(first + PRICED_ROWS, s.n);
    int reduced;
    const uint32 found = price_rows(s, lane, first, last, reduced);
    without = found == NO_ROW ? without + last - first : 0;
    if (found != NO_ROW)
      pivot(s, lane, found >> INDEX_BITS, s.n + (found & INDEX), reduced);
    first = last == s.n ? 0 : last;
  }
}

// Compute the exact costs of the tree's arcs, at most `most`, and potentials from them; return the
// flow's cost.
STEP double price_tree(const Basis& s, int lane, const GroundDistance& ground, Problem& p,
                       double most, double* potential) {
  double cost = 0.0;
  for (int t = lane; t < s.nodes; t += 32) {
    if (t == s.root) continue;
    look_at_sink(p, sink_of(s, t));
    const double distance = fmin(distances_of(ground, p)(source_of(s, t)), most);
    potential[t] = distance;
    cost += s.flow[t] * distance;
  }
  for (int apart = 16; apart; apart >>= 1) cost += __shfl_xor_sync(ALL, cost, apart);
  __syncwarp();
  settle<false>(s, lane, potential);
  return cost;
}

// As `price_rows`, by exact costs: the arc with the least reduced cost below `reduced`.
STEP uint32 price_rows_exactly(const Basis& s, int lane, const GroundDistance& ground, Problem& p,
                               double most, const double* potential, int first, int last,
                               double& reduced) {
  uint32 where = NO_ROW;
  for (int k = lane; k < s.m; k += 32) {
    look_at_sink(p, k);
    const Distances distances = distances_of(ground, p);
    const double here = potential[s.n + k];
    for (int i = first; i < last; ++i) {
      const double change = fmin(distances(i), most) - potential[i] - here;
      if (change < reduced) reduced = change, where = i << INDEX_BITS | k;
    }
  }
  if (!any_problem(where != NO_ROW)) return NO_ROW;
  for (int apart = 16; apart; apart >>= 1) {
    const double other = __shfl_xor_sync(ALL, reduced, apart);
    const uint32 there = __shfl_xor_sync(ALL, where, apart);
    if (other < reduced || (other == reduced && there < where)) reduced = other, where = there;
  }
  return where;
}

// Go on with exact costs until the flow is proven optimal, which it mostly is at once; return its
// cost. With potentials such that no arc's reduced cost is below -slack, no flow costs less by more
// than slack for each unit of mass. Potentials of the proof come fresh from the tree.
STEP double prove_basis(const Basis& s, int lane, const GroundDistance& ground, Problem& p,
                        double most, double total, double matched, bool& proven) {
  double* potential = (double*)s.cost;
  __syncwarp();  // all lanes are done with the costs
  int patience = 8 * s.nodes;
  while (true) {
    const double cost = price_tree(s, lane, ground, p, most, potential);
    const double slack = fmax(cost * PROVEN, most * NOISE * matched) / total;
    proven = true;
    for (int first = 0; first < s.n && cost > 0 && patience;) {
      const int last = min(first + EXACT_ROWS, s.n);
      double reduced = -slack;
      const uint32 found =
          price_rows_exactly(s, lane, ground, p, most, potential, first, last, reduced);
      if (found == NO_ROW) {
        first = last;
      } else {
        pivot_nodes<MOST_PASSES>(s, lane, potential, found >> INDEX_BITS,
                                 s.n + (found & INDEX), reduced);
        proven = false, --patience;
      }
    }
    if (proven || !patience) return cost;
  }
}

// Solve with costs of 22 bits, then prove that the flow is optimal for exact costs, up to PROVEN.
STEP void guess_by_simplex(const Side* x, const Side* y, const Tasks& tasks,
                           const Results& results, const GroundDistance& ground,
                           const Tables& tables) {
  Basis s;
  const int lane = threadIdx.x & 31;
  const int64 count = number_of_tasks(tasks);
  for (int64 number = blockIdx.x; number < count; number += gridDim.x) {
    Lane l;
    Problem p;
    take_problem(x, y, tasks, number, count, 32, 1, 32, l, p);
    int source_factor, sink_factor, total;
    bool solved =
        small_factors(p.sources->totals[p.source_graph], p.sinks->totals[p.sink_graph], 31,
                      source_factor, sink_factor, total);
    double distance = 0.0;
    if (solved) {
      lay_out_basis(s, tables.memory, tables.costs, l.n, l.m);
      const double bound = cost_bound(ground, p);
      const Supply<int> supply = supply_of(p, p.sources->masses, source_factor);
      for (int i = lane; i < s.n; i += 32) s.flow[i] = supply(i);
      fill_costs(s, lane, ground, p, bound, sink_factor);
      __syncwarp();
      grow_tree(s, lane);
      for (int t = lane; t < s.nodes; t += 32)
        if (t != s.root) s.potential[t] = s.cost[source_of(s, t) * s.m + sink_of(s, t)];
      __syncwarp();
      settle<true>(s, lane, s.potential);
      optimise(s, lane);
      // A distance so small that rounding errors of other costs matter: dearer arcs than all flow
      // together cannot be in an optimal flow, whatever they cost beyond that.
      const double matched = matched_mass(p, total);
      for (double most = bound; solved && most > 0; most = finer_bound(most, distance, matched))
        distance = prove_basis(s, lane, ground, p, most, total, matched, solved) / matched;
    }
    if (lane == 0) leave_result(p, tasks, results, solved, distance);
    __syncwarp();
  }
}
