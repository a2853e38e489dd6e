// Launches of any kernel on the CPU: block after block, with its arguments as cuLaunchKernel takes
// them, an array of addresses.
#pragma once
#include <tuple>
#include <utility>

#include "cuda_on_cpu.h"

template <typename... A>
struct Launch {
  static void (*kernel)(A...);
  static std::tuple<A...>* arguments;
  static void block() { std::apply(kernel, *arguments); }

  template <std::size_t... I>
  static std::tuple<A...> read(void** addresses, std::index_sequence<I...>) {
    return {*static_cast<A*>(addresses[I])...};
  }
};
template <typename... A> void (*Launch<A...>::kernel)(A...);
template <typename... A> std::tuple<A...>* Launch<A...>::arguments;

template <typename... A>
static void launch(void (*kernel)(A...), const int* grid, int threads, long shared_bytes,
                   bool backwards, void** addresses) {
  using L = Launch<A...>;
  std::tuple<A...> arguments = L::read(addresses, std::index_sequence_for<A...>{});
  L::kernel = kernel, L::arguments = &arguments;
  // Exactly as large as asked for, and filled with rubbish.
  shared_memory = std::malloc(shared_bytes);
  std::memset(shared_memory, 0xcd, shared_bytes);
  warp::backwards = backwards;
  gridDim = {(unsigned)grid[0], (unsigned)grid[1]}, blockDim.x = threads;
  for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) warp::run(L::block, threads);
  std::free(shared_memory);
}

#define LAUNCHER(name)                                                                   \
  extern "C" void launch_##name(const int* grid, int threads, long shared_bytes,         \
                                bool backwards, void** addresses) {                      \
    launch(name, grid, threads, shared_bytes, backwards, addresses);                     \
  }
