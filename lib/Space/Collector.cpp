//===- Collector.cpp - Reads the space out of a schedule ----------*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedule is walked as the interpreter would walk it: from the entry
// point, into included sequences once for each inclusion, into each region of
// alternatives under the condition that it is selected. Thereby each
// operation, knob and constraint gets the conditions under which it matters.
//
//===----------------------------------------------------------------------===//

#include "cwm/Space/Entry.h"

#include "Declarations.h"
#include "SpaceImpl.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/SMTExtension/SMTExtensionOps.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"

using namespace mlir;
using namespace cwm;
using transform::NamedSequenceOp;

namespace {
/// Includes expand to at most this many operations: schedules have hundreds.
constexpr uint64_t maxVisits = 1000000;
/// Combinations of guarded values that one operation may see.
constexpr size_t maxChoices = 4096;

class Collector {
public:
  Collector(std::vector<Knob> &knobs, const Declarations &declarations,
            Space::Impl &impl)
      : knobs(knobs), declarations(declarations), impl(impl) {
    uint64_t index = 0;
    impl.schedule->walk<WalkOrder::PreOrder>(
        [&](Operation *op) { opIndex[op] = index++; });
    uses.resize(knobs.size());
    declared.resize(knobs.size());
  }

  LogicalResult run() {
    ModuleOp module = *impl.schedule;
    bool hasEntry = false;
    for (Operation &op : *module.getBody()) {
      auto sequence = dyn_cast<NamedSequenceOp>(op);
      bool isEntry =
          sequence
              ? sequence.getSymName() ==
                    transform::TransformDialect::kTransformEntryPointSymbolName
              : isa<transform::TransformOpInterface>(op);
      if (!isEntry)
        continue;
      hasEntry = true;
      if (sequence && failed(checkEntry(sequence)))
        return failure();
      Env env;
      if (sequence ? failed(visitSequence(sequence, {}, env, &op))
                   : failed(visitOp(&op, {}, env)))
        return failure();
    }
    if (!hasEntry)
      return emitNoEntry(module);
    finish();
    return success();
  }

private:
  /// What is known of parameter values in one invocation of a sequence.
  using Env = llvm::DenseMap<Value, Choices>;

  Site &getSite(Operation *op) {
    auto [it, isNew] = siteOf.try_emplace(op, impl.sites.size());
    if (isNew) {
      impl.sites.emplace_back();
      impl.sites.back().index = opIndex.lookup(op);
    }
    return impl.sites[it->second];
  }

  void use(unsigned knob, const Guard &guard) { addGuard(uses[knob], guard); }

  //===--- Walking --------------------------------------------------------===//

  LogicalResult visitSequence(NamedSequenceOp sequence, const Guard &guard,
                              Env &env, Operation *from) {
    if (llvm::is_contained(callStack, sequence))
      return from->emitError() << "named sequence '@" << sequence.getSymName()
                               << "' includes itself";
    Site &site = getSite(sequence);
    site.isSequence = true;
    addGuard(site.live, guard);
    if (sequence.isExternal())
      return success();
    callStack.push_back(sequence);
    LogicalResult result = visitRegion(sequence.getBody(), guard, env);
    callStack.pop_back();
    return result;
  }

  LogicalResult visitRegion(Region &region, const Guard &guard, Env &env) {
    for (Block &block : region)
      for (Operation &op : block)
        if (failed(visitOp(&op, guard, env)))
          return failure();
    return success();
  }

