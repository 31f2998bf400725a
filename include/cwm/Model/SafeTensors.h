//===- SafeTensors.h - Files of named tensors -------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_SAFETENSORS_H
#define CWM_MODEL_SAFETENSORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cwm {

/// Element types of the format that we know; others are refused.
enum class TensorType { F64, F32, F16, BF16, I64, I32, I16, I8, U8, Bool };

/// As files spell it ("F32", "BOOL").
llvm::StringRef getTensorTypeName(TensorType type);
/// Bytes of one element.
size_t getTensorTypeSize(TensorType type);

/// A tensor in memory that belongs to somebody else; elements are row-major.
struct TensorView {
  TensorType type = TensorType::F32;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::ArrayRef<char> data;

  /// Product of the extents; 1 for a scalar.
  int64_t getNumElements() const;
  /// "F32[256, 512]", for messages.
  std::string describe() const;
};

/// A `.safetensors` file: eight bytes with the length of a JSON header, the
/// header (name -> dtype, shape, place), the elements. The whole file is read
/// and checked when it is opened: every tensor lies within it, has the bytes
/// that its shape asks for, and shares none with another. Not mapped into
/// memory: whoever truncated the file would end this process.
class SafeTensors {
public:
  /// The most that a header may take, as in the reference implementation.
  static constexpr uint64_t maxHeaderBytes = 100'000'000;
  /// The most that is read of a file.
  static constexpr uint64_t maxFileBytes = uint64_t(16) << 30;

  /// Errors are one line that begins with "cannot read 'path': ".
  static llvm::Expected<SafeTensors> open(llvm::StringRef path);
  /// Takes the contents of a file; its identifier is the name in errors.
  static llvm::Expected<SafeTensors>
  parse(std::unique_ptr<llvm::MemoryBuffer> contents);

  llvm::StringRef getPath() const { return contents->getBufferIdentifier(); }
  /// By name. Views are valid as long as this object (or what it was moved to).
  const std::map<std::string, TensorView, std::less<>> &getTensors() const {
    return tensors;
  }
  const std::map<std::string, std::string, std::less<>> &getMetadata() const {
    return metadata;
  }
  bool contains(llvm::StringRef name) const { return find(name) != nullptr; }
  /// Null if there is none of that name.
  const TensorView *find(llvm::StringRef name) const;

  /// A tensor of floats (F64, F32, F16, BF16) as F32. -1 in `shape` stands for
  /// any extent; `found` gets the shape that it has. Errors, each naming file
  /// and tensor: there is none, another rank or extent, integers, a value that
  /// is not finite.
  llvm::Expected<std::vector<float>>
  getFloats(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
            llvm::SmallVectorImpl<int64_t> *found = nullptr) const;

private:
  std::unique_ptr<llvm::MemoryBuffer> contents;
  std::map<std::string, TensorView, std::less<>> tensors;
  std::map<std::string, std::string, std::less<>> metadata;
};

/// A file to be: name -> tensor, and free text by key.
struct TensorsToWrite {
  std::map<std::string, TensorView> tensors;
  std::map<std::string, std::string> metadata;
};

/// Writes a `.safetensors` file, the same bytes each time for the same tensors.
/// Elements lie in order of size of element and name, aligned to 8 bytes. The
/// file appears whole or not at all, through a temporary file beside it. Errors
/// are one line: "cannot write 'path': ", or a tensor whose data does not have
/// the bytes of its shape.
llvm::Error writeSafeTensors(llvm::StringRef path, const TensorsToWrite &file);

} // namespace cwm

#endif // CWM_MODEL_SAFETENSORS_H
