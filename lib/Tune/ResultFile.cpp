//===- ResultFile.cpp - best.mlir: a stock transform library -- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Tune/ResultFile.h"

#include "cwm/Passes/Passes.h"
#include "cwm/Tune/ApplyCommand.h"
#include "cwm/Tune/Report.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/TransformOps/LinalgTransformOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace cwm;

/// First line of every result; getResultWorkload looks for it.
static constexpr llvm::StringLiteral resultMarker = "// cwm-tune result";
static constexpr llvm::StringLiteral payloadField = "// payload:   ";
static constexpr llvm::StringLiteral workloadField = "// workload:  ";
/// Name of the sequence of guards in a result.
static constexpr llvm::StringLiteral guardName = "cwm_check_payload";
/// Name of the sequence that keeps bufferisation from writing to arguments.
static constexpr llvm::StringLiteral inputsName = "cwm_keep_inputs";

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

namespace {
/// One thing that the payload must contain: how to match it, and in words.
struct Requirement {
  std::string match; ///< clauses of transform.structured.match
  std::string words;
};
} // namespace

template <typename T> static std::string toText(const T &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// Structural attributes of a linalg op: those of its definition, without
/// what is bookkeeping or follows from the rest.
static std::string getStructuralAttributes(Operation *op) {
  SmallVector<std::string> entries;
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    StringRef name = attribute.getName().getValue();
    if (name.contains('.') || name == "operandSegmentSizes" || name == "doc" ||
        name == "library_call")
      continue;
    entries.push_back(name.str() + " = " + toText(attribute.getValue()));
  }
  return llvm::join(entries, ", ");
}

static Requirement getRequirement(Operation *op) {
  std::string name = op->getName().getStringRef().str();
  Requirement requirement;
  requirement.match = "ops{[\"" + name + "\"]}";
  requirement.words = name;
  if (!isa<linalg::LinalgOp>(op))
    return requirement;
  if (std::string attributes = getStructuralAttributes(op); !attributes.empty())
    requirement.match += " attributes {" + attributes + "}";
  std::string operands = toText(llvm::interleaved(op->getOperandTypes()));
  if (op->getNumResults() == 1)
    requirement.match +=
        " filter_result_type = " + toText(op->getResult(0).getType());
  // A single type in the list would be compared with every operand.
  if (op->getNumOperands() > 1)
    requirement.match += " filter_operand_types = [" + operands + "]";
  requirement.words += " on (" + operands + ")";
  return requirement;
}

/// What the payload holds, each requirement with how often.
static SmallVector<std::pair<Requirement, int64_t>>
collectRequirements(const Payload &payload) {
  llvm::MapVector<StringRef, std::pair<Requirement, int64_t>> counts;
  SmallVector<std::unique_ptr<std::string>> keys;
  auto add = [&](Requirement requirement) {
    auto *found = counts.find(requirement.match);
    if (found != counts.end()) {
      ++found->second.second;
      return;
    }
    keys.push_back(std::make_unique<std::string>(requirement.match));
    counts[*keys.back()] = {std::move(requirement), 1};
  };

  func::FuncOp entry = payload.getEntry();
  std::string type = toText(entry.getFunctionType());
  add({"ops{[\"func.func\"]} attributes {function_type = " + type + "}",
       "function of type " + type});
  // The schedule acts on the whole module: nothing else may be in it.
  add({"ops{[\"func.func\"]}", "function in the module"});
  entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>())
      return;
    if (isa<linalg::LinalgDialect, arith::ArithDialect, math::MathDialect>(
            op->getDialect()) &&
        !isa<linalg::YieldOp, linalg::IndexOp>(op))
      add(getRequirement(op));
  });
  SmallVector<std::pair<Requirement, int64_t>> result;
  for (auto &entryAndCount : counts)
    result.push_back(std::move(entryAndCount.second));
  return result;
}

std::vector<std::string> cwm::renderGuards(const Payload &payload,
                                           StringRef root, StringRef rootType) {
  std::vector<std::string> lines;
  llvm::MapVector<int64_t, std::string> constants;
  unsigned index = 0;
  for (const auto &[requirement, count] : collectRequirements(payload)) {
    std::string &constant = constants[count];
    if (constant.empty()) {
      constant = llvm::formatv("%guard_count_{0}", count);
      lines.push_back(
          llvm::formatv("{0} = transform.param.constant {1} : i64 -> "
                        "!transform.param<i64>",
                        constant, count));
    }
    lines.push_back(llvm::formatv(
        "%guard_{0} = transform.structured.match {1} in {2} : ({3}) -> "
        "!transform.any_op",
        index, requirement.match, root, rootType));
    lines.push_back(
        llvm::formatv("%guard_found_{0} = transform.num_associations "
                      "%guard_{0} : (!transform.any_op) -> "
                      "!transform.param<i64>",
                      index));
    // The location is what stock mlir-opt prints when the check fails.
    std::string message = llvm::formatv(
        "this schedule was made for another payload: it needs exactly {0} x "
        "{1}",
        count, requirement.words);
    lines.push_back(llvm::formatv(
        "transform.match.param.cmpi eq %guard_found_{0}, {1} : "
        "!transform.param<i64> loc({2})",
        index, constant,
        toText(StringAttr::get(payload.getModule().getContext(), message))));
    ++index;
  }
  return lines;
}

