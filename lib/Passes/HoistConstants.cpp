//===- HoistConstants.cpp - Work on constant arguments, done once -*- C++ -*-=//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"
#include "cwm/Payload/Payload.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace cwm {
#define GEN_PASS_DEF_HOISTCONSTANTS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

/// The buffer that `value` is a view of: an argument or an allocation; null
/// when that is not known.
static Value getBase(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<memref::AllocOp, memref::AllocaOp>(op))
      return value;
    // Addresses, as cwm-dot-products takes them.
    if (isa<LLVM::GEPOp, LLVM::IntToPtrOp, arith::IndexCastOp,
            memref::ExtractAlignedPointerAsIndexOp,
            memref::ExtractStridedMetadataOp>(op)) {
      value = op->getOperand(0);
      continue;
    }
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view)
      return {};
    value = view.getViewSource();
  }
  auto *entry = cast<BlockArgument>(value).getOwner();
  return isa<func::FuncOp>(entry->getParentOp()) ? value : Value();
}

/// True for calls of intrinsics on tile registers.
static bool isTileIntrinsic(Operation *op) {
  auto call = dyn_cast<LLVM::CallOp>(op);
  return call && call.getCallee() &&
         (call.getCallee()->starts_with("llvm.x86.tile") ||
          call.getCallee()->starts_with("llvm.x86.tdp"));
}

namespace {
/// What one operation at the top of the function does to buffers that it does
/// not allocate itself.
struct Accesses {
  llvm::SmallPtrSet<Value, 4> reads, writes;
  /// It does something that cannot be attributed to buffers.
  bool unknown = false;

  bool touches() const { return unknown || !reads.empty() || !writes.empty(); }
};

/// Finds what of a function depends on constant arguments only, and splits it.
class Splitter {
public:
  explicit Splitter(func::FuncOp function) : function(function) {}

  /// False when there is nothing to hoist.
  bool analyse();
  void split();

private:
  Block &getEntry() { return function.getBody().front(); }
  Accesses getAccesses(Operation *top) const;
  bool capturesOnlyConstants(Operation *top);
  bool isDerived(Value value);
  void removeUnlessPacked();
  bool dependsOnArguments();
  func::FuncOp makePrepack();
  func::FuncOp makePrepacked();
  void makeWrapper(func::FuncOp prepack, func::FuncOp prepacked);
  void describe();

  func::FuncOp function;
  llvm::SetVector<Value> constants;
  /// Allocations whose content depends on constant arguments only.
  llvm::SetVector<Value> buffers;
  llvm::MapVector<Operation *, Accesses> accesses;
  /// Operations that write `buffers`, in order.
  llvm::SetVector<Operation *> work;
  /// Those of `buffers` that the rest of the function reads.
  SmallVector<Value> packed;
};
} // namespace

Accesses Splitter::getAccesses(Operation *top) const {
  Accesses result;
  auto add = [&](llvm::SmallPtrSet<Value, 4> &set, Value value) {
    Value base = value ? getBase(value) : Value();
    if (!base)
      result.unknown = true;
    else if (!top->isProperAncestor(base.getParentBlock()->getParentOp()) &&
             base.getDefiningOp() != top)
      set.insert(base);
  };
  top->walk([&](Operation *op) {
    if (isa<ViewLikeOpInterface>(op) || isa<memref::AllocOp>(op))
      return;
    // Buffers that travel through loops or branches are not followed.
    if (op->getNumRegions() &&
        llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>))
      result.unknown |= !isa<MemoryEffectOpInterface>(op);
    // They access what their pointers point to.
    if (isTileIntrinsic(op)) {
      bool stores = cast<LLVM::CallOp>(op).getCallee()->contains("store");
      for (Value operand : op->getOperands())
        if (isa<LLVM::LLVMPointerType>(operand.getType()))
          add(stores ? result.writes : result.reads, operand);
      return;
    }
    // linalg ops have effects of their own and those of their regions.
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects) {
      result.unknown |= !isMemoryEffectFree(op) &&
                        !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    for (const MemoryEffects::EffectInstance &instance : instances) {
      if (isa<MemoryEffects::Read>(instance.getEffect()))
        add(result.reads, instance.getValue());
      else
        add(result.writes, instance.getValue());
    }
  });
  return result;
}

