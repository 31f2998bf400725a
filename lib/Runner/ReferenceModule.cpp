//===- ReferenceModule.cpp - The payload in double precision ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/Reference.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace cwm {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isNarrowFloat(Type type) {
  auto real = dyn_cast<FloatType>(type);
  return real && real.getWidth() < 64;
}

static APFloat widen(APFloat value) {
  bool losesInfo = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

/// Makes every float narrower than f64 an f64, in types and constants.
static void widenFloats(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](FloatType type) -> std::optional<Type> {
    if (!isNarrowFloat(type))
      return std::nullopt;
    return Float64Type::get(type.getContext());
  });
  replacer.addReplacement([](FloatAttr attribute) -> std::optional<Attribute> {
    if (!isNarrowFloat(attribute.getType()))
      return std::nullopt;
    return FloatAttr::get(Float64Type::get(attribute.getContext()),
                          widen(attribute.getValue()));
  });
  replacer.addReplacement(
      [](DenseFPElementsAttr attribute) -> std::optional<Attribute> {
        if (!isNarrowFloat(attribute.getElementType()))
          return std::nullopt;
        auto type = cast<ShapedType>(attribute.getType())
                        .clone(Float64Type::get(attribute.getContext()));
        if (attribute.isSplat())
          return DenseElementsAttr::get(
              type, widen(attribute.getSplatValue<APFloat>()));
        SmallVector<APFloat> values;
        for (APFloat value : attribute.getValues<APFloat>())
          values.push_back(widen(value));
        return DenseElementsAttr::get(type, values);
      });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  // Conversions between floats have become f64 to f64, which is no operation.
  module->walk([](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
        op->getOperand(0).getType() == op->getResult(0).getType()) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    }
  });
}

/// True when the meaning depends on the bits of a narrow float.
static bool dependsOnFloatBits(ModuleOp module) {
  return module
      ->walk([](Operation *op) {
        bool bits = isa<arith::BitcastOp>(op) ||
                    isa_and_nonnull<memref::MemRefDialect>(op->getDialect());
        return bits ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Loop order
//===----------------------------------------------------------------------===//

/// Elements between two values of loop `dim` in the operand of `map` and
/// `shape`; nullopt when that is not constant.
static std::optional<int64_t> getStride(AffineMap map, ArrayRef<int64_t> shape,
                                        unsigned dim) {
  int64_t stride = 0, elements = 1;
  for (unsigned position = map.getNumResults(); position-- > 0;) {
    AffineExpr expr = map.getResult(position);
    if (expr.isFunctionOfDim(dim)) {
      SmallVector<AffineExpr> zeros(map.getNumDims(),
                                    getAffineConstantExpr(0, map.getContext()));
      auto zero = dyn_cast<AffineConstantExpr>(expr.replaceDims(zeros));
      zeros[dim] = getAffineConstantExpr(1, map.getContext());
      auto one = dyn_cast<AffineConstantExpr>(expr.replaceDims(zeros));
      if (!zero || !one)
        return std::nullopt;
      stride += (one.getValue() - zero.getValue()) * elements;
    }
    elements *= shape[position];
  }
  return stride;
}

/// Rough cost of one iteration when loop `dim` is innermost. Only the order
/// matters: contiguous accesses vectorise, strided ones do not and waste cache
/// lines; reductions cost a little more than parallel loops; short loops pay
/// for their set-up. (Plain loop order takes 7 to 20 s where this takes 0.2.)
static double getCost(linalg::GenericOp op, unsigned dim, int64_t extent) {
  double cost = 16.0 / double(std::max<int64_t>(1, extent));
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<ShapedType>(operand.get().getType());
    if (!type)
      continue;
    std::optional<int64_t> stride =
        getStride(op.getMatchingIndexingMap(&operand), type.getShape(), dim);
    if (!stride)
      cost += 16;
    else if (*stride != 0)
      cost += std::abs(*stride) == 1 ? 1 : std::abs(*stride) <= 4 ? 3 : 10;
  }
  bool parallel =
      op.getIteratorTypesArray()[dim] == utils::IteratorType::parallel;
  return cost + (parallel ? 0 : 1);
}

/// Moves the cheapest loop of `op` innermost.
static LogicalResult interchange(IRRewriter &rewriter, linalg::GenericOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  unsigned best = 0;
  double bestCost = 0;
  for (unsigned dim = 0; dim < extents.size(); ++dim) {
    double cost = getCost(op, dim, extents[dim]);
    // Of equals the later one: it is where the payload has it.
    if (dim == 0 || cost <= bestCost) {
      best = dim;
      bestCost = cost;
    }
  }
  if (extents.empty() || best + 1 == extents.size())
    return success();
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < extents.size(); ++dim)
    if (dim != best)
      order.push_back(dim);
  order.push_back(best);
  rewriter.setInsertionPoint(op);
  return linalg::interchangeGenericOp(rewriter, op, order);
}

/// Lets LLVM reorder sums: in double precision the error does not matter, and
/// reductions vectorise only so.
static void allowReassociation(ModuleOp module) {
  module->walk([](arith::ArithFastMathInterface op) {
    auto flags = arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
    op->setAttr(op.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(), flags));
  });
}

