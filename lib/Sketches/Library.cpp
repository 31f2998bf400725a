//===- Library.cpp - Sketch files and the sequences they share --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"

#include "cwm/Support/ParseModule.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace cwm;
using transform::NamedSequenceOp;

FailureOr<OwningOpRef<ModuleOp>> cwm::readSchedule(StringRef path,
                                                   MLIRContext *context) {
  OwningOpRef<ModuleOp> module = parseModuleFile(path, context);
  if (!module)
    return failure();
  auto attr = transform::TransformDialect::kWithNamedSequenceAttrName;
  if (!(*module)->hasAttr(attr))
    return module->emitError()
           << "a schedule needs the attribute '" << attr << "' on its module";
  return module;
}

/// Gives the declared sequences of `module` their bodies from `common`; bodies
/// may need further ones.
static LogicalResult addBodies(ModuleOp module, ModuleOp common) {
  SymbolTable available(common);
  SmallVector<NamedSequenceOp> worklist;
  for (auto sequence : module.getOps<NamedSequenceOp>())
    if (sequence.isExternal())
      worklist.push_back(sequence);
  SymbolTable present(module);
  while (!worklist.empty()) {
    NamedSequenceOp declaration = worklist.pop_back_val();
    auto body = available.lookup<NamedSequenceOp>(declaration.getSymName());
    if (!body || body.isExternal())
      return declaration.emitError()
             << "sequence '@" << declaration.getSymName()
             << "' is declared but common.mlir has no body for it";
    if (body.getFunctionType() != declaration.getFunctionType())
      return declaration.emitError()
             << "sequence '@" << declaration.getSymName()
             << "' is declared with another type than it has in common.mlir";
    present.erase(declaration);
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto copy = cast<NamedSequenceOp>(builder.clone(*body));
    present.insert(copy);
    copy.walk([&](transform::IncludeOp include) {
      StringRef name = include.getTarget().getLeafReference();
      if (present.lookup(name))
        return;
      if (auto needed = available.lookup<NamedSequenceOp>(name)) {
        // A declaration first: the loop above replaces it.
        auto stub =
            cast<NamedSequenceOp>(OpBuilder::atBlockEnd(module.getBody())
                                      .cloneWithoutRegions(*needed));
        present.insert(stub);
        worklist.push_back(stub);
      }
    });
  }
  return verify(module);
}

void cwm::fillTemplates(ModuleOp schedule,
                        const llvm::StringMap<ArrayAttr> &templates) {
  if (templates.empty())
    return;
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](DictionaryAttr dictionary)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        auto name = dictionary.getAs<StringAttr>("knob");
        auto it = name ? templates.find(name) : templates.end();
        if (it == templates.end())
          return std::nullopt;
        return std::pair<Attribute, WalkResult>(it->second, WalkResult::skip());
      });
  schedule.walk([&](Operation *op) {
    if (Attribute bind = op->getDiscardableAttr("cwm.bind"))
      op->setDiscardableAttr("cwm.bind", replacer.replace(bind));
  });
}

FailureOr<OwningOpRef<ModuleOp>>
cwm::loadSketch(StringRef folder, StringRef name, MLIRContext *context) {
  auto path = [&](StringRef file) {
    SmallString<256> result(folder);
    llvm::sys::path::append(result, file + ".mlir");
    return result;
  };
  FailureOr<OwningOpRef<ModuleOp>> sketch = readSchedule(path(name), context);
  if (failed(sketch))
    return failure();
  FailureOr<OwningOpRef<ModuleOp>> common =
      readSchedule(path("common"), context);
  if (failed(common) || failed(addBodies(**sketch, **common)))
    return failure();
  return sketch;
}
