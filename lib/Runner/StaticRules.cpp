//===- StaticRules.cpp - Refuse known killers by rule -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/StaticRules.h"

#include "mlir/Dialect/Linalg/TransformOps/LinalgTransformOps.h"
#include "mlir/Dialect/SCF/TransformOps/SCFTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::transform;

namespace cwm {

namespace {

/// One entry of a size list: known, known to be no integer, or unknown.
struct Size {
  std::optional<int64_t> value;
  bool notAnInteger = false;
};

using Violation = std::optional<std::string>;

} // namespace

/// What is statically known of the attribute a param carries.
static Size getSizeOfAttribute(Attribute attribute) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attribute)) {
    if (integer.getValue().getSignificantBits() <= 64)
      return {integer.getValue().getSExtValue()};
    return {std::nullopt, true};
  }
  return {std::nullopt, attribute != nullptr};
}

static Size getSize(OpFoldResult entry) {
  if (auto attribute = dyn_cast<Attribute>(entry))
    return getSizeOfAttribute(attribute);
  Operation *def = cast<Value>(entry).getDefiningOp();
  if (auto constant = dyn_cast_or_null<ParamConstantOp>(def))
    return getSizeOfAttribute(constant.getValue());
  if (auto knob = dyn_cast_or_null<tune::KnobOp>(def))
    return getSizeOfAttribute(knob.getSelectedAttr());
  return {};
}

static SmallVector<Size> getSizes(ArrayRef<OpFoldResult> entries) {
  return llvm::map_to_vector(entries, getSize);
}

static SmallVector<Size> getSizes(ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [](int64_t value) { return Size{value}; });
}

/// Joins static sizes with the params that stand for their dynamic entries.
static SmallVector<Size> getSizes(ArrayRef<int64_t> values,
                                  ValueRange dynamic) {
  SmallVector<Size> sizes;
  auto next = dynamic.begin();
  for (int64_t value : values) {
    if (value != ShapedType::kDynamic)
      sizes.push_back({value});
    else if (next != dynamic.end())
      sizes.push_back(getSize(*next++));
  }
  return sizes;
}

static SmallVector<Size> getSizes(ArrayAttr values) {
  return llvm::map_to_vector(values, getSizeOfAttribute);
}

/// Every size must be an integer of at least `minimum`.
static Violation checkAtLeast(ArrayRef<Size> sizes, int64_t minimum,
                              StringRef what) {
  for (Size size : sizes) {
    if (size.notAnInteger)
      return (what + " must be integers").str();
    if (size.value && *size.value < minimum)
      return (what + " must be at least " + Twine(minimum) + ", got " +
              Twine(*size.value))
          .str();
  }
  return std::nullopt;
}

static Violation checkNotAllZero(ArrayRef<Size> sizes, StringRef what) {
  if (!sizes.empty() &&
      llvm::all_of(sizes, [](Size size) { return size.value == int64_t(0); }))
    return (what + " must not all be 0").str();
  return std::nullopt;
}

static Violation checkPermutation(ArrayRef<int64_t> values, StringRef what) {
  // A dynamic entry says nothing.
  if (llvm::is_contained(values, ShapedType::kDynamic))
    return std::nullopt;
  SmallVector<int64_t> sorted(values);
  llvm::sort(sorted);
  for (auto [position, value] : llvm::enumerate(sorted))
    if (value != static_cast<int64_t>(position))
      return (what + " must be a permutation").str();
  return std::nullopt;
}

static Violation checkVectorSizes(ArrayRef<Size> sizes) {
  if (Violation violation = checkAtLeast(sizes, 1, "vector sizes"))
    return violation;
  // Compared step by step: the product itself may overflow.
  int64_t product = 1;
  for (Size size : sizes) {
    int64_t value = size.value.value_or(1);
    if (value > maxVectorElements / product)
      return ("the product of the vector sizes must be at most " +
              Twine(maxVectorElements))
          .str();
    product *= value;
  }
  return std::nullopt;
}

/// First of several checks that found something.
static Violation firstOf(std::initializer_list<Violation> violations) {
  for (const Violation &violation : violations)
    if (violation)
      return violation;
  return std::nullopt;
}

static Violation checkForall(ArrayRef<Size> tileSizes,
                             ArrayRef<Size> numThreads) {
  return firstOf({checkAtLeast(tileSizes, 0, "tile sizes"),
                  checkNotAllZero(tileSizes, "tile sizes"),
                  checkAtLeast(numThreads, 0, "thread counts"),
                  checkNotAllZero(numThreads, "thread counts")});
}

