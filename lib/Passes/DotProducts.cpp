//===- DotProducts.cpp - Contractions to dot product instructions -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JoinGroups.h"

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace cwm {
#define GEN_PASS_DEF_DOTPRODUCTS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;
using namespace cwm;

//===----------------------------------------------------------------------===//
// What is a dot product
//===----------------------------------------------------------------------===//

namespace {
/// An operand that is read from memory as (m, k, group) or (k, n, group); k may
/// be missing.
struct DotOperand {
  vector::TransferReadOp read;
  bool isUnsigned = false;
  /// Steps in memory along these three, in elements.
  SmallVector<int64_t> strides;
};

/// A contraction of groups of narrow elements that are widened, m x n sums of
/// 32 bits.
struct DotContraction {
  vector::ContractionOp op;
  DotOperand left, right;
  int64_t m = 0, n = 0, k = 0, group = 0;
  Type element;
  VectorType sums;

  static std::optional<DotContraction> match(vector::ContractionOp op);
  bool isFloat() const { return element.isBF16(); }
};
} // namespace

/// The read of memory that `value`, maybe widened, comes from; it can be moved
/// down to `user`. Sets `operand` but for its dimensions.
static bool readOperand(Value value, Operation *user, DotOperand &operand) {
  Operation *extension = value.getDefiningOp();
  if (!isa_and_present<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(
          extension))
    return false;
  operand.isUnsigned = isa<arith::ExtUIOp>(extension);
  operand.read =
      extension->getOperand(0).getDefiningOp<vector::TransferReadOp>();
  if (!operand.read || operand.read->getBlock() != user->getBlock())
    return false;
  auto type = dyn_cast<MemRefType>(operand.read.getBase().getType());
  if (!type || operand.read.getMask() || operand.read.hasOutOfBoundsDim() ||
      !operand.read.getPermutationMap().isMinorIdentity())
    return false;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(operand.strides, offset)))
    return false;
  operand.strides.erase(operand.strides.begin(),
                        operand.strides.end() -
                            operand.read.getVectorType().getRank());
  for (Operation *op = operand.read; op != user; op = op->getNextNode())
    if (!isMemoryEffectFree(op) && !isa<vector::TransferReadOp>(op))
      return false;
  return true;
}

static SmallVector<unsigned> getDims(AffineMap map) {
  SmallVector<unsigned> dims;
  if (map.isProjectedPermutation())
    for (AffineExpr expr : map.getResults())
      dims.push_back(cast<AffineDimExpr>(expr).getPosition());
  return dims;
}

