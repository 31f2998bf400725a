//===- Interval.cpp - Evaluation of expressions over knobs ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expr.h"

#include <algorithm>

using namespace mlir;
using namespace cwm;

//===----------------------------------------------------------------------===//
// Interval arithmetic
//===----------------------------------------------------------------------===//

/// Values beyond +-bound count as undefined, so that sums never overflow.
static constexpr Int128 bound = Int128(1) << 126;

static Interval clampInterval(Int128 lo, Int128 hi, bool undefined) {
  if (lo < -bound || hi > bound)
    return {std::max(lo, -bound), std::min(hi, bound), true};
  return {lo, hi, undefined};
}

static Interval unknownBool(bool undefined) { return {0, 1, undefined}; }

static Interval multiply(const Interval &a, const Interval &b) {
  Int128 lo = bound, hi = -bound;
  bool undefined = a.undefined || b.undefined;
  for (Int128 x : {a.lo, a.hi}) {
    for (Int128 y : {b.lo, b.hi}) {
      Int128 product;
      if (__builtin_mul_overflow(x, y, &product)) {
        product = (x < 0) == (y < 0) ? bound : -bound;
        undefined = true;
      }
      lo = std::min(lo, product);
      hi = std::max(hi, product);
    }
  }
  return clampInterval(lo, hi, undefined);
}