//===----------------------------------------------------------------------===//
// Building and lowering
//===----------------------------------------------------------------------===//

/// Makes everything a linalg.generic in a good loop order.
static LogicalResult generalize(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  SmallVector<Operation *> ops;
  module->walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    if (auto pack = dyn_cast<linalg::PackOp>(op)) {
      if (failed(linalg::lowerPack(rewriter, pack)))
        return failure();
    } else if (auto unpack = dyn_cast<linalg::UnPackOp>(op)) {
      if (failed(linalg::lowerUnPack(rewriter, unpack)))
        return failure();
    } else if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op)) {
      FailureOr<SmallVector<Value>> parts =
          softmax.decomposeOperation(rewriter);
      if (failed(parts))
        return failure();
      rewriter.replaceOp(op, *parts);
    }
  }
  SmallVector<linalg::LinalgOp> linalgOps;
  module->walk([&](linalg::LinalgOp op) { linalgOps.push_back(op); });
  for (linalg::LinalgOp op : linalgOps) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::GenericOp> made =
          linalg::generalizeNamedOp(rewriter, op);
      if (failed(made))
        continue;
      generic = *made;
    }
    if (failed(interchange(rewriter, generic)))
      return failure();
  }
  return success();
}

/// Gives each result a buffer of its own: one value returned twice, arguments
/// and constants are copied. BufferResultsToOutParams of MLIR 22.1 dies of
/// some of them. It stays, as our own pass for that lowers candidates.
static void separateResults(ModuleOp module) {
  module->walk([](func::ReturnOp op) {
    OpBuilder builder(op);
    llvm::SmallDenseSet<Value> seen;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      Operation *producer = value.getDefiningOp();
      bool isComputed =
          producer && !producer->hasTrait<OpTrait::ConstantLike>();
      if (isComputed && seen.insert(value).second)
        continue;
      operand.set(bufferization::AllocTensorOp::create(
          builder, op.getLoc(), cast<RankedTensorType>(value.getType()),
          /*dynamicSizes=*/ValueRange(), /*copy=*/value));
    }
  });
}

FailureOr<OwningOpRef<ModuleOp>> buildReferenceModule(const Payload &payload,
                                                      bool &inDoublePrecision,
                                                      bool widen) {
  inDoublePrecision = widen && !dependsOnFloatBits(payload.getModule());
  OwningOpRef<ModuleOp> module(payload.getModule().clone());
  if (inDoublePrecision) {
    widenFloats(*module);
    // Whatever does not verify is evaluated as it is written.
    ScopedDiagnosticHandler quiet(module->getContext(),
                                  [](Diagnostic &) { return success(); });
    if (failed(verify(*module))) {
      inDoublePrecision = false;
      module = payload.getModule().clone();
    }
  }
  if (failed(generalize(*module)))
    return failure();
  if (inDoublePrecision)
    allowReassociation(*module);
  separateResults(*module);
  return module;
}

namespace {
/// memref.copy would become a call that copies element by element.
struct LowerCopies : PassWrapper<LowerCopies, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerCopies)
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<linalg::LinalgDialect>();
  }
  void runOnOperation() override {
    getOperation()->walk([](memref::CopyOp op) {
      OpBuilder builder(op);
      linalg::makeMemRefCopyOp(builder, op.getLoc(), op.getSource(),
                               op.getTarget());
      op.erase();
    });
  }
};
} // namespace

LogicalResult bufferizeReference(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.addPass(createConvertTensorToLinalgPass());
  // arith and math on tensors.
  manager.addPass(createConvertElementwiseToLinalgPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  manager.addPass(bufferization::createOneShotBufferizePass(bufferize));
  bufferization::BufferResultsToOutParamsPassOptions results;
  results.hoistStaticAllocs = true;
  results.modifyPublicFunctions = true;
  manager.addPass(bufferization::createBufferResultsToOutParamsPass(results));
  bufferization::buildBufferDeallocationPipeline(
      manager, bufferization::BufferDeallocationPipelineOptions());
  return manager.run(module);
}

LogicalResult lowerReference(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.addPass(std::make_unique<LowerCopies>());
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions function;
  function.useBarePtrCallConv = true;
  manager.addPass(createConvertFuncToLLVMPass(function));
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createUBToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  if (failed(manager.run(module)))
    return failure();
  // Inputs and results are buffers of their own; loops need to know.
  module->walk([](LLVM::LLVMFuncOp op) {
    if (op.isExternal())
      return;
    for (unsigned i = 0; i < op.getNumArguments(); ++i)
      if (isa<LLVM::LLVMPointerType>(op.getArgument(i).getType()))
        op.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                      UnitAttr::get(op.getContext()));
  });
  return success();
}

} // namespace cwm