  LogicalResult visitOp(Operation *op, const Guard &guard, Env &env) {
    if (++numVisits > maxVisits) {
      return op->emitError()
             << "the included sequences of this schedule expand "
                "to more than "
             << maxVisits << " operations";
    }
    if (isa<transform::tune::KnobOp, transform::tune::AlternativesOp,
            transform::smt::ConstrainParamsOp>(op) &&
        op->hasAttr(bindAttrName))
      return op->emitError()
             << "'cwm.bind' cannot be used on '" << op->getName() << "'";
    if (auto knob = dyn_cast<transform::tune::KnobOp>(op)) {
      unsigned index = declarations.index.lookup(knob.getName());
      Site &site = getSite(op);
      site.knob = index;
      addGuard(site.live, guard);
      if (knob.getResult().use_empty())
        addGuard(declared[index], guard);
      env[knob.getResult()] = {{Guard(), impl.exprs.knob(index)}};
      return success();
    }
    if (auto constant = dyn_cast<transform::ParamConstantOp>(op);
        constant && !isBound(op, constant.getValueAttrName())) {
      if (auto value = dyn_cast<IntegerAttr>(constant.getValue());
          value && value.getValue().isSignedIntN(64))
        env[constant.getResult()] = {
            {Guard(), impl.exprs.constant(value.getValue().getSExtValue())}};
      return success();
    }
    if (auto constraint = dyn_cast<transform::smt::ConstrainParamsOp>(op))
      return visitConstraint(constraint, guard, env);
    if (auto alternatives = dyn_cast<transform::tune::AlternativesOp>(op))
      return visitAlternatives(alternatives, guard, env);

    if (failed(visitBindings(op, guard)))
      return failure();
    if (auto constant = dyn_cast<transform::ParamConstantOp>(op)) {
      const BoundAttribute &bound = getSite(op).bound.front();
      if (bound.value.kind == BindTemplate::Kind::Knob &&
          bound.form.kind == AttributeForm::Kind::Integer)
        env[constant.getResult()] = {
            {Guard(), impl.exprs.knob(bound.value.knob)}};
      return success();
    }
    if (auto include = dyn_cast<transform::IncludeOp>(op);
        include && !isBound(op, include.getTargetAttrName()))
      return visitInclude(include, guard, env);
    if (!isa<transform::YieldOp>(op))
      useOperands(op, guard, env);
    if (failed(visitSymbols(op, op->getAttrDictionary(), guard)))
      return failure();
    for (Region &region : op->getRegions())
      if (failed(visitRegion(region, guard, env)))
        return failure();
    return success();
  }

  void useOperands(Operation *op, const Guard &guard, const Env &env) {
    for (Value operand : op->getOperands())
      useValue(operand, guard, env);
  }

  void useValue(Value value, const Guard &guard, const Env &env) {
    for (const GuardedExpr &choice : env.lookup(value))
      if (std::optional<Guard> both = conjoin(guard, choice.guard))
        for (unsigned knob : impl.exprs.getKnobs(choice.expr))
          use(knob, *both);
  }

  //===--- Included sequences ---------------------------------------------===//

  LogicalResult visitInclude(transform::IncludeOp include, const Guard &guard,
                             Env &env) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<NamedSequenceOp>(
        include, include.getTarget());
    if (!callee || callee.isExternal()) {
      useOperands(include, guard, env);
      if (callee) {
        getSite(callee).isSequence = true;
        addGuard(getSite(callee).live, guard);
      }
      return success();
    }
    Env inner;
    for (auto [argument, operand] :
         llvm::zip(callee.getBody().getArguments(), include.getOperands()))
      if (auto it = env.find(operand); it != env.end())
        inner[argument] = it->second;
    if (failed(visitSequence(callee, guard, inner, include)))
      return failure();
    Operation *yield = callee.getBody().front().getTerminator();
    for (auto [result, value] :
         llvm::zip(include.getResults(), yield->getOperands()))
      if (auto it = inner.find(value); it != inner.end())
        env[result] = it->second;
    return success();
  }

  /// Sequences named by attributes (foreach_match and the like): their
  /// arguments are unknown.
  LogicalResult visitSymbols(Operation *op, DictionaryAttr attributes,
                             const Guard &guard) {
    for (NamedAttribute entry : attributes)
      if (entry.getName() != bindAttrName && !isBound(op, entry.getName()) &&
          failed(visitSymbolsOf(op, entry.getValue(), guard)))
        return failure();
    return success();
  }

  LogicalResult visitSymbolsOf(Operation *op, Attribute attr,
                               const Guard &guard) {
    WalkResult walk = attr.walk([&](SymbolRefAttr symbol) {
      auto callee =
          SymbolTable::lookupNearestSymbolFrom<NamedSequenceOp>(op, symbol);
      Env inner;
      if (callee && failed(visitSequence(callee, guard, inner, op)))
        return WalkResult::interrupt();
      // A nested reference names one symbol, not each of its parts.
      return WalkResult::skip();
    });
    return failure(walk.wasInterrupted());
  }

