//===- Expr.h - Expressions over knobs --------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constraints are evaluated on intervals: a point for a knob with a known
// option, the hull of the options for the others, so that one evaluator serves
// both checking and pruning.
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SPACE_EXPR_H
#define CWM_LIB_SPACE_EXPR_H

#include "cwm/Space/Space.h"

#include "llvm/ADT/DenseMap.h"

namespace cwm {

__extension__ using Int128 = __int128;

/// Closed interval of integers. Booleans are 0 and 1. `undefined` says that
/// the value may be undefined: division by zero, or beyond 2^126.
struct Interval {
  Int128 lo = 0, hi = 0;
  bool undefined = false;

  bool isPoint() const { return lo == hi && !undefined; }
  bool isTrue() const { return lo == 1 && !undefined; }
  bool isFalse() const { return hi == 0 && !undefined; }
};

/// Node of the expressions of one space; arguments come before their user.
struct Expr {
  enum class Op {
    Constant,
    Bool,
    Knob,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Abs,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Distinct,
    And,
    Or,
    Xor,
    Not,
    Implies,
    Ite
  };
  explicit Expr(Op op, int64_t value = 0) : op(op), value(value) {}

  Op op;
  int64_t value; ///< of a constant
  unsigned knob = 0;
  std::vector<unsigned> args;
};

/// The expressions of a space, numbered.
class ExprPool {
public:
  unsigned add(Expr expr);
  unsigned constant(int64_t value);
  unsigned knob(unsigned knob);
  const Expr &get(unsigned id) const { return exprs[id]; }
  /// The knobs that `id` depends on, ascending.
  std::vector<unsigned> getKnobs(unsigned id) const;
  /// The nodes that `id` needs in evaluation order, `id` last.
  std::vector<unsigned> getSchedule(unsigned id) const;
  /// Infix text, e.g. `mr * nr <= 64`.
  std::string print(unsigned id, llvm::ArrayRef<Knob> knobs) const;

  /// Gives each knob another number.
  void renumberKnobs(llvm::function_ref<unsigned(unsigned)> number);

private:
  std::vector<Expr> exprs;
  llvm::DenseMap<unsigned, unsigned> knobExprs;
};

/// An expression laid out for evaluation.
class Program {
public:
  Program() = default;
  Program(const ExprPool &pool, unsigned root);

  /// The value when knobs have the values that `knobValue` says.
  Interval evaluate(llvm::function_ref<Interval(unsigned)> knobValue) const;
  /// The value when all knobs are known, in 64 bits: fast. Nullopt where that
  /// overflows or is undefined; then `evaluate` tells.
  std::optional<int64_t>
  evaluatePoint(llvm::function_ref<int64_t(unsigned)> knobValue) const;
  /// Ascending.
  llvm::ArrayRef<unsigned> getKnobs() const { return knobs; }
  void renumberKnobs(llvm::function_ref<unsigned(unsigned)> number);

private:
  /// Expressions whose arguments are positions in `code`.
  std::vector<Expr> code;
  std::vector<unsigned> knobs;
};

} // namespace cwm

#endif // CWM_LIB_SPACE_EXPR_H
