//===- Bind.cpp - One candidate as an upstream script -------------*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceImpl.h"

#include "cwm/Support/ErrorCapture.h"

#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/SMTExtension/SMTExtensionOps.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace cwm;

namespace {
/// Turns a clone of the schedule into the script of one candidate.
class Binder {
public:
  Binder(const Space &space, const Space::Impl &impl,
         const Assignment &assignment, ModuleOp script)
      : space(space), impl(impl), assignment(assignment), script(script) {}

  LogicalResult run() {
    findSites();
    for (auto &[op, site] : live) {
      if (auto knob = dyn_cast<transform::tune::KnobOp>(op))
        knob.setSelectedAttr(site->knob ? getOption(*site->knob)
                                        : site->fixedOption);
      if (!site->bound.empty() && failed(bindAttributes(op, *site)))
        return failure();
      if (site->isConstraint) {
        if (failed(removeConstraint(op, *site)))
          return failure();
        op = nullptr; // erased
      }
    }
    // Inner alternatives before outer ones: inlining erases what was not
    // selected.
    for (auto [op, site] : llvm::reverse(live)) {
      if (auto alternatives =
              dyn_cast_or_null<transform::tune::AlternativesOp>(op);
          alternatives && failed(inlineAlternatives(alternatives, *site)))
        return failure();
    }
    removeDeadSequences();
    stripAttributes();
    return verify(script);
  }

  /// After run().
  void collectKnobs(KnobsOfOperations &knobs) const {
    for (auto [op, site] : live) {
      if (!op)
        continue;
      std::vector<unsigned> used;
      if (site->knob)
        used.push_back(*site->knob);
      for (const BoundAttribute &bound : site->bound)
        bound.value.getKnobs(used);
      if (!used.empty())
        knobs[op].assign(used.begin(), used.end());
    }
    for (auto [constant, choices] : constants)
      for (const GuardedExpr &choice : *choices) {
        SmallVector<unsigned, 4> &used = knobs[constant];
        llvm::append_range(used, impl.exprs.getKnobs(choice.expr));
        llvm::append_range(used, llvm::make_first_range(choice.guard));
      }
  }

private:
  /// Pairs the sites with the operations of the clone. Sites that are not
  /// live are within regions or sequences that get removed.
  void findSites() {
    auto next = impl.sites.begin();
    uint64_t index = 0;
    script.walk<WalkOrder::PreOrder>([&](Operation *op) {
      bool isSite = next != impl.sites.end() && next->index == index++;
      const Site *site = isSite ? &*next++ : nullptr;
      bool isLive = site && holds(site->live, assignment);
      if (isa<transform::NamedSequenceOp>(op)) {
        if (!isLive)
          deadSequences.push_back(op);
      } else if (isLive) {
        live.emplace_back(op, site);
      }
    });
  }

  Attribute getOption(unsigned knob) const {
    return space.getKnobs()[knob].getOption(assignment[knob]);
  }

  LogicalResult bindAttributes(Operation *&op, const Site &site) {
    SmallVector<int64_t> oldSizes, oldInterchange;
    bool isTiling = getTileSizes(op, oldSizes, oldInterchange);
    for (const BoundAttribute &bound : site.bound) {
      Attribute value = bound.value.resolve(
          op->getContext(), [&](unsigned knob) { return getOption(knob); });
      Attribute converted = bound.form.convert(value);
      if (!converted)
        return op->emitError()
               << "attribute '" << bound.name.getValue() << "' of '"
               << op->getName() << "' cannot be " << value;
      setBoundAttribute(op, bound, converted);
    }
    if (!isTiling)
      return success();
    FailureOr<Operation *> rebuilt = fixLoopResults(op, oldSizes);
    if (failed(rebuilt))
      return failure();
    op = *rebuilt;
    return success();
  }

  /// The value of an expression whose knobs are all decided; nullopt when it
  /// is undefined or ambiguous (a sequence included with different values).
  std::optional<int64_t> getValue(const Choices &choices) const {
    std::optional<int64_t> result;
    for (const GuardedExpr &choice : choices) {
      if (!holds(choice.guard, assignment))
        continue;
      Interval value =
          Program(impl.exprs, choice.expr).evaluate([&](unsigned knob) {
            return impl.getPoint(knob, assignment[knob]);
          });
      if (!value.isPoint() || value.lo < INT64_MIN || value.lo > INT64_MAX ||
          (result && *result != value.lo))
        return std::nullopt;
      result = static_cast<int64_t>(value.lo);
    }
    return result;
  }

