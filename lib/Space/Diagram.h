//===- Diagram.h - All candidates as a decision diagram ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A decomposable decision diagram (d-DNNF with multi-valued variables; Darwiche
// and Marquis, "A knowledge compilation map", JAIR 2002): after each decision
// the open knobs fall into groups that no constraint and no condition of
// liveness connects, and the candidates are the product of those of the
// groups. Free knobs are never expanded. Thereby counting and sampling are
// exact, uniform and cheap however many candidates there are, as long as the
// constrained groups are small.
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SPACE_DIAGRAM_H
#define CWM_LIB_SPACE_DIAGRAM_H

#include "Partial.h"

namespace cwm {

__extension__ using UInt128 = unsigned __int128;

/// A number of candidates; `exact` is valid unless it overflowed.
struct Count {
  UInt128 exact = 0;
  double approximate = 0;
  bool overflow = false;

  static Count of(uint64_t number);
  Count &operator+=(const Count &other);
  Count &operator*=(const Count &other);
  bool isZero() const { return approximate == 0; }
};

class Diagram {
public:
  /// Null when more than `effort` options would have to be looked at.
  /// `constraints` are indices of those to respect.
  static std::unique_ptr<Diagram> build(llvm::ArrayRef<Knob> knobs,
                                        const Space::Impl &impl,
                                        llvm::ArrayRef<unsigned> constraints,
                                        uint64_t effort);

  const Count &getCount() const { return nodes[root].count; }
  /// Uniform; there must be a candidate. Dead knobs get their default.
  Assignment sample(RandomEngine &engine) const;
  /// See Space::Impl::repair. Null when no candidate has the forced option.
  std::optional<Assignment>
  findClosest(const Assignment &preferred,
              std::optional<std::pair<unsigned, uint64_t>> forced) const;

private:
  friend class DiagramBuilder;
  struct Node {
    enum class Kind {
      Product, ///< of `children`; empty: one candidate
      Branch,  ///< `options[i]` of `knob` leads to `children[i]`
      Leaf,    ///< any of `options` of `knob`
      Free     ///< any option of `knob`
    };
    Kind kind = Kind::Product;
    unsigned knob = 0;
    std::vector<uint64_t> options;
    std::vector<unsigned> children;
    Count count;
  };
  void sample(unsigned id, RandomEngine &engine, Assignment &result) const;

  llvm::ArrayRef<Knob> knobs;
  std::vector<Node> nodes;
  unsigned root = 0;
};

} // namespace cwm

#endif // CWM_LIB_SPACE_DIAGRAM_H
