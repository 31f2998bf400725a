//===- TestPayload.h - A payload for the tests of this folder - -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CWM_UNITTESTS_TUNE_TESTPAYLOAD_H
#define CWM_UNITTESTS_TUNE_TESTPAYLOAD_H

#include "cwm/Payload/Payload.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

namespace cwm::test {

/// exp of an n x n tensor, twice.
inline Payload makePayload(mlir::MLIRContext &context, int64_t n) {
  context.loadDialect<mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                      mlir::tensor::TensorDialect, mlir::arith::ArithDialect,
                      mlir::math::MathDialect>();
  std::string text = llvm::formatv(R"(
    func.func @exp2(%a: tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32> {{
      %e = tensor.empty() : tensor<{0}x{0}xf32>
      %b = linalg.exp ins(%a : tensor<{0}x{0}xf32>)
                      outs(%e : tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32>
      %c = linalg.exp ins(%b : tensor<{0}x{0}xf32>)
                      outs(%e : tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32>
      return %c : tensor<{0}x{0}xf32>
    })",
                                   n);
  mlir::FailureOr<Payload> payload =
      Payload::create(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
  return std::move(*payload);
}

} // namespace cwm::test

#endif // CWM_UNITTESTS_TUNE_TESTPAYLOAD_H