std::optional<DotContraction> DotContraction::match(vector::ContractionOp op) {
  DotContraction result;
  result.op = op;
  auto sum = dyn_cast<VectorType>(op.getResultType());
  if (op.getKind() != vector::CombiningKind::ADD || !sum ||
      sum.getRank() != 2 || isa<vector::MaskOp>(op->getParentOp()))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<unsigned> sums = getDims(maps[2]);
  if (sums.size() != 2)
    return std::nullopt;
  for (auto [number, value] :
       llvm::enumerate(op->getOperands().take_front(2))) {
    SmallVector<unsigned> dims = getDims(maps[number]);
    bool isLeft = llvm::is_contained(dims, sums[0]);
    DotOperand &operand = isLeft ? result.left : result.right;
    if (operand.read || !readOperand(value, op, operand))
      return std::nullopt;
    // Both have (k,) group last, so that only m or n and k are left to order.
    size_t own = isLeft ? 0 : dims.size() - 2;
    if (dims.size() < 2 || dims.size() > 3 ||
        dims[own] != sums[isLeft ? 0 : 1] || operand.strides.back() != 1)
      return std::nullopt;
    if (dims.size() == 2)
      operand.strides.insert(operand.strides.begin() + (isLeft ? 1 : 0), 0);
    VectorType type = operand.read.getVectorType();
    result.k = dims.size() == 3 ? type.getDimSize(isLeft ? 1 : 0) : 1;
    result.group = type.getShape().back();
    if (result.element && result.element != type.getElementType())
      return std::nullopt;
    result.element = type.getElementType();
  }
  if (!result.left.read || !result.right.read)
    return std::nullopt;
  result.sums = sum;
  result.m = sum.getDimSize(0);
  result.n = sum.getDimSize(1);
  bool isFloat = result.element.isBF16() && sum.getElementType().isF32();
  bool isInteger =
      result.element.isInteger(8) && sum.getElementType().isInteger(32);
  // Groups of 32 bits, one after the other.
  bool isGroup =
      (isFloat && result.group == 2) || (isInteger && result.group == 4);
  if (!isGroup)
    return std::nullopt;
  if ((result.k > 1 && result.left.strides[1] != result.group) ||
      result.right.strides[1] != result.group)
    return std::nullopt;
  if (llvm::is_contained(result.left.strides, ShapedType::kDynamic) ||
      llvm::is_contained(result.right.strides, ShapedType::kDynamic))
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Both kinds of instructions
//===----------------------------------------------------------------------===//

namespace {
/// Memory and intrinsics.
class DotBuilder {
public:
  explicit DotBuilder(DotContraction &dot)
      : dot(dot), builder(dot.op.getLoc(), dot.op) {}

protected:
  /// Address of element (i, j) of the first two dimensions of `operand`.
  Value getAddress(DotOperand &operand, int64_t i, int64_t j) {
    return getAddress(operand.read.getBase(), operand.read.getIndices(),
                      i * operand.strides[0] + j * operand.strides[1]);
  }
  Value getAddress(Value memref, ValueRange indices, int64_t offset);
  /// Calls an intrinsic by the name of its function: deallocation of buffers
  /// refuses llvm.call_intrinsic, whose effects are unknown.
  Value call(StringRef name, Type type, ValueRange operands) {
    LLVM::LLVMFuncOp function = declare(name, type, operands.getTypes());
    auto made = LLVM::CallOp::create(builder, function, operands);
    return type ? made.getResult() : Value();
  }
  LLVM::LLVMFuncOp declare(StringRef name, Type type, TypeRange operands) {
    auto module =
        builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
    if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
      return function;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    if (!type)
      type = LLVM::LLVMVoidType::get(builder.getContext());
    return LLVM::LLVMFuncOp::create(
        builder, name,
        LLVM::LLVMFunctionType::get(type, llvm::to_vector(operands)));
  }
  Value constant(IntegerType type, int64_t value) {
    return arith::ConstantIntOp::create(builder, type, value);
  }

  DotContraction &dot;
  ImplicitLocOpBuilder builder;
};
} // namespace

Value DotBuilder::getAddress(Value memref, ValueRange indices, int64_t offset) {
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, memref);
  Value linear = builder.createOrFold<arith::AddIOp>(
      metadata.getOffset(), arith::ConstantIndexOp::create(builder, offset));
  for (auto [index, stride] : llvm::zip_equal(indices, metadata.getStrides()))
    linear = builder.createOrFold<arith::AddIOp>(
        linear, builder.createOrFold<arith::MulIOp>(index, stride));
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value start =
      arith::IndexCastOp::create(builder, builder.getI64Type(),
                                 memref::ExtractAlignedPointerAsIndexOp::create(
                                     builder, metadata.getBaseBuffer()));
  Value base = LLVM::IntToPtrOp::create(builder, pointer, start);
  Value distance =
      arith::IndexCastOp::create(builder, builder.getI64Type(), linear);
  return LLVM::GEPOp::create(
      builder, pointer, cast<MemRefType>(memref.getType()).getElementType(),
      base, ArrayRef<LLVM::GEPArg>{distance});
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

namespace {
/// Sums in vectors of 16: each group of the left operand, in all lanes, times
/// 16 groups of the right one.
class VectorLowering : public DotBuilder {
public:
  using DotBuilder::DotBuilder;
  static bool fits(DotContraction &dot) {
    // Where both are unsigned no instruction does.
    return dot.n % lanes == 0 && !(dot.left.isUnsigned && dot.right.isUnsigned);
  }
  void run();

private:
  static constexpr int64_t lanes = 16;

  /// Instructions multiply unsigned by signed bytes. A signed left operand has
  /// 128 added; what that adds to the sums is subtracted again.
  bool isBiased() const {
    return !dot.isFloat() && !dot.left.isUnsigned && !dot.right.isUnsigned;
  }
  VectorType getGroups() const {
    return VectorType::get(lanes * dot.group, dot.element);
  }
  VectorType getSums() const {
    return VectorType::get(lanes, dot.sums.getElementType());
  }
  Value load(VectorType type, DotOperand &operand, int64_t i, int64_t j) {
    unsigned bytes = dot.element.getIntOrFloatBitWidth() / 8;
    return LLVM::LoadOp::create(builder, type, getAddress(operand, i, j),
                                bytes);
  }
  Value getLeft(int64_t row, int64_t k);
  Value multiply(Value left, Value right, Value sums) {
    if (dot.right.isUnsigned)
      std::swap(left, right);
    return call(dot.isFloat() ? "llvm.x86.avx512bf16.dpbf16ps.512"
                              : "llvm.x86.avx512.vpdpbusd.512",
                getSums(), {sums, left, right});
  }
  Value splat(int8_t value) {
    return arith::ConstantOp::create(
        builder,
        DenseElementsAttr::get(getGroups(), builder.getI8IntegerAttr(value)));
  }
};
} // namespace

Value VectorLowering::getLeft(int64_t row, int64_t k) {
  Value group = load(VectorType::get(dot.group, dot.element), dot.left, row, k);
  Type bits = builder.getI32Type();
  Value word =
      vector::BitCastOp::create(builder, VectorType::get(1, bits), group);
  word = vector::ExtractOp::create(builder, word, 0);
  Value words =
      vector::BroadcastOp::create(builder, VectorType::get(lanes, bits), word);
  Value groups = vector::BitCastOp::create(builder, getGroups(), words);
  if (!isBiased())
    return groups;
  return arith::XOrIOp::create(builder, groups, splat(-128));
}

void VectorLowering::run() {
  int64_t numColumns = dot.n / lanes;
  SmallVector<Value> sums, bias;
  for (int64_t row = 0; row < dot.m; ++row) {
    Value all = vector::ExtractOp::create(builder, dot.op.getAcc(), row);
    for (int64_t column = 0; column < numColumns; ++column)
      sums.push_back(vector::ExtractStridedSliceOp::create(
          builder, all, ArrayRef<int64_t>{column * lanes},
          ArrayRef<int64_t>{lanes}, ArrayRef<int64_t>{1}));
  }
  if (isBiased())
    bias.assign(numColumns, arith::ConstantOp::create(
                                builder, builder.getZeroAttr(getSums())));
  for (int64_t k = 0; k < dot.k; ++k) {
    SmallVector<Value> right;
    for (int64_t column = 0; column < numColumns; ++column) {
      right.push_back(load(getGroups(), dot.right, k, column * lanes));
      if (isBiased())
        bias[column] = multiply(splat(-128), right.back(), bias[column]);
    }
    for (int64_t row = 0; row < dot.m; ++row) {
      Value left = getLeft(row, k);
      for (int64_t column = 0; column < numColumns; ++column) {
        Value &sum = sums[row * numColumns + column];
        sum = multiply(left, right[column], sum);
      }
    }
  }
  Value result = ub::PoisonOp::create(builder, dot.sums);
  auto rowType = VectorType::get(dot.n, getSums().getElementType());
  for (int64_t row = 0; row < dot.m; ++row) {
    Value all = ub::PoisonOp::create(builder, rowType);
    for (int64_t column = 0; column < numColumns; ++column) {
      Value sum = sums[row * numColumns + column];
      if (isBiased())
        sum = arith::SubIOp::create(builder, sum, bias[column]);
      all = vector::InsertStridedSliceOp::create(
          builder, sum, all, ArrayRef<int64_t>{column * lanes},
          ArrayRef<int64_t>{1});
    }
    result = vector::InsertOp::create(builder, all, result, row);
  }
  dot.op.replaceAllUsesWith(result);
  dot.op.erase();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
/// Sums in tile registers of 16 x 16, carried through the loop around.
class TileLowering : public DotBuilder {
public:
  TileLowering(DotContraction &dot, func::FuncOp function)
      : DotBuilder(dot), function(function) {}
  static bool fits(DotContraction &dot) {
    int64_t m = dot.m / side, n = dot.n / side;
    // The sums, a column of the left operand, one tile of the right one.
    return dot.m % side == 0 && dot.n % side == 0 && dot.k == side &&
           m * n + m + 1 <= 8;
  }
  void run();

private:
  static constexpr int64_t side = 16, rowBytes = 64;

  Type getTile() const {
    return LLVM::LLVMX86AMXType::get(builder.getContext());
  }
  Value getBuffer();
  SmallVector<Value> split(Value sums);
  Value join(ValueRange tiles);
  SmallVector<Value> multiply(ValueRange sums);
  Value load(Value address, int64_t stride);
  Value loadOperand(DotOperand &operand, int64_t i, int64_t j) {
    return load(getAddress(operand, i, j),
                operand.strides[0] * dot.element.getIntOrFloatBitWidth() / 8);
  }
  Value rows() { return constant(builder.getI16Type(), side); }
  Value bytes() { return constant(builder.getI16Type(), rowBytes); }

  func::FuncOp function;
  Value buffer;
};
} // namespace

Value TileLowering::load(Value address, int64_t stride) {
  return call(
      "llvm.x86.tileloadd64.internal", getTile(),
      {rows(), bytes(), address, constant(builder.getI64Type(), stride)});
}

/// Memory of the sums' shape, on the stack.
Value TileLowering::getBuffer() {
  if (buffer)
    return buffer;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  auto type = MemRefType::get(dot.sums.getShape(), dot.sums.getElementType());
  buffer = memref::AllocaOp::create(builder, type,
                                    builder.getI64IntegerAttr(rowBytes));
  return buffer;
}

/// Tiles with the value of `sums`.
SmallVector<Value> TileLowering::split(Value sums) {
  int64_t numTiles = dot.m / side * (dot.n / side);
  SmallVector<Value> tiles;
  if (matchPattern(sums, m_Zero()) || matchPattern(sums, m_AnyZeroFloat())) {
    for (int64_t tile = 0; tile < numTiles; ++tile)
      tiles.push_back(
          call("llvm.x86.tilezero.internal", getTile(), {rows(), bytes()}));
    return tiles;
  }
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  SmallVector<Value> origin{zero, zero};
  vector::TransferWriteOp::create(builder, sums, getBuffer(), origin,
                                  ArrayRef<bool>{true, true});
  for (int64_t row = 0; row < dot.m; row += side)
    for (int64_t column = 0; column < dot.n; column += side)
      tiles.push_back(load(
          getAddress(getBuffer(), origin, row * dot.n + column), dot.n * 4));
  return tiles;
}

Value TileLowering::join(ValueRange tiles) {
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  SmallVector<Value> origin{zero, zero};
  auto next = tiles.begin();
  for (int64_t row = 0; row < dot.m; row += side)
    for (int64_t column = 0; column < dot.n; column += side)
      call("llvm.x86.tilestored64.internal", Type(),
           {rows(), bytes(),
            getAddress(getBuffer(), origin, row * dot.n + column),
            constant(builder.getI64Type(), dot.n * 4), *next++});
  return vector::TransferReadOp::create(builder, dot.sums, getBuffer(), origin,
                                        /*padding=*/std::nullopt,
                                        ArrayRef<bool>{true, true});
}

SmallVector<Value> TileLowering::multiply(ValueRange sums) {
  std::string name = "llvm.x86.tdpbf16ps.internal";
  if (!dot.isFloat())
    name = (Twine("llvm.x86.tdpb") + (dot.left.isUnsigned ? "u" : "s") +
            (dot.right.isUnsigned ? "u" : "s") + "d.internal")
               .str();
  int64_t numColumns = dot.n / side;
  SmallVector<Value> left, result(sums);
  for (int64_t row = 0; row < dot.m; row += side)
    left.push_back(loadOperand(dot.left, row, 0));
  for (int64_t column = 0; column < numColumns; ++column) {
    Value right = loadOperand(dot.right, 0, column * side);
    for (auto [row, tile] : llvm::enumerate(left)) {
      Value &sum = result[row * numColumns + column];
      sum = call(name, getTile(), {rows(), bytes(), bytes(), sum, tile, right});
    }
  }
  return result;
}

/// The loop around `op` that carries its result as the next initial value, and
/// where; null if none does.
static scf::ForOp getCarrier(vector::ContractionOp op, unsigned &number) {
  auto argument = dyn_cast<BlockArgument>(op.getAcc());
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!argument || !loop || argument.getOwner() != loop.getBody() ||
      argument.getArgNumber() == 0 || !argument.hasOneUse() || !op->hasOneUse())
    return nullptr;
  number = argument.getArgNumber() - 1;
  OpOperand &use = *op->getUses().begin();
  bool isCarried = isa<scf::YieldOp>(use.getOwner()) &&
                   use.getOwner()->getParentOp() == loop &&
                   use.getOperandNumber() == number;
  return isCarried ? loop : nullptr;
}

