//===- Expr.cpp - Expressions over knobs ------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expr.h"

#include "llvm/Support/raw_ostream.h"

#include <functional>

using namespace mlir;
using namespace cwm;

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
    for (unsigned arg : exprs[current].args) {
      if (!seen[arg]) {
        seen[arg] = true;
        stack.push_back(arg);
      }
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
