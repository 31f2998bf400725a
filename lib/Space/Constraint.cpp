//===- Constraint.cpp - Constraints over knobs --------------------*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraint.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace cwm;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

unsigned ExprPool::add(Expr expr) {
  exprs.push_back(std::move(expr));
  return exprs.size() - 1;
}

unsigned ExprPool::constant(int64_t value) {
  return add(Expr(Expr::Op::Constant, value));
}

unsigned ExprPool::knob(unsigned knob) {
  auto it = knobExprs.find(knob);
  if (it != knobExprs.end())
    return it->second;
  Expr expr(Expr::Op::Knob);
  expr.knob = knob;
  return knobExprs[knob] = add(std::move(expr));
}

std::vector<unsigned> ExprPool::getSchedule(unsigned id) const {
  std::vector<unsigned> stack{id}, result;
  std::vector<bool> seen(id + 1, false);
  seen[id] = true;
  while (!stack.empty()) {
    unsigned current = stack.back();
    stack.pop_back();
    result.push_back(current);
    for (unsigned arg : exprs[current].args)
      if (!seen[arg]) {
        seen[arg] = true;
        stack.push_back(arg);
      }
  }
  // Arguments have smaller numbers than their users.
  llvm::sort(result);
  return result;
}

std::vector<unsigned> ExprPool::getKnobs(unsigned id) const {
  std::vector<unsigned> result;
  for (unsigned node : getSchedule(id))
    if (exprs[node].op == Expr::Op::Knob)
      result.push_back(exprs[node].knob);
  llvm::sort(result);
  result.erase(llvm::unique(result), result.end());
  return result;
}

void ExprPool::renumberKnobs(llvm::function_ref<unsigned(unsigned)> number) {
  knobExprs.clear();
  for (Expr &expr : exprs)
    if (expr.op == Expr::Op::Knob)
      expr.knob = number(expr.knob);
}

static StringRef getInfix(Expr::Op op) {
  switch (op) {
  case Expr::Op::Add:
    return " + ";
  case Expr::Op::Sub:
    return " - ";
  case Expr::Op::Mul:
    return " * ";
  case Expr::Op::Div:
    return " div ";
  case Expr::Op::Mod:
    return " mod ";
  case Expr::Op::Lt:
    return " < ";
  case Expr::Op::Le:
    return " <= ";
  case Expr::Op::Gt:
    return " > ";
  case Expr::Op::Ge:
    return " >= ";
  case Expr::Op::Eq:
    return " = ";
  case Expr::Op::Distinct:
    return " != ";
  case Expr::Op::And:
    return " and ";
  case Expr::Op::Or:
    return " or ";
  case Expr::Op::Xor:
    return " xor ";
  case Expr::Op::Implies:
    return " => ";
  default:
    return "";
  }
}

