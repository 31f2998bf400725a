//===- Resources.cpp - Constants whose data lies apart -------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contract.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

/// The values of `resource` as an ordinary constant. Otherwise sets the rule
/// that is broken.
static FailureOr<DenseElementsAttr>
getElements(DenseResourceElementsAttr resource, std::string &rule) {
  auto type = cast<ShapedType>(resource.getType());
  Type element = type.getElementType();
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob) {
    rule = "its data is not in the file: print the payload without eliding "
           "constants";
    return failure();
  }
  // i1 takes a byte in a resource, a bit in an ordinary constant.
  if (!element.isIntOrIndexOrFloat() || !type.hasStaticShape()) {
    rule = "constants are of integers or floats and of static shape";
    return failure();
  }
  int64_t elementBytes =
      element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8;
  ArrayRef<char> data = blob->getData();
  double expected = double(elementBytes);
  for (int64_t extent : type.getShape())
    expected *= double(extent);
  if (double(data.size()) != expected) {
    rule = llvm::formatv("its data has {0} bytes, its type takes {1:f0}",
                         data.size(), expected);
    return failure();
  }
  if (element.isInteger(1)) {
    SmallVector<bool> values;
    for (char byte : data)
      values.push_back(byte != 0);
    return DenseElementsAttr::get(type, values);
  }
  return DenseElementsAttr::getFromRawBuffer(type, data);
}

LogicalResult cwm::inlineResources(ModuleOp module) {
  WalkResult walk = module.walk([](Operation *op) {
    std::string key, rule;
    AttrTypeReplacer replacer;
    replacer.addReplacement(
        [&](DenseResourceElementsAttr resource) -> Attribute {
          FailureOr<DenseElementsAttr> elements = getElements(resource, rule);
          if (succeeded(elements))
            return *elements;
          key = resource.getRawHandle().getKey().str();
          return resource;
        });
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                               /*replaceTypes=*/false);
    if (rule.empty())
      return WalkResult::advance();
    op->emitOpError() << "has the constant dense_resource<" << key
                      << ">: " << rule;
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}
