//===- RunnerTestUtils.h - Payloads and pools for tests ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_RUNNERTESTUTILS_H
#define CWM_RUNNER_RUNNERTESTUTILS_H

#include "cwm/InitAll.h"
#include "cwm/Runner/WorkerPool.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

namespace cwm::test {

/// One context for all tests of the process: registration is slow.
inline mlir::MLIRContext &getContext() {
  static mlir::MLIRContext *context = [] {
    mlir::DialectRegistry registry;
    mlir::registerAllDialects(registry);
    mlir::registerAllExtensions(registry);
    cwm::registerAllDialects(registry);
    cwm::registerCPUTranslations(registry);
    auto *made =
        new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
    made->loadAllAvailableDialects();
    return made;
  }();
  return *context;
}

inline Payload makePayload(llvm::StringRef text) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &getContext());
  EXPECT_TRUE(bool(module)) << text.str();
  mlir::FailureOr<Payload> payload = Payload::create(std::move(module));
  EXPECT_TRUE(mlir::succeeded(payload)) << text.str();
  return std::move(*payload);
}

/// C = A * B of f32 with the given extents.
inline Payload makeMatmul(int64_t m, int64_t n, int64_t k) {
  auto type = [](int64_t rows, int64_t columns) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
           "xf32>";
  };
  std::string a = type(m, k), b = type(k, n), c = type(m, n);
  return makePayload("func.func @kernel(%a: " + a + ", %b: " + b + ") -> " + c +
                     " {\n"
                     "  %zero = arith.constant 0.0 : f32\n"
                     "  %empty = tensor.empty() : " +
                     c +
                     "\n"
                     "  %init = linalg.fill ins(%zero : f32) outs(%empty : " +
                     c + ") -> " + c +
                     "\n  %result = linalg.matmul ins(%a, %b : " + a + ", " +
                     b + ") outs(%init : " + c + ") -> " + c +
                     "\n  return %result : " + c + "\n}\n");
}

/// A script whose sequence holds `body`, with `%0` the matmul of the payload.
/// 64 numbers through `length` equal steps, in one body; `step` makes %y of %x
/// and the constants %scale, %shift, %small, %large.
inline Payload makeChain(int64_t length, const std::string &step) {
  std::string text = R"mlir(
    #id = affine_map<(i) -> (i)>
    func.func @kernel(%v: tensor<64xf32>) -> tensor<64xf32> {
      %scale = arith.constant 0.999 : f32
      %shift = arith.constant 0.37 : f32
      %small = arith.constant 0.01 : f32
      %large = arith.constant 1.0e6 : f32
      %e = tensor.empty() : tensor<64xf32>
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%v : tensor<64xf32>) outs(%e : tensor<64xf32>) {
      ^bb0(%x0: f32, %out: f32):
    )mlir";
  for (int64_t i = 0; i < length; ++i) {
    std::string number = std::to_string(i);
    for (char c : step) {
      // Names of one letter are the step's own.
      text += c;
      if (llvm::StringRef(text).ends_with("%x"))
        text += number;
      else if (llvm::StringRef(text).ends_with("%y"))
        text.replace(text.size() - 1, 1, "x" + std::to_string(i + 1));
      else if (llvm::StringRef(text).ends_with("%t"))
        text += number + "_";
    }
  }
  return makePayload(text + "linalg.yield %x" + std::to_string(length) +
                     " : f32\n} -> tensor<64xf32>\nreturn %r : "
                     "tensor<64xf32>\n}\n");
}

inline std::string makeScript(llvm::StringRef body) {
  return "module attributes {transform.with_named_sequence} {\n"
         "transform.named_sequence @__transform_main(%root: "
         "!transform.any_op {transform.readonly}) {\n"
         "%0 = transform.structured.match ops{[\"linalg.matmul\"]} in %root : "
         "(!transform.any_op) -> !transform.any_op\n" +
         body.str() + "\ntransform.yield\n}\n}\n";
}

/// `%1, %l... = tile_using_for %0` by the given sizes.
inline std::string makeTiling(std::vector<int64_t> sizes) {
  std::string list, types = "!transform.any_op";
  int64_t loops = 0;
  for (int64_t size : sizes) {
    list += (list.empty() ? "" : ", ") + std::to_string(size);
    if (size != 0) {
      ++loops;
      types += ", !transform.any_op";
    }
  }
  return makeScript("%1, %l:" + std::to_string(loops) +
                    " = transform.structured.tile_using_for %0 tile_sizes [" +
                    list + "] : (!transform.any_op) -> (" + types + ")");
}

/// A folder that lives as long as this.
class TemporaryFolder {
public:
  TemporaryFolder() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("cwm-runner", path));
  }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path); }
  std::string get() const { return path.str().str(); }
  std::string get(llvm::StringRef name) const {
    return get() + "/" + name.str();
  }

private:
  llvm::SmallString<128> path;
};

inline const HardwareDescription &getHardware() {
  static const HardwareDescription hardware = [] {
    llvm::Expected<HardwareDescription> probed = probeHardware();
    EXPECT_TRUE(bool(probed));
    return probed ? *probed : HardwareDescription();
  }();
  return hardware;
}

/// The results of measuring `scripts`, by position.
inline std::vector<TrialResult> measure(Measurer &measurer,
                                        std::vector<std::string> scripts,
                                        bool together = false) {
  std::vector<MeasureRequest> requests;
  for (auto [index, script] : llvm::enumerate(scripts))
    requests.push_back({"k" + std::to_string(index), script});
  std::vector<TrialResult> results(scripts.size());
  std::vector<int> answers(scripts.size());
  auto onResult = [&](size_t index, TrialResult result) {
    results[index] = std::move(result);
    ++answers[index];
  };
  llvm::Error error = together ? measurer.measureTogether(requests, onResult)
                               : measurer.measure(requests, onResult);
  EXPECT_FALSE(bool(error)) << llvm::toString(std::move(error));
  for (int count : answers)
    EXPECT_EQ(count, 1);
  return results;
}

} // namespace cwm::test

#endif // CWM_RUNNER_RUNNERTESTUTILS_H