void TileLowering::run() {
  unsigned number = 0;
  scf::ForOp loop = getCarrier(dot.op, number);
  if (!loop) {
    Value result = join(multiply(split(dot.op.getAcc())));
    dot.op.replaceAllUsesWith(result);
    dot.op.erase();
    return;
  }
  builder.setInsertionPoint(loop);
  SmallVector<Value> start = split(loop.getInitArgs()[number]);
  auto next = [&](OpBuilder &, Location, ArrayRef<BlockArgument> sums) {
    builder.setInsertionPoint(dot.op);
    SmallVector<Value> values(sums.begin(), sums.end());
    return multiply(values);
  };
  IRRewriter rewriter(loop);
  FailureOr<LoopLikeOpInterface> made = loop.replaceWithAdditionalYields(
      rewriter, start, /*replaceInitOperandUsesInLoop=*/false, next);
  if (failed(made))
    return;
  auto carrier = cast<scf::ForOp>(made->getOperation());
  // Its vector is carried no more; canonicalisation drops it.
  rewriter.replaceOp(dot.op, carrier.getRegionIterArg(number));
  builder.setInsertionPointAfter(carrier);
  Value result = join(carrier.getResults().take_back(start.size()));
  carrier.getResult(number).replaceAllUsesWith(result);
}