  LogicalResult removeConstraint(Operation *op, const Site &site) {
    OpBuilder builder(op);
    for (auto [position, result] : llvm::enumerate(op->getResults())) {
      if (result.use_empty())
        continue;
      std::optional<int64_t> value = getValue(site.results[position]);
      if (!value)
        return op->emitError()
               << "result #" << position
               << " of the constraint has no single 64-bit value";
      auto paramType = dyn_cast<transform::ParamType>(result.getType());
      Type type = paramType ? paramType.getType() : builder.getI64Type();
      if (!isa<IntegerType, IndexType>(type))
        return op->emitError()
               << "result #" << position << " of the constraint has type "
               << result.getType() << "; expected an integer parameter";
      Value constant = transform::ParamConstantOp::create(
          builder, op->getLoc(), result.getType(),
          IntegerAttr::get(type, *value));
      result.replaceAllUsesWith(constant);
      constants.emplace_back(constant.getDefiningOp(), &site.results[position]);
    }
    op->erase();
    return success();
  }

  /// The interpreter runs the selected region in place of the operation, so
  /// its body may stand there as well.
  LogicalResult inlineAlternatives(transform::tune::AlternativesOp op,
                                   const Site &site) {
    std::optional<int64_t> region;
    if (site.alternatives)
      region = space.getKnobs()[*site.alternatives].getInteger(
          assignment[*site.alternatives]);
    else if (!site.regionUnknown)
      region = getValue(site.regionChoices);
    if (!region)
      return success(); // left to the interpreter
    auto numRegions = static_cast<int64_t>(op.getAlternatives().size());
    if (*region < 0 || *region >= numRegions)
      return op.emitError()
             << "region " << *region << " of alternatives \"" << op.getName()
             << "\" does not exist: it has " << numRegions << " regions";
    Block &body = op.getAlternatives()[*region].front();
    Operation *yield = body.getTerminator();
    op->replaceAllUsesWith(yield->getOperands());
    yield->erase();
    op->getBlock()->getOperations().splice(op->getIterator(),
                                           body.getOperations());
    op->erase();
    return success();
  }

  void removeDeadSequences() {
    for (Operation *sequence : deadSequences)
      sequence->erase();
  }

  void stripAttributes() {
    script->walk([](Operation *op) {
      SmallVector<StringAttr, 2> ours;
      for (NamedAttribute attribute : op->getDiscardableAttrs())
        if (attribute.getName().strref().starts_with("cwm."))
          ours.push_back(attribute.getName());
      for (StringAttr name : ours)
        op->removeDiscardableAttr(name);
    });
  }

  const Space &space;
  const Space::Impl &impl;
  const Assignment &assignment;
  ModuleOp script;
  SmallVector<std::pair<Operation *, const Site *>> live;
  SmallVector<Operation *> deadSequences;
  /// What took the place of constraints' results.
  SmallVector<std::pair<Operation *, const Choices *>> constants;
};
} // namespace

FailureOr<OwningOpRef<ModuleOp>>
Space::bind(const Assignment &assignment,
            KnobsOfOperations *knobsOfOperations) const {
  assert(assignment.size() == knobs.size() && "one option for each knob");
  OwningOpRef<ModuleOp> script(cast<ModuleOp>((*impl->schedule)->clone()));
  Binder binder(*this, *impl, assignment, *script);
  if (failed(binder.run()))
    return failure();
  if (knobsOfOperations)
    binder.collectKnobs(*knobsOfOperations);
  return script;
}

llvm::Expected<OwningOpRef<ModuleOp>>
Space::tryBind(const Assignment &assignment,
               KnobsOfOperations *knobsOfOperations) const {
  ErrorCapture errors(getContext());
  FailureOr<OwningOpRef<ModuleOp>> script = bind(assignment, knobsOfOperations);
  if (succeeded(script))
    return std::move(*script);
  llvm::StringRef message = errors.getMessage();
  return llvm::createStringError(
      message.empty() ? "the schedule cannot be bound" : message);
}