std::string ExprPool::print(unsigned id, ArrayRef<Knob> knobs) const {
  // A shared subexpression is printed each time it is used; past this size
  // the text would help nobody.
  constexpr size_t maxLength = 400;
  std::string text;
  llvm::raw_string_ostream os(text);
  std::function<void(unsigned, bool)> rec = [&](unsigned node, bool nested) {
    if (text.size() > maxLength)
      return;
    const Expr &expr = exprs[node];
    switch (expr.op) {
    case Expr::Op::Constant:
      os << expr.value;
      return;
    case Expr::Op::Bool:
      os << (expr.value ? "true" : "false");
      return;
    case Expr::Op::Knob:
      os << knobs[expr.knob].name;
      return;
    case Expr::Op::Not:
      os << "not ";
      rec(expr.args[0], true);
      return;
    case Expr::Op::Abs:
      os << "abs(";
      rec(expr.args[0], false);
      os << ")";
      return;
    case Expr::Op::Ite:
      os << "ite(";
      llvm::interleave(
          expr.args, [&](unsigned arg) { rec(arg, false); },
          [&] { os << ", "; });
      os << ")";
      return;
    default:
      if (nested)
        os << "(";
      llvm::interleave(
          expr.args, [&](unsigned arg) { rec(arg, true); },
          [&] { os << getInfix(expr.op); });
      if (nested)
        os << ")";
    }
  };
  rec(id, false);
  if (text.size() > maxLength)
    return text.substr(0, maxLength) + "...";
  return text;
}

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
  for (Int128 x : {a.lo, a.hi})
    for (Int128 y : {b.lo, b.hi}) {
      Int128 product;
      if (__builtin_mul_overflow(x, y, &product)) {
        product = (x < 0) == (y < 0) ? bound : -bound;
        undefined = true;
      }
      lo = std::min(lo, product);
      hi = std::max(hi, product);
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
  for (Int128 x : {a.lo, a.hi})
    for (Int128 y : {b.lo, b.hi}) {
      lo = std::min(lo, euclideanDivide(x, y));
      hi = std::max(hi, euclideanDivide(x, y));
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

//===----------------------------------------------------------------------===//
// Regions of the SMT dialect
//===----------------------------------------------------------------------===//

namespace {
/// Compiles the values of one region on demand.
class RegionCompiler {
public:
  RegionCompiler(Region &region, ArrayRef<unsigned> args, ExprPool &pool)
      : region(region), pool(pool) {
    for (auto [value, expr] : llvm::zip_equal(region.getArguments(), args))
      known[value] = expr;
  }

  LogicalResult run(std::vector<std::pair<unsigned, Location>> &asserted,
                    std::vector<unsigned> &yielded) {
    findDefinitions();
    for (Operation &op : region.front()) {
      if (auto yield = dyn_cast<smt::YieldOp>(op)) {
        for (Value value : yield.getValues()) {
          FailureOr<unsigned> expr = compile(value);
          if (failed(expr))
            return failure();
          yielded.push_back(*expr);
        }
        continue;
      }
      if (auto assertion = dyn_cast<smt::AssertOp>(op)) {
        FailureOr<unsigned> expr = compile(assertion.getInput());
        if (failed(expr))
          return failure();
        asserted.emplace_back(*expr, assertion.getLoc());
        continue;
      }
      // Unused values are looked at as well: an operation that cannot be
      // evaluated is an error wherever it stands.
      if (op.getNumResults() == 0)
        return op.emitError() << "'" << op.getName()
                              << "' in a constraint cannot be evaluated";
      if (!isa<smt::DeclareFunOp>(op))
        for (Value result : op.getResults())
          if (failed(compile(result)))
            return failure();
    }
    return success();
  }

private:
  /// A declared symbol can be evaluated when an assertion equates it with
  /// something that does not depend on it.
  void findDefinitions() {
    for (auto assertion : region.getOps<smt::AssertOp>()) {
      auto equality = assertion.getInput().getDefiningOp<smt::EqOp>();
      if (!equality || equality.getInputs().size() != 2)
        continue;
      for (unsigned side : {0, 1}) {
        Value symbol = equality.getInputs()[side];
        if (symbol.getDefiningOp<smt::DeclareFunOp>())
          definitions[symbol].push_back(equality.getInputs()[1 - side]);
      }
    }
  }

  bool dependsOn(Value value, Value symbol, llvm::DenseSet<Value> &seen) {
    if (value == symbol)
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(value).second)
      return false;
    if (isa<smt::DeclareFunOp>(op)) {
      auto it = definitions.find(value);
      return it == definitions.end() ||
             llvm::all_of(it->second, [&](Value definition) {
               return dependsOn(definition, symbol, seen);
             });
    }
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return dependsOn(operand, symbol, seen);
    });
  }

  FailureOr<unsigned> compileSymbol(smt::DeclareFunOp op) {
    for (Value definition : definitions.lookup(op.getResult())) {
      llvm::DenseSet<Value> seen;
      if (!dependsOn(definition, op.getResult(), seen))
        return compile(definition);
    }
    return op.emitError()
           << "'smt.declare_fun' in a constraint needs an asserted 'smt.eq' "
              "with an expression over the parameters that defines it";
  }

  FailureOr<unsigned> compile(Value value) {
    auto it = known.find(value);
    if (it != known.end())
      return it->second;
    Operation *op = value.getDefiningOp();
    if (!op || op->getParentRegion() != &region)
      return emitError(value.getLoc())
             << "a constraint may only use values of its own region";
    FailureOr<unsigned> result = compileOp(op);
    if (succeeded(result))
      known[value] = *result;
    return result;
  }

  FailureOr<unsigned> compileOp(Operation *op) {
    using Op = Expr::Op;
    if (auto symbol = dyn_cast<smt::DeclareFunOp>(op))
      return compileSymbol(symbol);
    if (auto constant = dyn_cast<smt::IntConstantOp>(op)) {
      if (!constant.getValue().isSignedIntN(64))
        return op->emitError() << "'smt.int.constant' in a constraint does "
                                  "not fit 64 bits";
      return pool.constant(constant.getValue().getSExtValue());
    }
    if (auto constant = dyn_cast<smt::BoolConstantOp>(op))
      return pool.add(Expr(Op::Bool, constant.getValue()));
    auto code = llvm::TypeSwitch<Operation *, std::optional<Op>>(op)
                    .Case<smt::IntAddOp>([](auto) { return Op::Add; })
                    .Case<smt::IntSubOp>([](auto) { return Op::Sub; })
                    .Case<smt::IntMulOp>([](auto) { return Op::Mul; })
                    .Case<smt::IntDivOp>([](auto) { return Op::Div; })
                    .Case<smt::IntModOp>([](auto) { return Op::Mod; })
                    .Case<smt::IntAbsOp>([](auto) { return Op::Abs; })
                    .Case<smt::EqOp>([](auto) { return Op::Eq; })
                    .Case<smt::DistinctOp>([](auto) { return Op::Distinct; })
                    .Case<smt::AndOp>([](auto) { return Op::And; })
                    .Case<smt::OrOp>([](auto) { return Op::Or; })
                    .Case<smt::XOrOp>([](auto) { return Op::Xor; })
                    .Case<smt::NotOp>([](auto) { return Op::Not; })
                    .Case<smt::ImpliesOp>([](auto) { return Op::Implies; })
                    .Case<smt::IteOp>([](auto) { return Op::Ite; })
                    .Case<smt::IntCmpOp>([](smt::IntCmpOp cmp) {
                      switch (cmp.getPred()) {
                      case smt::IntPredicate::lt:
                        return Op::Lt;
                      case smt::IntPredicate::le:
                        return Op::Le;
                      case smt::IntPredicate::gt:
                        return Op::Gt;
                      case smt::IntPredicate::ge:
                        return Op::Ge;
                      }
                      llvm_unreachable("unknown predicate");
                    })
                    .Default([](Operation *) { return std::nullopt; });
    auto isScalar = [](Type type) {
      return isa<smt::IntType, smt::BoolType>(type);
    };
    if (!code || !llvm::all_of(op->getOperandTypes(), isScalar))
      return op->emitError()
             << "'" << op->getName() << "' in a constraint cannot be evaluated";
    Expr expr(*code);
    for (Value operand : op->getOperands()) {
      FailureOr<unsigned> arg = compile(operand);
      if (failed(arg))
        return failure();
      expr.args.push_back(*arg);
    }
    return pool.add(std::move(expr));
  }

  Region &region;
  ExprPool &pool;
  llvm::DenseMap<Value, unsigned> known;
  llvm::DenseMap<Value, SmallVector<Value, 1>> definitions;
};
} // namespace

LogicalResult
cwm::compileRegion(Region &region, ArrayRef<unsigned> args, ExprPool &pool,
                   std::vector<std::pair<unsigned, Location>> &asserted,
                   std::vector<unsigned> &yielded) {
  return RegionCompiler(region, args, pool).run(asserted, yielded);
}
