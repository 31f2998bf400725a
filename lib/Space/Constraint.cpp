//===- Constraint.cpp - Constraints over knobs ------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraint.h"

#include "mlir/Dialect/SMT/IR/SMTOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cwm;

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