/// True for values at the top of the function that can be computed from
/// nothing but constant arguments and `buffers`, without touching memory.
bool Splitter::isDerived(Value value) {
  if (constants.contains(value) || buffers.contains(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == &getEntry() && op->getNumRegions() == 0 &&
         (isMemoryEffectFree(op) || isa<ViewLikeOpInterface>(op)) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isDerived(operand); });
}

bool Splitter::capturesOnlyConstants(Operation *top) {
  llvm::SetVector<Value> captured;
  captured.insert_range(top->getOperands());
  getUsedValuesDefinedAbove(top->getRegions(), captured);
  return llvm::all_of(captured, [&](Value value) { return isDerived(value); });
}

/// Takes out of `buffers` what others write, or what is written after it was
/// read, until nothing changes.
void Splitter::removeUnlessPacked() {
  bool changed = true;
  while (changed) {
    changed = false;
    work.clear();
    auto remove = [&](Value base) { changed |= buffers.remove(base); };
    llvm::SmallPtrSet<Value, 4> read;
    for (auto &[op, access] : accesses) {
      auto isBuffer = [&](Value base) { return buffers.contains(base); };
      bool isWork =
          !access.unknown && !access.writes.empty() &&
          llvm::all_of(access.writes, isBuffer) &&
          llvm::none_of(access.writes,
                        [&](Value base) { return read.contains(base); }) &&
          llvm::all_of(access.reads,
                       [&](Value base) {
                         return isBuffer(base) || constants.contains(base);
                       }) &&
          capturesOnlyConstants(op);
      if (isWork) {
        work.insert(op);
        continue;
      }
      for (Value base : access.writes)
        remove(base);
      read.insert_range(access.reads);
      if (!access.unknown)
        continue;
      // Whatever it can reach.
      llvm::SetVector<Value> captured;
      captured.insert_range(op->getOperands());
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      for (Value value : captured)
        if (isa<BaseMemRefType>(value.getType())) {
          if (Value base = getBase(value))
            remove(base);
          else
            buffers.clear(), changed = false;
        }
    }
  }
}

/// Takes out of `buffers` what no constant argument went into; true if some
/// are left.
bool Splitter::dependsOnArguments() {
  llvm::SmallPtrSet<Value, 4> depends;
  for (Operation *op : work) {
    const Accesses &access = accesses[op];
    if (llvm::any_of(access.reads, [&](Value base) {
          return constants.contains(base) || depends.contains(base);
        }))
      depends.insert_range(access.writes);
  }
  size_t before = buffers.size();
  buffers.remove_if([&](Value base) { return !depends.contains(base); });
  if (buffers.size() != before) {
    removeUnlessPacked();
    return dependsOnArguments();
  }
  return !buffers.empty();
}

bool Splitter::analyse() {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return false;
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), cwm::constantAttrName) &&
        isa<MemRefType>(argument.getType()))
      constants.insert(argument);
  if (constants.empty())
    return false;
  for (Operation &op : getEntry().without_terminator()) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      MemRefType type = alloc.getType();
      if (type.hasStaticShape() && type.getLayout().isIdentity() &&
          type.getElementType().isIntOrFloat())
        buffers.insert(alloc);
      continue;
    }
    Accesses access = getAccesses(&op);
    if (access.touches())
      accesses[&op] = std::move(access);
  }
  removeUnlessPacked();
  if (!dependsOnArguments())
    return false;
  for (auto &[op, access] : accesses)
    if (!work.contains(op))
      for (Value base : access.reads)
        if (buffers.contains(base) && !llvm::is_contained(packed, base))
          packed.push_back(base);
  return !packed.empty();
}

/// `@NAME_prepack(constants..., packed...)`.
func::FuncOp Splitter::makePrepack() {
  OpBuilder builder(function);
  SmallVector<Type> types;
  for (Value value : constants)
    types.push_back(value.getType());
  for (Value value : packed)
    types.push_back(value.getType());
  auto prepack = func::FuncOp::create(builder, function.getLoc(),
                                      (function.getName() + "_prepack").str(),
                                      builder.getFunctionType(types, {}));
  Block *body = prepack.addEntryBlock();
  IRMapping mapping;
  unsigned next = 0;
  for (Value value : constants)
    mapping.map(value, body->getArgument(next++));
  for (Value value : packed)
    mapping.map(value, body->getArgument(next++));
  builder.setInsertionPointToStart(body);
  for (Operation &op : getEntry().without_terminator()) {
    bool temporary = isa<memref::AllocOp>(op) &&
                     buffers.contains(op.getResult(0)) &&
                     !mapping.contains(op.getResult(0));
    bool derived = op.getNumResults() && !isa<memref::AllocOp>(op) &&
                   llvm::all_of(op.getResults(),
                                [&](Value value) { return isDerived(value); });
    if (temporary || derived || work.contains(&op))
      builder.clone(op, mapping);
  }
  func::ReturnOp::create(builder, function.getLoc());
  return prepack;
}