static Violation checkOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, Violation>(op)
      .Case([](TileUsingForOp op) {
        return firstOf(
            {checkAtLeast(getSizes(op.getMixedSizes()), 0, "tile sizes"),
             checkPermutation(op.getInterchange(), "interchange")});
      })
      .Case([](TileUsingForallOp op) {
        return checkForall(
            getSizes(op.getStaticTileSizes(), op.getTileSizes()),
            getSizes(op.getStaticNumThreads(), op.getNumThreads()));
      })
      .Case([](FuseOp op) {
        return firstOf(
            {checkAtLeast(getSizes(op.getMixedTileSizes()), 0, "tile sizes"),
             checkPermutation(op.getStaticTileInterchange(),
                              "tile interchange")});
      })
      .Case([](TileReductionUsingForOp op) {
        return checkAtLeast(getSizes(op.getTileSizes()), 0, "tile sizes");
      })
      .Case([](TileReductionUsingForallOp op) {
        return firstOf(
            {checkAtLeast(getSizes(op.getTileSizes()), 0, "tile sizes"),
             checkAtLeast(getSizes(op.getNumThreads()), 0, "thread counts")});
      })
      .Case([](SplitOp op) {
        // A multiway split takes its sizes from a handle.
        if (op.getMultiway())
          return Violation();
        SmallVector<Value> dynamic;
        if (Value size = op.getDynamicChunkSizes())
          dynamic.push_back(size);
        return firstOf(
            {checkAtLeast(
                 getSizes({int64_t(op.getStaticChunkSizes())}, dynamic), 1,
                 "the split point"),
             checkAtLeast({{int64_t(op.getDimension())}}, 0, "the dimension")});
      })
      .Case([](MultiTileSizesOp op) {
        return firstOf(
            {checkAtLeast({{int64_t(op.getDimension())}}, 0, "the dimension"),
             checkAtLeast({{int64_t(op.getTargetSize())}}, 1,
                          "the target size"),
             checkAtLeast({{int64_t(op.getDivisor())}}, 1, "the divisor")});
      })
      .Case([](ContinuousTileSizesOp op) {
        return checkAtLeast({{int64_t(op.getTargetSize())}}, 1,
                            "the target size");
      })
      .Case([](PackOp op) {
        return checkAtLeast(getSizes(op.getMixedPackedSizes()), 0,
                            "packed sizes");
      })
      .Case([](PadOp op) {
        return firstOf({checkAtLeast(getSizes(op.getMixedPadToMultipleOf()), 1,
                                     "pad_to_multiple_of"),
                        checkAtLeast(getSizes(op.getPaddingDimensions()), 0,
                                     "padding dimensions")});
      })
      .Case([](PadTilingInterfaceOp op) {
        return checkAtLeast(getSizes(op.getMixedPaddingSizes()), 0,
                            "padding sizes");
      })
      .Case([](HoistPadOp op) {
        return checkAtLeast({{int64_t(op.getNumLoops())}}, 1,
                            "the number of loops");
      })
      .Case([](VectorizeOp op) {
        return checkVectorSizes(getSizes(op.getMixedVectorSizes()));
      })
      .Case([](GetProducerOfOperand op) {
        return checkAtLeast({{int64_t(op.getOperandNumber())}}, 0,
                            "the operand number");
      })
      .Case([](GetConsumersOfResult op) {
        return checkAtLeast({{int64_t(op.getResultNumber())}}, 0,
                            "the result number");
      })
      .Case<LoopUnrollOp, LoopUnrollAndJamOp>([](auto op) {
        if (int64_t(op.getFactor()) <= maxUnrollFactor)
          return Violation();
        return Violation(("the factor must be at most " +
                          Twine(maxUnrollFactor) + ", got " +
                          Twine(op.getFactor()))
                             .str());
      })
      .Case([](LoopPipelineOp op) {
        return firstOf({checkAtLeast({{int64_t(op.getIterationInterval())}}, 1,
                                     "the iteration interval"),
                        checkAtLeast({{int64_t(op.getReadLatency())}}, 1,
                                     "the read latency")});
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// True inside a region of transform.tune.alternatives that is not selected.
static bool isUnselected(Operation *op) {
  for (Region *region = op->getParentRegion(); region;
       region = region->getParentRegion()) {
    auto alternatives = dyn_cast<tune::AlternativesOp>(region->getParentOp());
    if (!alternatives)
      continue;
    IntegerAttr selected = alternatives.getSelectedRegionAttrAttr();
    if (selected &&
        selected.getValue().getZExtValue() != region->getRegionNumber())
      return true;
  }
  return false;
}

std::optional<std::string> findRuleViolation(ModuleOp script) {
  std::optional<std::string> message;
  script->walk([&](Operation *op) {
    Violation violation = checkOp(op);
    if (!violation || isUnselected(op))
      return WalkResult::advance();
    message.emplace();
    llvm::raw_string_ostream out(*message);
    out << "'" << op->getName() << "' op ";
    if (auto place = dyn_cast<FileLineColLoc>(op->getLoc()))
      out << "at " << place.getLine() << ":" << place.getColumn() << " ";
    out << "refused: " << *violation;
    return WalkResult::interrupt();
  });
  return message;
}

} // namespace cwm
