//===- DimClasses.cpp - Dimensions that go together -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/TransformExt/DimClasses.h"

using namespace mlir;
using namespace cwm;

unsigned DimClasses::addDim(int64_t extent) {
  extents.push_back(extent);
  return extents.size() - 1;
}

ArrayRef<unsigned> DimClasses::number(Value value) {
  auto [entry, isNew] = values.try_emplace(value);
  if (isNew)
    for (int64_t extent : cast<RankedTensorType>(value.getType()).getShape())
      entry->second.push_back(addDim(extent));
  return entry->second;
}

DimClasses::DimClasses(ArrayRef<linalg::GenericOp> ops) {
  std::vector<std::pair<unsigned, unsigned>> equal;
  for (linalg::GenericOp op : ops) {
    SmallVector<unsigned> &numbers = loops[op];
    for (int64_t extent : op.getStaticLoopRanges())
      numbers.push_back(addDim(extent));
    for (OpOperand &operand : op->getOpOperands()) {
      // Several ops may share an empty tensor: their results are their own.
      Value value =
          op.isDpsInit(&operand) ? op.getTiedOpResult(&operand) : operand.get();
      if (!isa<RankedTensorType>(value.getType()))
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [dim, expr] : llvm::zip_equal(number(value), map.getResults()))
        equal.emplace_back(dim,
                           numbers[cast<AffineDimExpr>(expr).getPosition()]);
    }
  }
  classes.grow(extents.size());
  for (auto [left, right] : equal)
    classes.join(left, right);
  classes.compress();
  std::vector<int64_t> classExtents(classes.getNumClasses());
  for (auto [dim, extent] : llvm::enumerate(extents))
    classExtents[classes[dim]] = extent;
  extents = std::move(classExtents);
}

SmallVector<unsigned> DimClasses::translate(ArrayRef<unsigned> numbers) const {
  return llvm::map_to_vector(numbers,
                             [&](unsigned dim) { return classes[dim]; });
}

SmallVector<unsigned> DimClasses::getLoops(linalg::GenericOp op) const {
  return translate(loops.lookup(op));
}

SmallVector<unsigned> DimClasses::getDims(Value value) const {
  return translate(values.lookup(value));
}