/// `@NAME_prepacked(arguments of @NAME..., packed...)`.
func::FuncOp Splitter::makePrepacked() {
  OpBuilder builder(function);
  IRMapping mapping;
  auto prepacked = cast<func::FuncOp>(builder.clone(*function, mapping));
  prepacked.setName((function.getName() + "_prepacked").str());
  for (Value value : packed) {
    unsigned index = prepacked.getNumArguments();
    LogicalResult inserted = prepacked.insertArgument(
        index, value.getType(), DictionaryAttr(), function.getLoc());
    assert(succeeded(inserted) && "function types take arguments");
    (void)inserted;
    mapping.lookup(value).replaceAllUsesWith(prepacked.getArgument(index));
  }
  for (Operation *op : llvm::reverse(work))
    mapping.lookup(op)->erase();
  for (Value value : buffers) {
    Operation *alloc = mapping.lookup(value.getDefiningOp());
    // Views that only the work used; nobody reads what is in them.
    llvm::SetVector<Operation *> users;
    getForwardSlice(alloc, &users);
    for (Operation *user : llvm::reverse(users))
      if (user->use_empty())
        user->erase();
    if (alloc->use_empty())
      alloc->erase();
  }
  return prepacked;
}

/// `@NAME` does both, for callers that do not care.
void Splitter::makeWrapper(func::FuncOp prepack, func::FuncOp prepacked) {
  Block &entry = getEntry();
  Location loc = function.getLoc();
  SmallVector<MemRefType> types;
  for (Value value : packed)
    types.push_back(cast<MemRefType>(value.getType()));
  SmallVector<Operation *> old;
  for (Operation &op : entry.without_terminator())
    old.push_back(&op);
  for (Operation *op : llvm::reverse(old))
    op->erase();
  OpBuilder builder(entry.getTerminator());
  SmallVector<Value> first(constants.begin(), constants.end());
  SmallVector<Value> second(entry.getArguments());
  for (MemRefType type : types) {
    Value alloc = memref::AllocOp::create(builder, loc, type,
                                          builder.getI64IntegerAttr(64));
    first.push_back(alloc);
    second.push_back(alloc);
  }
  func::CallOp::create(builder, loc, prepack, first);
  func::CallOp::create(builder, loc, prepacked, second);
}

/// A table for callers: numbers of arguments, constants and packed buffers,
/// then which arguments are constant and how many bytes each buffer takes.
void Splitter::describe() {
  SmallVector<int64_t> table{static_cast<int64_t>(function.getNumArguments()),
                             static_cast<int64_t>(constants.size()),
                             static_cast<int64_t>(packed.size())};
  for (Value value : constants)
    table.push_back(cast<BlockArgument>(value).getArgNumber());
  for (Value value : packed) {
    auto type = cast<MemRefType>(value.getType());
    int64_t bits = type.getElementType().getIntOrFloatBitWidth();
    table.push_back(type.getNumElements() * ((bits + 7) / 8));
  }
  OpBuilder builder(function);
  auto type = LLVM::LLVMArrayType::get(builder.getI64Type(), table.size());
  LLVM::GlobalOp::create(builder, function.getLoc(), type, /*isConstant=*/true,
                         LLVM::Linkage::External,
                         (function.getName() + "_prepack_table").str(),
                         builder.getI64TensorAttr(table));
}

void Splitter::split() {
  describe();
  func::FuncOp prepack = makePrepack();
  func::FuncOp prepacked = makePrepacked();
  makeWrapper(prepack, prepacked);
}

namespace {
struct HoistConstants : cwm::impl::HoistConstantsBase<HoistConstants> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      Splitter splitter(function);
      if (function.isPublic() && splitter.analyse())
        splitter.split();
    }
  }
};
} // namespace
