//===- NumericCheck.h - Compare results with a reference --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_NUMERICCHECK_H
#define CWM_RUNNER_NUMERICCHECK_H

#include "cwm/Runner/Elements.h"

#include <string>

namespace cwm {

/// What a result should be: `floats` in double precision for float results,
/// else `bytes` as in memory.
struct ReferenceTensor {
  std::vector<double> floats;
  std::vector<char> bytes;
};

/// Elements of larger magnitude (the -3.4e38 of attention masks and what is
/// added to it) are compared relatively and left out of the norm: they would
/// hide every other error (prototypes: 3e-44 was reported).
inline constexpr double hugeMagnitude = 1e30;

/// Relative tolerance of a payload. With u the unit roundoff of the narrowest
/// float type of the payload and K its reduction length, the error of a sum of
/// K rounded terms grows like u sqrt(K) on random data (Higham, Accuracy and
/// Stability of Numerical Algorithms, 2nd ed., section 2.8: the rule of thumb
/// that replaces the worst case u K), so the tolerance is u (64 + 16 sqrt(K)),
/// at most 0.25. The constants are measured: correct schedules were seen at
/// most at 1.3e-6 of the largest element for K <= 1024 and 3.4e-6 for K = 6912
/// in f32, which is below a fifth of this tolerance; one dropped term of the
/// K = 6912 sum is 140 times above it. 64 u covers polynomial exp, tanh, erf.
/// Operands that are only widened (bf16 to f32) round nothing and do not count;
/// of several types that values are rounded to the largest such number counts.
/// For f16 and bf16 8 u is enough: what they round is rarely more than a
/// result.
double getTolerance(mlir::ModuleOp payload);

/// Unit roundoff of the narrowest float type that `payload` rounds to.
double getRoundoff(mlir::ModuleOp payload);

/// How far a result lies from another one.
struct Deviation {
  /// Largest error of a float, in units of checkResult's scale: infinite where
  /// it is NaN or infinite and should not be; 0 for integers.
  double relative = 0;
  /// Integers that differ, and by how much at most.
  int64_t numDifferent = 0;
  double step = 0;
};

/// What a result may deviate from its reference.
struct Tolerance {
  Tolerance(double relative) : relative(relative) {} // NOLINT: a plain number
  double relative;
  /// Of integers: none may differ unless they are computed from floats.
  int64_t numDifferent = 0;
  double step = 0;
};

/// The tolerance of a result that the payload itself, evaluated in its own
/// precision by plain loops and libm, misses by `own`. Rounding errors
/// of long chains of ops, and of ill-conditioned ones, do not follow from the
/// types: they are measured. A correct schedule may do worse than those loops:
/// polynomial exp and tanh err by a few units in the last place, always in the
/// same direction, where libm's half units cancel. Hence 32 times `ownError`
/// (a correct chain of 200 tanh was seen at 17 times), but at most
/// sqrt(roundoff): half of the digits have to be right. Sums stay below
/// getTolerance() with that factor (K terms of random sign, added one by one:
/// 0.3 u sqrt(K)), so a dropped term is found as before.
///
/// Integers `fromFloats` (rounded, compared) jump where a float lies next to
/// the place of the jump: 3 of 4 million quantised elements were seen to. They
/// may do so in 32 times as many of the `numElements` elements as the payload's
/// own, and 4 more, but in no more than a 64th unless its own do; by 32 times
/// as much, and 1 more.
Tolerance widenTolerance(double tolerance, double roundoff,
                         const Deviation &own, bool fromFloats,
                         int64_t numElements);

/// True when result `index` of the payload depends on a float.
bool dependsOnFloats(const Payload &payload, size_t index);

/// How far `actual` lies from `expected`.
Deviation getDeviation(const TensorSpec &spec, const ReferenceTensor &actual,
                       const ReferenceTensor &expected);

/// Sum over the linalg ops of the product of their reduction extents; with
/// `counts`, of those whose sums have a type that it is true for.
int64_t
getReductionLength(mlir::ModuleOp payload,
                   llvm::function_ref<bool(mlir::Type)> counts = nullptr);

struct CheckOutcome {
  bool ok = true;
  /// Largest |actual - expected| / (rms + |expected|) seen.
  double maxError = 0;
  /// Where and how the results differ.
  std::string message;
};

/// Compares every element of result `name`. |actual - expected| must not exceed
/// tolerance * (rms of the result + |expected|) + 64 times the smallest
/// subnormal number (results that underflow have no relative accuracy);
/// infinities must match in sign; NaN never passes, and integers must be equal
/// but for what the tolerance allows. A reference beyond the type's range
/// stands for infinity.
CheckOutcome checkResult(llvm::StringRef name, const TensorSpec &spec,
                         const void *actual, const ReferenceTensor &expected,
                         const Tolerance &tolerance);

} // namespace cwm

#endif // CWM_RUNNER_NUMERICCHECK_H
