//===- NumericCheck.cpp - Compare results with a reference ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/NumericCheck.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace llvm;

namespace cwm {

int64_t getReductionLength(mlir::ModuleOp payload,
                           function_ref<bool(mlir::Type)> counts) {
  int64_t length = 0;
  payload->walk([&](mlir::linalg::LinalgOp op) {
    int64_t product = 1;
    bool reduces = false;
    for (auto [extent, iterator] :
         zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
      if (iterator == mlir::utils::IteratorType::reduction) {
        reduces = true;
        product *= std::max<int64_t>(1, extent);
      }
    if (reduces && (!counts || counts(mlir::getElementTypeOrSelf(
                                   op.getDpsInits().front().getType()))))
      length += product;
  });
  return length;
}

/// Unit roundoff of the elements of `type`; 0 for other than floats.
static double getUnitRoundoff(mlir::Type type) {
  auto real = dyn_cast<mlir::FloatType>(mlir::getElementTypeOrSelf(type));
  return real ? std::ldexp(1.0, -int(real.getFPMantissaWidth())) : 0;
}

/// Calls `look` with the types that values of `payload` are rounded to:
/// operands that are only widened do not count.
static void forEachRounding(mlir::ModuleOp payload,
                            function_ref<void(mlir::Type)> look) {
  payload->walk([&](mlir::Operation *op) {
    if (auto entry = dyn_cast<mlir::func::FuncOp>(op)) {
      for (mlir::Type type : entry.getResultTypes())
        look(type);
      return;
    }
    // Only linalg ops without a body compute by themselves (softmax).
    bool isArithmetic =
        isa_and_present<mlir::arith::ArithDialect, mlir::math::MathDialect>(
            op->getDialect()) &&
        !op->hasTrait<mlir::OpTrait::ConstantLike>() &&
        !isa<mlir::arith::ExtFOp, mlir::arith::SelectOp>(op);
    bool isWhole =
        isa_and_present<mlir::linalg::LinalgDialect>(op->getDialect()) &&
        op->getNumRegions() == 0;
    if (isArithmetic || isWhole)
      for (mlir::Type type : op->getResultTypes())
        look(type);
  });
}

double getRoundoff(mlir::ModuleOp payload) {
  double roundoff = getUnitRoundoff(ElementKind::F64);
  forEachRounding(payload, [&](mlir::Type type) {
    roundoff = std::max(roundoff, getUnitRoundoff(type));
  });
  return roundoff;
}

double getTolerance(mlir::ModuleOp payload) {
  SmallVector<double, 4> roundoffs;
  forEachRounding(payload, [&](mlir::Type type) {
    if (!is_contained(roundoffs, getUnitRoundoff(type)))
      roundoffs.push_back(getUnitRoundoff(type));
  });
  double tolerance = 0;
  for (double roundoff : roundoffs) {
    // Of sums that are rounded at each step to this type, or are no floats.
    double length = double(getReductionLength(payload, [&](mlir::Type sum) {
      double own = getUnitRoundoff(sum);
      return own == 0 || own == roundoff;
    }));
    double constant = roundoff > getUnitRoundoff(ElementKind::F32) ? 8 : 64;
    tolerance =
        std::max(tolerance, roundoff * (constant + 16 * std::sqrt(length)));
  }
  return std::min(0.25, tolerance);
}

Tolerance widenTolerance(double tolerance, double roundoff,
                         const Deviation &own, bool fromFloats,
                         int64_t numElements) {
  constexpr int64_t factor = 32;
  Tolerance wide =
      std::max(tolerance, std::min(factor * own.relative, std::sqrt(roundoff)));
  if (fromFloats) {
    wide.numDifferent = std::min(factor * own.numDifferent + 4,
                                 std::max(own.numDifferent, numElements / 64));
    wide.step = factor * own.step + 1;
  }
  return wide;
}

static bool isFloatValue(mlir::Value value) {
  return isa<mlir::FloatType>(mlir::getElementTypeOrSelf(value.getType()));
}

bool dependsOnFloats(const Payload &payload, size_t index) {
  mlir::func::FuncOp entry = payload.getEntry();
  mlir::Operation *terminator = entry.getBody().front().getTerminator();
  SmallVector<mlir::Value> work = {terminator->getOperand(unsigned(index))};
  DenseSet<mlir::Value> seen;
  while (!work.empty()) {
    mlir::Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (isFloatValue(value))
      return true;
    mlir::Operation *op = value.getDefiningOp();
    if (!op)
      continue;
    append_range(work, op->getOperands());
    // Bodies are small, and may compute in floats between integers.
    mlir::WalkResult walk = op->walk([](mlir::Operation *inner) {
      return any_of(inner->getResults(), isFloatValue)
                 ? mlir::WalkResult::interrupt()
                 : mlir::WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return true;
  }
  return false;
}

/// "[1, 2, 3]" of a linear index.
static std::string formatIndex(const TensorSpec &spec, int64_t linear) {
  SmallVector<int64_t> index(spec.shape.size());
  for (size_t i = spec.shape.size(); i-- > 0;) {
    index[i] = linear % spec.shape[i];
    linear /= spec.shape[i];
  }
  return formatv("[{0}]", make_range(index.begin(), index.end()));
}

static std::string formatNumber(double value) {
  std::string text;
  raw_string_ostream(text) << format("%.9g", value);
  return text;
}

/// Largest finite value; a result of larger magnitude is infinite.
static double getLargest(ElementKind kind) {
  switch (kind) {
  case ElementKind::F64:
    return std::numeric_limits<double>::max();
  case ElementKind::F16:
    return 65504;
  case ElementKind::BF16:
    return 0x1.fep127;
  default:
    return std::numeric_limits<float>::max();
  }
}

static double getRootMeanSquare(ArrayRef<double> values) {
  double sum = 0;
  int64_t count = 0;
  for (double value : values)
    if (std::fabs(value) <= hugeMagnitude) {
      sum += value * value;
      ++count;
    }
  return count ? std::sqrt(sum / double(count)) : 0;
}

namespace {
/// Elements that differ: how many, and the first one.
struct Differences {
  int64_t count = 0, first = 0;
  double actual = 0, expected = 0;
  void add(int64_t index, double got, double wanted) {
    if (count++ == 0) {
      first = index;
      actual = got;
      expected = wanted;
    }
  }
};
} // namespace

static CheckOutcome describe(StringRef name, const TensorSpec &spec,
                             const Differences &found, double maxError) {
  CheckOutcome outcome;
  outcome.ok = found.count == 0;
  // Stored as JSON, which has no infinity.
  outcome.maxError = std::min(maxError, 1e30);
  if (!outcome.ok)
    outcome.message = formatv(
        "{0} differs at {1} of {2} elements, first at {3}: got {4}, expected "
        "{5}",
        name, found.count, spec.getNumElements(),
        formatIndex(spec, found.first), formatNumber(found.actual),
        formatNumber(found.expected));
  return outcome;
}

/// What differs by less underflowed: 64 times the smallest subnormal number.
static double getUnderflow(ElementKind kind) {
  switch (kind) {
  case ElementKind::F64:
    return 64 * std::numeric_limits<double>::denorm_min();
  case ElementKind::F16:
    return 0x1p-18;
  case ElementKind::BF16:
    return 0x1p-127;
  default:
    return 64 * double(std::numeric_limits<float>::denorm_min());
  }
}

static Deviation getIntegerDeviation(ElementKind kind, ArrayRef<char> actual,
                                     ArrayRef<char> expected) {
  Deviation deviation;
  int64_t end = int64_t(expected.size()) / getNumBytes(kind);
  for (int64_t i = 0; i < end; ++i) {
    double step = std::fabs(double(loadInteger(kind, actual.data(), i)) -
                            double(loadInteger(kind, expected.data(), i)));
    deviation.numDifferent += step > 0;
    deviation.step = std::max(deviation.step, step);
  }
  return deviation;
}

Deviation getDeviation(const TensorSpec &spec, const ReferenceTensor &actual,
                       const ReferenceTensor &expected) {
  ElementKind kind = *getElementKind(spec.elementType);
  if (!isFloat(kind))
    return getIntegerDeviation(kind, actual.bytes, expected.bytes);
  double largest = getLargest(kind);
  double underflow = getUnderflow(kind);
  double rms = getRootMeanSquare(expected.floats);
  double maxError = 0;
  for (auto [got, wanted] : zip(actual.floats, expected.floats)) {
    double magnitude = std::fabs(wanted);
    if (std::isinf(got) && magnitude > largest &&
        std::signbit(got) == std::signbit(wanted))
      continue;
    if (!std::isfinite(got))
      return {std::numeric_limits<double>::infinity()};
    double scale = magnitude > hugeMagnitude ? magnitude : rms + magnitude;
    double error = std::fabs(got - wanted) - underflow;
    if (scale > 0)
      maxError = std::max(maxError, error / scale);
  }
  return {maxError};
}

/// The value of element `i`; f32 without a call, as it is nearly always.
template <ElementKind kind>
static double getElement(const void *data, int64_t i) {
  if constexpr (kind == ElementKind::F32) {
    float value;
    std::memcpy(&value, static_cast<const float *>(data) + i, sizeof(value));
    return value;
  } else {
    return loadFloat(kind, data, i);
  }
}

template <ElementKind kind>
static CheckOutcome checkFloats(StringRef name, const TensorSpec &spec,
                                const void *actual, ArrayRef<double> expected,
                                double tolerance) {
  double largest = getLargest(kind);
  double underflow = getUnderflow(kind);
  double rms = getRootMeanSquare(expected);
  double maxError = 0;
  Differences found;
  for (auto [i, wanted] : enumerate(expected)) {
    double got = getElement<kind>(actual, int64_t(i));
    double difference = std::fabs(got - wanted);
    double magnitude = std::fabs(wanted);
    // The whole range first: everything else is rare.
    double scale = magnitude > hugeMagnitude ? magnitude : rms + magnitude;
    if (difference <= tolerance * scale && magnitude <= largest) {
      if (difference > maxError * scale)
        maxError = difference / scale;
      continue;
    }
    if (difference <= tolerance * scale + underflow && magnitude <= largest)
      continue;
    // Rounding may also have reached infinity just below the range's end.
    bool sameSign = std::signbit(got) == std::signbit(wanted);
    if (std::isinf(got) && sameSign && magnitude > largest * (1 - tolerance))
      continue;
    if (difference > maxError * scale)
      maxError = difference / scale;
    found.add(int64_t(i), got, wanted);
  }
  return describe(name, spec, found, maxError);
}

static CheckOutcome checkIntegers(StringRef name, const TensorSpec &spec,
                                  ElementKind kind, const void *actual,
                                  ArrayRef<char> expected,
                                  const Tolerance &tolerance) {
  Differences found;
  double step = 0;
  if (std::memcmp(actual, expected.data(), expected.size()) != 0)
    for (int64_t i = 0, end = spec.getNumElements(); i < end; ++i) {
      int64_t got = loadInteger(kind, actual, i);
      int64_t wanted = loadInteger(kind, expected.data(), i);
      if (got == wanted)
        continue;
      found.add(i, double(got), double(wanted));
      step = std::max(step, std::fabs(double(got) - double(wanted)));
    }
  if (found.count <= tolerance.numDifferent && step <= tolerance.step)
    found.count = 0;
  return describe(name, spec, found, found.count ? 1 : 0);
}

CheckOutcome checkResult(StringRef name, const TensorSpec &spec,
                         const void *actual, const ReferenceTensor &expected,
                         const Tolerance &tolerance) {
  ElementKind kind = *getElementKind(spec.elementType);
  switch (kind) {
  case ElementKind::F64:
    return checkFloats<ElementKind::F64>(name, spec, actual, expected.floats,
                                         tolerance.relative);
  case ElementKind::F32:
    return checkFloats<ElementKind::F32>(name, spec, actual, expected.floats,
                                         tolerance.relative);
  case ElementKind::F16:
    return checkFloats<ElementKind::F16>(name, spec, actual, expected.floats,
                                         tolerance.relative);
  case ElementKind::BF16:
    return checkFloats<ElementKind::BF16>(name, spec, actual, expected.floats,
                                          tolerance.relative);
  default:
    return checkIntegers(name, spec, kind, actual, expected.bytes, tolerance);
  }
}

} // namespace cwm