static Int128 floorDivide(Int128 a, Int128 b) {
  Int128 quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// SMT-LIB: the remainder is never negative.
static Int128 euclideanDivide(Int128 a, Int128 b) {
  return b > 0 ? floorDivide(a, b) : -floorDivide(a, -b);
}

static Int128 magnitude(const Interval &a) {
  return std::max(a.hi < 0 ? -a.hi : a.hi, a.lo < 0 ? -a.lo : a.lo);
}

static Interval divide(const Interval &a, const Interval &b) {
  bool undefined = a.undefined || b.undefined;
  if (b.lo <= 0 && b.hi >= 0) // SMT-LIB leaves division by zero open
    return {-magnitude(a), magnitude(a), true};
  Int128 lo = bound, hi = -bound;
  for (Int128 x : {a.lo, a.hi}) {
    for (Int128 y : {b.lo, b.hi}) {
      lo = std::min(lo, euclideanDivide(x, y));
      hi = std::max(hi, euclideanDivide(x, y));
    }
  }
  return {lo, hi, undefined};
}

static Interval remainder(const Interval &a, const Interval &b) {
  bool undefined = a.undefined || b.undefined || (b.lo <= 0 && b.hi >= 0);
  Int128 limit = magnitude(b);
  if (limit == 0)
    return {-bound, bound, true};
  if (b.lo == b.hi && floorDivide(a.lo, limit) == floorDivide(a.hi, limit)) {
    Int128 base = floorDivide(a.lo, limit) * limit;
    return {a.lo - base, a.hi - base, undefined};
  }
  Int128 smallest = b.lo > 0 ? b.lo : b.hi < 0 ? -b.hi : 0;
  if (a.lo >= 0 && a.hi < smallest)
    return {a.lo, a.hi, undefined};
  return {0, limit - 1, undefined};
}

/// Three-valued `a < b` or, with `orEqual`, `a <= b`.
static Interval less(const Interval &a, const Interval &b, bool orEqual) {
  bool undefined = a.undefined || b.undefined;
  if (undefined)
    return unknownBool(true);
  if (orEqual ? a.hi <= b.lo : a.hi < b.lo)
    return {1, 1, false};
  if (orEqual ? a.lo > b.hi : a.lo >= b.hi)
    return {0, 0, false};
  return unknownBool(false);
}

static Interval equal(const Interval &a, const Interval &b) {
  if (a.undefined || b.undefined)
    return unknownBool(true);
  if (a.hi < b.lo || b.hi < a.lo)
    return {0, 0, false};
  if (a.isPoint() && b.isPoint())
    return {1, 1, false};
  return unknownBool(false);
}

static Interval negate(const Interval &a) {
  return {1 - a.hi, 1 - a.lo, a.undefined};
}

/// An operand that is certainly false decides whatever the others are.
static Interval conjunction(ArrayRef<Interval> args) {
  Interval result{1, 1, false};
  for (const Interval &arg : args) {
    if (arg.isFalse())
      return {0, 0, false};
    result.lo = std::min(result.lo, arg.lo);
    result.hi = std::min(result.hi, arg.hi);
    result.undefined |= arg.undefined;
  }
  return result;
}

static Interval disjunction(ArrayRef<Interval> args) {
  SmallVector<Interval> negated;
  for (const Interval &arg : args)
    negated.push_back(negate(arg));
  return negate(conjunction(negated));
}

static Interval apply(const Expr &expr, ArrayRef<Interval> args) {
  switch (expr.op) {
  case Expr::Op::Constant:
  case Expr::Op::Bool:
    return {expr.value, expr.value, false};
  case Expr::Op::Knob:
    llvm_unreachable("handled by the caller");
  case Expr::Op::Add: {
    Interval sum;
    for (const Interval &arg : args)
      sum = clampInterval(sum.lo + arg.lo, sum.hi + arg.hi,
                          sum.undefined || arg.undefined);
    return sum;
  }
  case Expr::Op::Sub:
    return clampInterval(args[0].lo - args[1].hi, args[0].hi - args[1].lo,
                         args[0].undefined || args[1].undefined);
  case Expr::Op::Mul: {
    Interval product{1, 1, false};
    for (const Interval &arg : args)
      product = multiply(product, arg);
    return product;
  }
  case Expr::Op::Div:
    return divide(args[0], args[1]);
  case Expr::Op::Mod:
    return remainder(args[0], args[1]);
  case Expr::Op::Abs: {
    const Interval &a = args[0];
    Int128 lo = a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0;
    return {lo, magnitude(a), a.undefined};
  }
  case Expr::Op::Lt:
    return less(args[0], args[1], /*orEqual=*/false);
  case Expr::Op::Le:
    return less(args[0], args[1], /*orEqual=*/true);
  case Expr::Op::Gt:
    return less(args[1], args[0], /*orEqual=*/false);
  case Expr::Op::Ge:
    return less(args[1], args[0], /*orEqual=*/true);
  case Expr::Op::Eq: {
    SmallVector<Interval> pairs;
    for (size_t i = 1; i < args.size(); ++i)
      pairs.push_back(equal(args[i - 1], args[i]));
    return conjunction(pairs);
  }
  case Expr::Op::Distinct: {
    SmallVector<Interval> pairs;
    for (size_t i = 0; i < args.size(); ++i)
      for (size_t j = i + 1; j < args.size(); ++j)
        pairs.push_back(negate(equal(args[i], args[j])));
    return conjunction(pairs);
  }
  case Expr::Op::And:
    return conjunction(args);
  case Expr::Op::Or:
    return disjunction(args);
  case Expr::Op::Xor: {
    Interval result{0, 0, false};
    for (const Interval &arg : args)
      result = negate(equal(result, arg));
    return result;
  }
  case Expr::Op::Not:
    return negate(args[0]);
  case Expr::Op::Implies:
    return disjunction({negate(args[0]), args[1]});
  case Expr::Op::Ite:
    if (args[0].isTrue())
      return args[1];
    if (args[0].isFalse())
      return args[2];
    return {std::min(args[1].lo, args[2].lo), std::max(args[1].hi, args[2].hi),
            args[0].undefined || args[1].undefined || args[2].undefined};
  }
  llvm_unreachable("unknown expression");
}

Program::Program(const ExprPool &pool, unsigned root) {
  std::vector<unsigned> schedule = pool.getSchedule(root);
  for (unsigned node : schedule) {
    Expr expr = pool.get(node);
    for (unsigned &arg : expr.args)
      arg = llvm::lower_bound(schedule, arg) - schedule.begin();
    code.push_back(std::move(expr));
  }
  knobs = pool.getKnobs(root);
}

void Program::renumberKnobs(llvm::function_ref<unsigned(unsigned)> number) {
  for (Expr &expr : code)
    if (expr.op == Expr::Op::Knob)
      expr.knob = number(expr.knob);
  for (unsigned &knob : knobs)
    knob = number(knob);
}

Interval
Program::evaluate(llvm::function_ref<Interval(unsigned)> knobValue) const {
  SmallVector<Interval, 32> values;
  SmallVector<Interval, 4> args;
  for (const Expr &expr : code) {
    if (expr.op == Expr::Op::Knob) {
      values.push_back(knobValue(expr.knob));
      continue;
    }
    args.clear();
    for (unsigned arg : expr.args)
      args.push_back(values[arg]);
    values.push_back(apply(expr, args));
  }
  return values.back();
}

/// False on overflow and where the result is undefined.
static bool applyPoint(const Expr &expr, ArrayRef<int64_t> values,
                       int64_t &result) {
  auto arg = [&](size_t position) { return values[expr.args[position]]; };
  auto all = [&](auto predicate) {
    return llvm::all_of(expr.args,
                        [&](unsigned id) { return predicate(values[id]); });
  };
  switch (expr.op) {
  case Expr::Op::Constant:
  case Expr::Op::Bool:
    result = expr.value;
    return true;
  case Expr::Op::Knob:
    llvm_unreachable("handled by the caller");
  case Expr::Op::Add:
    result = 0;
    return all([&](int64_t value) {
      return !__builtin_add_overflow(result, value, &result);
    });
  case Expr::Op::Sub:
    return !__builtin_sub_overflow(arg(0), arg(1), &result);
  case Expr::Op::Mul:
    result = 1;
    return all([&](int64_t value) {
      return !__builtin_mul_overflow(result, value, &result);
    });
  case Expr::Op::Div:
  case Expr::Op::Mod: {
    int64_t divisor = arg(1);
    if (divisor <= 0) // rare: left to the general case
      return false;
    int64_t quotient = arg(0) / divisor, rest = arg(0) % divisor;
    result = expr.op == Expr::Op::Div ? (rest < 0 ? quotient - 1 : quotient)
                                      : (rest < 0 ? rest + divisor : rest);
    return true;
  }
  case Expr::Op::Abs:
    result = arg(0) < 0 ? -arg(0) : arg(0);
    return arg(0) != INT64_MIN;
  case Expr::Op::Lt:
    result = arg(0) < arg(1);
    return true;
  case Expr::Op::Le:
    result = arg(0) <= arg(1);
    return true;
  case Expr::Op::Gt:
    result = arg(0) > arg(1);
    return true;
  case Expr::Op::Ge:
    result = arg(0) >= arg(1);
    return true;
  case Expr::Op::Eq:
    result = all([&](int64_t value) { return value == arg(0); });
    return true;
  case Expr::Op::Distinct:
    result = 1;
    for (size_t i = 0; i < expr.args.size(); ++i)
      for (size_t j = i + 1; j < expr.args.size(); ++j)
        result &= arg(i) != arg(j);
    return true;
  case Expr::Op::And:
    result = all([](int64_t value) { return value != 0; });
    return true;
  case Expr::Op::Or:
    result = !all([](int64_t value) { return value == 0; });
    return true;
  case Expr::Op::Xor:
    result = 0;
    for (unsigned id : expr.args)
      result ^= values[id];
    return true;
  case Expr::Op::Not:
    result = !arg(0);
    return true;
  case Expr::Op::Implies:
    result = !arg(0) || arg(1);
    return true;
  case Expr::Op::Ite:
    result = arg(0) ? arg(1) : arg(2);
    return true;
  }
  llvm_unreachable("unknown expression");
}

std::optional<int64_t>
Program::evaluatePoint(llvm::function_ref<int64_t(unsigned)> knobValue) const {
  SmallVector<int64_t, 64> values(code.size());
  for (size_t position = 0; position < code.size(); ++position) {
    const Expr &expr = code[position];
    if (expr.op == Expr::Op::Knob)
      values[position] = knobValue(expr.knob);
    else if (!applyPoint(expr, values, values[position]))
      return std::nullopt;
  }
  return values.back();
}