  //===--- Alternatives ---------------------------------------------------===//

  LogicalResult visitAlternatives(transform::tune::AlternativesOp op,
                                  const Guard &guard, Env &env) {
    unsigned numRegions = op.getAlternatives().size();
    addGuard(getSite(op).live, guard);
    // The guard under which each region runs, one list per region.
    std::vector<std::vector<Guard>> regionGuards(numRegions);
    if (Value param = op.getSelectedRegionParam()) {
      useValue(param, guard, env);
      Choices choices = env.lookup(param);
      getSite(op).regionChoices =
          mergeChoices(getSite(op).regionChoices, choices, guard);
      getSite(op).regionUnknown |= choices.empty();
      if (failed(selectByParam(op, choices, regionGuards)))
        return failure();
    } else if (std::optional<APInt> fixed = op.getSelectedRegionAttr()) {
      auto region = static_cast<int64_t>(fixed->getLimitedValue(INT64_MAX));
      getSite(op).regionChoices = {{Guard(), impl.exprs.constant(region)}};
      if (region < numRegions)
        regionGuards[region].push_back({});
    } else {
      unsigned knob = declarations.index.lookup(op.getName());
      getSite(op).alternatives = knob;
      use(knob, guard);
      for (unsigned region = 0; region < numRegions; ++region)
        if (std::optional<uint64_t> option =
                knobs[knob].findOption(std::to_string(region)))
          regionGuards[region].push_back({{knob, *option}});
    }
    std::vector<Choices> results(op->getNumResults());
    std::vector<bool> known(op->getNumResults(), true);
    for (unsigned region = 0; region < numRegions; ++region) {
      for (const Guard &selected : regionGuards[region]) {
        std::optional<Guard> both = conjoin(guard, selected);
        if (!both)
          continue;
        if (failed(visitRegion(op.getAlternatives()[region], *both, env)))
          return failure();
        Operation *yield = op.getAlternatives()[region].front().getTerminator();
        for (auto [position, value] : llvm::enumerate(yield->getOperands())) {
          auto it = env.find(value);
          if (it == env.end()) {
            known[position] = false;
            continue;
          }
          for (const GuardedExpr &choice : it->second)
            if (std::optional<Guard> inner = conjoin(choice.guard, selected))
              results[position].push_back({*inner, choice.expr});
        }
      }
    }
    for (auto [position, result] : llvm::enumerate(op->getResults()))
      if (known[position] && results[position].size() <= maxChoices)
        env[result] = results[position];
    return success();
  }

  LogicalResult selectByParam(transform::tune::AlternativesOp op,
                              const Choices &choices,
                              std::vector<std::vector<Guard>> &regionGuards) {
    unsigned numRegions = regionGuards.size();
    auto selectAll = [&](const Guard &guard) {
      for (std::vector<Guard> &guards : regionGuards)
        guards.push_back(guard);
    };
    if (choices.empty())
      selectAll({});
    for (const GuardedExpr &choice : choices) {
      const Expr &expr = impl.exprs.get(choice.expr);
      if (expr.op == Expr::Op::Constant) {
        if (expr.value >= 0 && expr.value < numRegions)
          regionGuards[expr.value].push_back(choice.guard);
        continue;
      }
      if (expr.op != Expr::Op::Knob) {
        selectAll(choice.guard);
        continue;
      }
      const Knob &knob = knobs[expr.knob];
      for (uint64_t option = 0; option < knob.getNumOptions(); ++option) {
        std::optional<int64_t> region = knob.getInteger(option);
        if (!region || *region < 0 || *region >= numRegions) {
          return op.emitError()
                 << "option " << knob.getOptionText(option) << " of knob \""
                 << knob.name << "\" is not one of the " << numRegions
                 << " regions of alternatives \"" << op.getName().getValue()
                 << "\"";
        }
        if (std::optional<Guard> guard =
                conjoin(choice.guard, expr.knob, option))
          regionGuards[*region].push_back(*guard);
      }
    }
    return success();
  }