/// Sets the attributes of the function's arguments to what they are, and
/// tensors to read-only. Without it, bufferisation takes an argument for a
/// buffer that results may be computed in; workers mark arguments in the same
/// way.
static std::vector<std::string> renderReadOnlyInputs(const Payload &payload) {
  MLIRContext *context = payload.getModule().getContext();
  OwningOpRef<ModuleOp> marked = payload.getModule().clone();
  markInputsReadOnly(*marked);
  auto entry =
      marked->lookupSymbol<func::FuncOp>(payload.getEntry().getSymName());
  SmallVector<Attribute> attributes;
  for (unsigned index = 0, end = entry.getNumArguments(); index < end;
       ++index) {
    DictionaryAttr own = entry.getArgAttrDict(index);
    attributes.push_back(own ? own : DictionaryAttr::get(context));
  }
  if (attributes.empty())
    return {};
  return {"%function = transform.structured.match ops{[\"func.func\"]} in "
          "%root",
          "%inputs = transform.param.constant " +
              toText(ArrayAttr::get(context, attributes)) +
              " -> !transform.any_param",
          "transform.annotate %function \"arg_attrs\" = %inputs : "
          "!transform.any_op, !transform.any_param"};
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

Operation *cwm::findNonStockOp(ModuleOp script) {
  Operation *found = nullptr;
  script.walk([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    auto pass = dyn_cast<transform::ApplyRegisteredPassOp>(op);
    // transform.cwm.* and transform.apply_patterns.cwm.* alike.
    if (!name.starts_with("cwm.") && !name.contains(".cwm.") &&
        !(pass && pass.getPassName().starts_with("cwm-")))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

bool cwm::hasBooleanVectors(ModuleOp script, const Payload &payload) {
  auto isBoolean = [](Type type) {
    auto tensor = dyn_cast<TensorType>(type);
    return tensor && tensor.getElementType().isInteger(1);
  };
  auto hasBooleans = [&](Operation *op) {
    return llvm::any_of(op->getOperandTypes(), isBoolean) ||
                   llvm::any_of(op->getResultTypes(), isBoolean)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  auto vectorises = [](Operation *op) {
    return isa<transform::VectorizeOp,
               transform::VectorizeChildrenAndApplyPatternsOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  func::FuncOp entry = payload.getEntry();
  return entry.walk(hasBooleans).wasInterrupted() &&
         script.walk(vectorises).wasInterrupted();
}

std::string cwm::describeNonStockOp(Operation *op) {
  if (auto pass = dyn_cast<transform::ApplyRegisteredPassOp>(op))
    return "the pass " + pass.getPassName().str();
  return "the op " + op->getName().getStringRef().str();
}

std::optional<ResultOwner> cwm::getResultOwner(StringRef text) {
  if (!text.starts_with(resultMarker))
    return std::nullopt;
  ResultOwner owner;
  while (text.starts_with("//")) {
    auto [line, rest] = text.split('\n');
    if (line.consume_front(payloadField))
      owner.payload = line.trim().str();
    if (line.consume_front(workloadField)) {
      owner.workload = line.trim().str();
      return owner;
    }
    text = rest;
  }
  return std::nullopt;
}

static std::string renderHeader(ModuleOp script, const Payload &payload,
                                const ResultInfo &info) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // File names must not end the comment, and the file is text.
  auto oneLine = [](StringRef value) {
    if (llvm::json::isUTF8(value) &&
        llvm::none_of(value, [](unsigned char c) { return c < 0x20; }))
      return value.str();
    std::string line;
    llvm::raw_string_ostream lineStream(line);
    llvm::printEscapedString(value, lineStream);
    return line;
  };
  std::string payloadName =
      info.payloadFile == "-" ? "stdin" : oneLine(info.payloadFile);
  os << resultMarker << ": a schedule for one payload, as a transform library\n"
     << "//\n"
     << "// made by:   " << info.toolchain << "\n"
     << payloadField << payloadName << ", @"
     << oneLine(payload.getEntry().getName()) << "\n"
     << workloadField << payload.getWorkloadHash() << "\n"
     << "// target:    " << oneLine(info.target) << "\n"
     << "// candidate: " << oneLine(info.candidate) << "\n"
     << llvm::formatv("// measured:  {0} with {1}; baseline {2}; speed-up "
                      "{3:F2}\n",
                      formatTime(info.timeNs),
                      info.measuredWithStock ? "the passes below"
                                             : "cwm-lower-to-cpu",
                      formatTime(info.baselineTimeNs), info.speedup);
  if (!info.stockOutcome.empty())
    os << "// stock:     " << oneLine(info.stockOutcome) << "\n";
  SmallVector<std::string> constants;
  for (auto [index, input] : llvm::enumerate(payload.getInputs()))
    if (input.isConstant)
      constants.push_back(("#" + Twine(index)).str());
  if (!constants.empty())
    os << "// constants: work on arguments " << llvm::join(constants, ", ")
       << " alone is not in the measured time:\n//            "
          "cwm-lower-to-cpu moves it to @"
       << oneLine(payload.getEntry().getName())
       << "_prepack, stock passes do not\n";
  os << "//\n";
  if (Operation *op = findNonStockOp(script))
    os << "// It uses " << describeNonStockOp(op)
       << " of cwm: load the plugin.\n";
  os << "// Apply it";
  if (quoteForPipeline(info.outputFile) == resultPlaceholder)
    os << " (" << resultPlaceholder << " stands for this file)";
  os << ":\n//   "
     << getApplyCommand(info.appliedFile, info.outputFile, info.plugin) << "\n"
     << "// and lower what comes out (results become trailing arguments, bare "
        "pointers):\n//   "
     << getMlirOptName() << " --pass-pipeline='" << info.loweringPipeline
     << "'\n";
  if (info.threads > 1)
    os << "// and link LLVM's OpenMP runtime (-lomp) for its " << info.threads
       << " threads\n";
  os << "\n";
  return text;
}

/// The printed form of the entry sequence starts with a line of this shape;
/// returns where its body starts, with the name and type of its argument.
static FailureOr<size_t> findEntryBody(StringRef text, std::string &root,
                                       std::string &rootType) {
  size_t start = text.find("transform.named_sequence @__transform_main(");
  if (start == StringRef::npos)
    return failure();
  size_t end = text.find('\n', start);
  StringRef line = text.slice(start, end);
  StringRef argument = line.split('(').second;
  root = argument.take_until([](char c) { return c == ':'; }).trim().str();
  StringRef type = argument.split(':').second.trim();
  // A type may hold commas and parentheses only inside of <...>.
  unsigned depth = 0;
  size_t length = 0;
  for (char c : type) {
    if (c == '<')
      ++depth;
    if (c == '>')
      --depth;
    if (depth == 0 && (c == ')' || c == ',' || c == ' '))
      break;
    ++length;
  }
  rootType = type.take_front(length).str();
  return end + 1;
}

/// Takes out of a result, which is tuned again as a schedule, what renderResult
/// puts in.
static void eraseOwnSequences(ModuleOp script) {
  auto isOwn = [](StringRef name) {
    return name == guardName || name == inputsName;
  };
  SmallVector<Operation *> own;
  script.walk([&](Operation *op) {
    auto include = dyn_cast<transform::IncludeOp>(op);
    auto sequence = dyn_cast<transform::NamedSequenceOp>(op);
    if ((include && isOwn(include.getTarget().getLeafReference())) ||
        (sequence && isOwn(sequence.getSymName())))
      own.push_back(op);
  });
  for (Operation *op : own)
    op->erase();
}

FailureOr<std::string> cwm::renderResult(ModuleOp boundScript,
                                         const Payload &payload,
                                         const ResultInfo &info) {
  OwningOpRef<ModuleOp> script = boundScript.clone();
  eraseOwnSequences(*script);
  std::string text;
  llvm::raw_string_ostream stream(text);
  script->print(stream, OpPrintingFlags().enableDebugInfo(false));
  std::string root, rootType;
  FailureOr<size_t> body = findEntryBody(text, root, rootType);
  if (failed(body))
    return boundScript.emitError()
           << "has no transform.named_sequence @__transform_main";

  // The guards are a sequence of their own: their handles end with it. A
  // handle that lives on would point to freed ops once a pass run by the
  // schedule has erased them, and the interpreter looks at all live handles.
  size_t line = StringRef(text).take_front(*body - 1).rfind('\n') + 1;
  std::string margin(text.find_first_not_of(' ', line) - line, ' ');
  std::string inner = margin + "  ";
  std::string result = renderHeader(boundScript, payload, info);
  result += StringRef(text).take_front(line);
  result += margin + "// Fails on a module of another structure.\n" + margin +
            "transform.named_sequence @" + guardName.str() +
            "(%root: " + rootType + " {transform.readonly}) {\n";
  for (const std::string &guard : renderGuards(payload, "%root", rootType))
    result += inner + guard + "\n";
  result += inner + "transform.yield\n" + margin + "}\n";
  std::vector<std::string> inputs = renderReadOnlyInputs(payload);
  if (!inputs.empty()) {
    result += margin + "// Nothing is written to arguments.\n" + margin +
              "transform.named_sequence @" + inputsName.str() +
              "(%root: " + rootType + " {transform.readonly}) {\n";
    inputs.front() += " : (" + rootType + ") -> !transform.any_op";
    inputs.push_back("transform.yield");
    for (const std::string &input : inputs)
      result += inner + input + "\n";
    result += margin + "}\n";
  }
  result += StringRef(text).slice(line, *body);
  result += inner + "transform.include @" + guardName.str() +
            " failures(propagate) (" + root + ") : (" + rootType + ") -> ()\n";
  if (!inputs.empty())
    result += inner + "transform.include @" + inputsName.str() +
              " failures(propagate) (" + root + ") : (" + rootType +
              ") -> ()\n";
  result += StringRef(text).drop_front(*body);
  if (result.back() != '\n')
    result += '\n';
  return result;
}
