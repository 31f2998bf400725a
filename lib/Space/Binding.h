//===- Binding.h - Attributes bound to knobs --------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `cwm.bind = {ATTR = VALUE}` sets attributes that take no parameters. VALUE
// is a template: knob names stand for the value of the knob, integers for
// themselves, arrays and dictionaries are resolved element by element.
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SPACE_BINDING_H
#define CWM_LIB_SPACE_BINDING_H

#include "cwm/Space/Space.h"

namespace cwm {

inline constexpr llvm::StringLiteral bindAttrName = "cwm.bind";
inline constexpr llvm::StringLiteral defaultAttrName = "cwm.default";

/// The right-hand side of a binding.
struct BindTemplate {
  enum class Kind { Literal, Knob, Array, Dictionary };
  Kind kind = Kind::Literal;
  mlir::Attribute literal;
  unsigned knob = 0;
  std::vector<BindTemplate> children;
  std::vector<mlir::StringAttr> names; ///< of a dictionary's children

  /// Appends the knobs it mentions.
  void getKnobs(std::vector<unsigned> &result) const;
  /// Gives each knob another number.
  void renumberKnobs(llvm::function_ref<unsigned(unsigned)> number);
  /// The value under the given option of each knob.
  mlir::Attribute
  resolve(mlir::MLIRContext *context,
          llvm::function_ref<mlir::Attribute(unsigned)> option) const;
};

/// The kind of attribute an operation wants, to which values are converted.
struct AttributeForm {
  enum class Kind { Raw, Integer, Bool, Unit, Float, DenseArray, IntegerArray };
  Kind kind = Kind::Raw;
  mlir::Type elementType;

  /// Null when `value` cannot be converted. A unit attribute that shall be
  /// absent is BoolAttr false.
  mlir::Attribute convert(mlir::Attribute value) const;
};

/// One entry of `cwm.bind`.
struct BoundAttribute {
  mlir::StringAttr name;
  BindTemplate value;
  AttributeForm form;
};

/// True when `dictionary` declares or names a knob in place.
bool isKnobDictionary(mlir::DictionaryAttr dictionary);

/// Reads `entry` of the `cwm.bind` of `op` and checks that the attribute exists
/// and takes each option of each knob; `index` numbers the knobs by name.
/// Emits one error and fails otherwise.
mlir::LogicalResult readBinding(mlir::Operation *op, mlir::NamedAttribute entry,
                                llvm::ArrayRef<Knob> knobs,
                                const llvm::StringMap<unsigned> &index,
                                BoundAttribute &bound);

/// Finds the form of attribute `name` of `op` such that `value` is accepted by
/// the operation; nullopt when there is none.
std::optional<AttributeForm>
findForm(mlir::Operation *op, mlir::StringAttr name, mlir::Attribute value);

/// True when `op` accepts `value` (already converted) as attribute `name`.
bool acceptsAttribute(mlir::Operation *op, mlir::StringAttr name,
                      mlir::Attribute value);

/// Sets (or, for a unit attribute that shall be absent, removes) it.
void setBoundAttribute(mlir::Operation *op, const BoundAttribute &bound,
                       mlir::Attribute converted);

/// Gives `op` (tile_using_for or fuse) the number of loop results that its
/// sizes ask for. `oldSizes` are the sizes the present results stand for: a
/// handle follows its dimension when both lists have the same rank, its
/// position otherwise; an interchange that changes is a change of what stands
/// at a position. Fails with an error when a loop that disappears has uses.
/// Returns the operation, rebuilt if necessary.
mlir::FailureOr<mlir::Operation *>
fixLoopResults(mlir::Operation *op, llvm::ArrayRef<int64_t> oldSizes);

/// True for operations whose number of results depends on tile sizes; then
/// fills the sizes and the interchange.
bool getTileSizes(mlir::Operation *op, llvm::SmallVectorImpl<int64_t> &sizes,
                  llvm::SmallVectorImpl<int64_t> &interchange);

} // namespace cwm

#endif // CWM_LIB_SPACE_BINDING_H