  /// The values an operation sees over all its invocations.
  static Choices mergeChoices(Choices known, const Choices &added,
                              const Guard &guard) {
    for (const GuardedExpr &choice : added)
      if (std::optional<Guard> both = conjoin(choice.guard, guard))
        known.push_back({*both, choice.expr});
    return known;
  }

  //===--- Bindings -------------------------------------------------------===//

  static bool isBound(Operation *op, StringAttr name) {
    auto bind =
        dyn_cast_or_null<DictionaryAttr>(op->getDiscardableAttr(bindAttrName));
    return bind && bind.get(name);
  }

  LogicalResult visitBindings(Operation *op, const Guard &guard) {
    auto bind =
        dyn_cast_or_null<DictionaryAttr>(op->getDiscardableAttr(bindAttrName));
    if (!bind)
      return success();
    bool firstVisit = !siteOf.count(op);
    addGuard(getSite(op).live, guard);
    if (firstVisit) {
      for (NamedAttribute entry : bind)
        if (failed(readBinding(op, entry, knobs, declarations.index,
                               getSite(op).bound.emplace_back())))
          return failure();
    }
    // A copy: visiting may add sites.
    std::vector<BoundAttribute> bound = getSite(op).bound;
    for (const BoundAttribute &attribute : bound) {
      std::vector<unsigned> mentioned;
      attribute.value.getKnobs(mentioned);
      for (unsigned knob : mentioned)
        use(knob, guard);
      if (failed(visitBoundSymbols(op, attribute.value, guard)))
        return failure();
    }
    return success();
  }

  /// Which sequence is included may itself be a decision.
  LogicalResult visitBoundSymbols(Operation *op, const BindTemplate &value,
                                  const Guard &guard) {
    if (value.kind == BindTemplate::Kind::Literal)
      return visitSymbolsOf(op, value.literal, guard);
    for (const BindTemplate &child : value.children)
      if (failed(visitBoundSymbols(op, child, guard)))
        return failure();
    if (value.kind != BindTemplate::Kind::Knob || !knobs[value.knob].list)
      return success();
    for (auto [option, attr] : llvm::enumerate(knobs[value.knob].list))
      if (std::optional<Guard> selected = conjoin(guard, value.knob, option))
        if (failed(visitSymbolsOf(op, attr, *selected)))
          return failure();
    return success();
  }

  //===--- Constraints ----------------------------------------------------===//

  LogicalResult visitConstraint(transform::smt::ConstrainParamsOp op,
                                const Guard &guard, Env &env) {
    useOperands(op, guard, env);
    Site &site = getSite(op);
    addGuard(site.live, guard);
    site.isConstraint = true;
    site.results.resize(op->getNumResults());

    // Each combination of what the operands may be is a constraint of its own.
    std::vector<std::pair<Guard, std::vector<unsigned>>> combinations{
        {guard, {}}};
    for (auto [position, operand, argument] :
         llvm::enumerate(op.getParams(), op.getBody().getArguments())) {
      if (!isa<mlir::smt::IntType, mlir::smt::BoolType>(argument.getType()))
        return op.emitError()
               << "argument #" << position << " of the constraint has type "
               << argument.getType() << "; expected !smt.int or !smt.bool";
      auto it = env.find(operand);
      if (it == env.end()) {
        return op.emitError()
               << "operand #" << position
               << " of the constraint is not a knob, an integer constant or "
                  "computed from these by constraints";
      }
      decltype(combinations) next;
      for (const auto &[known, args] : combinations) {
        for (const GuardedExpr &choice : it->second) {
          if (std::optional<Guard> both = conjoin(known, choice.guard)) {
            next.emplace_back(*both, args);
            next.back().second.push_back(choice.expr);
          }
        }
      }
      combinations = std::move(next);
      if (combinations.size() > maxChoices)
        return op.emitError()
               << "the operands of the constraint have more than " << maxChoices
               << " combinations";
    }
    for (unsigned position = 0; position < op->getNumResults(); ++position)
      env[op->getResult(position)] = {};
    for (const auto &[combined, args] : combinations)
      if (failed(compileConstraint(op, combined, args, env)))
        return failure();
    return success();
  }