/// Linux lets a process use tile registers once it has asked for them
/// (Documentation/arch/x86/xstate.rst): arch_prctl(ARCH_REQ_XCOMP_PERM,
/// XTILEDATA). To ask again takes about 0.1 us.
static void requestTiles(func::FuncOp function) {
  ImplicitLocOpBuilder builder(function.getLoc(), function.getContext());
  builder.setInsertionPointToStart(&function.getBody().front());
  Type word = builder.getI64Type();
  SmallVector<Value> operands;
  for (int64_t value : {158, 0x1023, 18})
    operands.push_back(arith::ConstantIntOp::create(builder, word, value));
  LLVM::InlineAsmOp::create(builder, word, operands, "syscall",
                            "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::TailCallKind::None, LLVM::AsmDialectAttr(),
                            ArrayAttr());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct DotProducts : cwm::impl::DotProductsBase<DotProducts> {
  using DotProductsBase::DotProductsBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(run(function)))
        return signalPassFailure();
  }

  /// Products of what is widened: lowered otherwise, each of thousands takes
  /// some instructions, and the compiler minutes.
  static bool isWide(vector::ContractionOp op) {
    return op.getLhsType().getRank() == 3 &&
           llvm::any_of(ValueRange{op.getLhs(), op.getRhs()}, [](Value value) {
             return isa_and_present<arith::ExtFOp, arith::ExtSIOp,
                                    arith::ExtUIOp>(value.getDefiningOp());
           });
  }

  LogicalResult run(func::FuncOp function) {
    SmallVector<vector::ContractionOp> ops;
    function->walk([&](vector::ContractionOp op) { ops.push_back(op); });
    bool usesTiles = false;
    for (vector::ContractionOp op : ops) {
      std::optional<DotContraction> dot = DotContraction::match(op);
      if (!dot) {
        if (!instruction.empty() && isWide(op))
          return op.emitError() << "a contraction of groups that are not read "
                                   "from memory as cwm-dot-products needs it";
        continue;
      }
      StringRef tiles = dot->isFloat() ? "amx-bf16" : "amx-int8";
      StringRef vectors = dot->isFloat() ? "avx512bf16" : "avx512vnni";
      if (instruction == tiles && TileLowering::fits(*dot)) {
        TileLowering(*dot, function).run();
        usesTiles = true;
      } else if (instruction == vectors && VectorLowering::fits(*dot)) {
        VectorLowering(*dot).run();
      } else if (!instruction.empty()) {
        return op.emitError() << "a contraction of groups that no instruction "
                              << instruction << " fits";
      }
    }
    if (usesTiles)
      requestTiles(function);
    joinGroups(function);
    return success();
  }
};
} // namespace
