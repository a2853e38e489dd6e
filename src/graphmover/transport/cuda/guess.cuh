// Solve with costs of 18 bits, then prove that the flow is optimal for costs of 48 bits, up to PROVEN.

// The integer costs of a guess, from single-precision points.
template <typename S>
STEP void coarse_costs(const Lane& l, const S& s, const CoarseDistances& distances, double bound) {
  const float units = (float)units_per_cost(bound, Limits<int>::COST_BITS);
  const float most = (float)(1 << Limits<int>::COST_BITS);
  for (int i = 0; i < l.n; ++i)
    s.cost[i * s.row + l.column] = (int)fminf(distances(i) * units, most) << LOW_BITS;
}

// The flow's cost, and whether it is proven to be the least up to PROVEN of itself.
//
// With prices p such that no arc from j to k costs less than p_k - p_j - slack, no flow of the
// same loads costs less by more than slack for each unit of mass. Bellman-Ford finds such prices,
// now from all sinks, within m rounds, or there are none.
template <typename S>
STEP double prove(const Lane& l, const S& s, const Distances& distances, double units, double total,
                  double matched, int price, bool& proven) {
  __syncwarp();  // all lanes are done with the costs
  int64* best = (int64*)s.cost;
  for (int j = 0; j < s.width; ++j) best[j * s.row + l.column] = Limits<int64>::INFINITE;
  double cost = 0.0;
  const int most = most_in_warp(l.n);
  for (int i = 0; i < most; ++i) {
    const bool exists = i < l.n;
    const double distance = exists ? distances(i) : 0.0;
    const int64 integer = integer_cost(distance, units);
    const int flow = exists && l.sink < l.m ? s.flow[i * s.row + l.column] : 0;
    cost += flow * distance;
    uint32 holders = bits(l, flow > 0);
    while (any_problem(holders)) {
      const int j = holders ? lowest_bit(holders) : 0;
      const int64 change = integer - of_sink(l, integer, j);
      if (holders && change < best[j * s.row + l.column]) best[j * s.row + l.column] = change;
      holders &= holders - 1;
    }
  }
  cost = sum_over_sinks(l, cost, s.width);
  const int64 slack = integer_cost(cost / total * PROVEN, units);
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
  return cost / matched;
}

template <typename S>
STEP void guess(const Side* x, const Side* y, const Tasks& tasks, const Results& results,
                const GroundDistance& ground, const Tables& tables) {
  S s;
  lay_out(s, tables);
  const int places = tables.places;
  s.alone = places == 1;
  const int64 count = number_of_tasks(tasks);
  for (int64 start = (int64)blockIdx.x * places; start < count; start += (int64)gridDim.x * places) {
    Lane l;
    Problem p;
    take_problem(x, y, tasks, start, count, s.width, places, s.row - 1, l, p);
    const bool exists = l.m;
    int source_factor = 0, sink_factor = 0, total = 0;
    const bool possible =
        exists && small_factors(p.sources->totals[p.source_graph], p.sinks->totals[p.sink_graph],
                                sizeof(typename S::Flow) == 2 ? 16 : 31, source_factor,
                                sink_factor, total);
    if (!possible) l.n = l.m = l.own = 0;
    const double bound = possible ? cost_bound(ground, p) : 0.0;
    const Supply<int> supply = supply_of(p, p.sources->masses, source_factor);
    const int demand = possible ? demand_of(p, p.sinks->masses, sink_factor) : 0;
    const int matched = matched_mass(p, total);
    __syncwarp();
    if (possible) coarse_costs(l, s, coarse_distances_of(ground, p), bound);
    __syncwarp();
    int price;
    bool proven;
    solve(l, s, supply, demand, total, price);
    const double units = units_per_cost(bound, Limits<int64>::COST_BITS);
    const double distance =
        prove(l, s, distances_of(ground, p), units, total, matched, price, proven);
    const bool solved = possible && proven && !(finer_bound(bound, distance, matched) > 0);
    if (exists && l.sink == 0) leave_result(p, tasks, results, solved, distance);
    __syncwarp();
  }
}