  LogicalResult compileConstraint(transform::smt::ConstrainParamsOp op,
                                  const Guard &guard, ArrayRef<unsigned> args,
                                  Env &env) {
    std::vector<std::pair<unsigned, Location>> asserted;
    std::vector<unsigned> yielded;
    if (failed(
            compileRegion(op.getBody(), args, impl.exprs, asserted, yielded)))
      return failure();
    // Knobs are integers here: the verifier allows parameters of integer type
    // only, and options have the type of their parameter.
    for (auto [expr, location] : asserted)
      impl.constraints.push_back(
          {guard, expr, Program(impl.exprs, expr), location});
    for (auto [position, expr] : llvm::enumerate(yielded)) {
      env[op->getResult(position)].push_back({guard, expr});
      getSite(op).results[position].push_back({guard, expr});
    }
    return success();
  }

  //===--- Result ---------------------------------------------------------===//

  /// Drops knobs that no candidate ever uses and renumbers the others.
  void finish() {
    // A knob whose value goes nowhere counts where it is declared, so that it
    // is reported as inert rather than lost.
    for (auto [knob, guards] : llvm::enumerate(uses))
      if (guards.empty())
        guards = declared[knob];
    std::vector<std::optional<unsigned>> number(knobs.size());
    std::vector<Knob> kept;
    for (unsigned knob = 0; knob < knobs.size(); ++knob) {
      if (uses[knob].empty())
        continue;
      number[knob] = kept.size();
      kept.push_back(knobs[knob]);
    }
    auto renumber = [&](Guard &guard) {
      for (auto &condition : guard)
        condition.first = *number[condition.first];
    };
    for (unsigned knob = 0; knob < knobs.size(); ++knob) {
      if (!number[knob])
        continue;
      Knob &result = kept[*number[knob]];
      result.liveWhen = uses[knob];
      for (Guard &guard : result.liveWhen)
        renumber(guard);
      if (result.liveWhen.size() == 1 && result.liveWhen.front().empty())
        result.liveWhen.clear();
      impl.knobIndex[result.name] = *number[knob];
    }
    auto renumberChoices = [&](Choices &choices) {
      for (GuardedExpr &choice : choices)
        renumber(choice.guard);
    };
    impl.exprs.renumberKnobs(
        [&](unsigned knob) { return number[knob].value_or(0); });
    for (Site &site : impl.sites) {
      for (Guard &guard : site.live)
        renumber(guard);
      if (site.knob) {
        const Knob &knob = knobs[*site.knob];
        site.fixedOption = knob.getOption(knob.defaultIndex);
        site.knob = number[*site.knob];
      }
      if (site.alternatives)
        site.alternatives = number[*site.alternatives];
      renumberChoices(site.regionChoices);
      for (Choices &choices : site.results)
        renumberChoices(choices);
      for (BoundAttribute &bound : site.bound)
        bound.value.renumberKnobs([&](unsigned knob) { return *number[knob]; });
    }
    for (Constraint &constraint : impl.constraints) {
      renumber(constraint.guard);
      constraint.program.renumberKnobs(
          [&](unsigned knob) { return *number[knob]; });
    }
    llvm::sort(impl.sites,
               [](const Site &a, const Site &b) { return a.index < b.index; });
    knobs = std::move(kept);
  }

  std::vector<Knob> &knobs;
  const Declarations &declarations;
  Space::Impl &impl;
  llvm::DenseMap<Operation *, uint64_t> opIndex;
  llvm::DenseMap<Operation *, size_t> siteOf;
  std::vector<GuardSet> uses, declared;
  SmallVector<NamedSequenceOp> callStack;
  uint64_t numVisits = 0;
};
} // namespace

LogicalResult cwm::collectSpace(StringRef name, std::vector<Knob> &knobs,
                                Space::Impl &impl,
                                const llvm::StringMap<ArrayAttr> &options,
                                const llvm::StringMap<uint64_t> &defaults) {
  Declarations declarations;
  if (failed(readDeclarations(name, *impl.schedule, options, defaults,
                              declarations)))
    return failure();
  knobs = declarations.knobs;
  return Collector(knobs, declarations, impl).run();
}
