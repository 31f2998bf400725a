//===- SpaceTestUtils.h - Spaces from text ----------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_UNITTESTS_SPACE_SPACETESTUTILS_H
#define CWM_UNITTESTS_SPACE_SPACETESTUTILS_H

#include "cwm/Space/Space.h"

#include "mlir/Dialect/Linalg/TransformOps/DialectExtension.h"
#include "mlir/Dialect/SCF/TransformOps/SCFTransformOps.h"
#include "mlir/Dialect/SMT/IR/SMTDialect.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/SMTExtension/SMTExtension.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtension.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace cwm::test {

inline mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  registry.insert<mlir::smt::SMTDialect, mlir::transform::TransformDialect>();
  mlir::linalg::registerTransformDialectExtension(registry);
  mlir::scf::registerTransformDialectExtension(registry);
  mlir::transform::registerTuneExtension(registry);
  mlir::transform::registerSMTExtension(registry);
  return registry;
}

class SpaceTest : public ::testing::Test {
protected:
  SpaceTest()
      : context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED) {}

  /// The space of a module.
  std::unique_ptr<Space>
  parseModule(const std::string &text,
              const llvm::StringMap<mlir::ArrayAttr> &options = {},
              const llvm::StringMap<uint64_t> &defaults = {}) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    if (!module)
      return nullptr;
    mlir::FailureOr<std::unique_ptr<Space>> space =
        Space::create(std::move(module), "s", options, defaults);
    return mlir::succeeded(space) ? std::move(*space) : nullptr;
  }

  /// The space of a body of `@__transform_main(%root)`.
  std::unique_ptr<Space>
  parse(const std::string &body,
        const llvm::StringMap<mlir::ArrayAttr> &options = {},
        const llvm::StringMap<uint64_t> &defaults = {}) {
    return parseModule("module attributes {transform.with_named_sequence} {\n"
                       "transform.named_sequence @__transform_main("
                       "%root: !transform.any_op) {\n" +
                           body + "\ntransform.yield\n}\n}",
                       options, defaults);
  }

  /// `%name = knob` with these options.
  static std::string knob(const std::string &name, const std::string &options) {
    return "%" + name + " = transform.tune.knob<\"" + name +
           "\"> options = " + options + " -> !transform.param<i64>\n";
  }

  /// A constraint over %names; the region uses the same names.
  static std::string constrain(const std::vector<std::string> &names,
                               const std::string &body) {
    std::string operands, types, arguments;
    for (const std::string &name : names) {
      const char *comma = operands.empty() ? "" : ", ";
      operands += comma + ("%" + name);
      types += std::string(comma) + "!transform.param<i64>";
      arguments += comma + ("%c_" + name) + ": !smt.int";
    }
    return "transform.smt.constrain_params(" + operands + ") : (" + types +
           ") -> () {\n^bb0(" + arguments + "):\n" + body + "\n}\n";
  }

  std::vector<std::string> getKeys(const Space &space) {
    std::vector<std::string> keys;
    space.enumerate([&](const Assignment &candidate) {
      keys.push_back(space.getKey(candidate));
      return true;
    });
    return keys;
  }

  mlir::MLIRContext context;
};

} // namespace cwm::test

#endif // CWM_UNITTESTS_SPACE_SPACETESTUTILS_H
