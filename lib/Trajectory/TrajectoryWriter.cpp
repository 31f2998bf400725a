//===- TrajectoryWriter.cpp - Trajectories as JSON Lines and IR -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Trajectory/Trajectory.h"

#include "mlir/IR/Builders.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace cwm;

/// The version of the JSON Lines schema; raise it with any change that a reader
/// has to know of.
static constexpr int schemaVersion = 1;

/// The steps to write, in order; the enclosing steps of each included.
static std::vector<unsigned> selectSteps(const Trajectory &trajectory,
                                         StepFilter filter) {
  const std::vector<Step> &steps = trajectory.steps;
  std::vector<bool> isWanted(steps.size(), filter == StepFilter::All);
  auto want = [&](unsigned index) {
    for (std::optional<unsigned> i = index; i && !isWanted[*i];
         i = steps[*i].parent)
      isWanted[*i] = true;
  };
  if (filter != StepFilter::All) {
    for (auto [index, step] : llvm::enumerate(steps)) {
      bool isFailure = step.status == StepStatus::Silenceable ||
                       step.status == StepStatus::Definite;
      bool isActionWanted = step.kind == StepKind::Action &&
                            (filter == StepFilter::Actions || step.isChanged());
      // A matcher that does not match is no news; any other failure is.
      if (isActionWanted || (isFailure && step.kind != StepKind::Match))
        want(index);
    }
  }
  std::vector<unsigned> selected;
  for (unsigned index = 0; index < steps.size(); ++index)
    if (isWanted[index])
      selected.push_back(index);
  return selected;
}

static std::string toString(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto integer = dyn_cast<IntegerAttr>(attribute);
      integer && !integer.getType().isInteger(1))
    os << integer.getValue();
  else
    attribute.print(os);
  return text;
}

/// `space{knob=value,...}`.
static std::string getCandidateKey(const Trajectory &trajectory,
                                   StringRef spaceName) {
  std::string key = spaceName.str() + "{";
  llvm::raw_string_ostream os(key);
  llvm::interleave(
      trajectory.knobs, os,
      [&](const auto &knob) {
        os << knob.first << '=' << toString(knob.second);
      },
      ",");
  return key + "}";
}

//===----------------------------------------------------------------------===//
// JSON Lines
//===----------------------------------------------------------------------===//

/// Any bytes as a JSON string.
static llvm::json::Value toJSON(StringRef text) {
  return llvm::json::fixUTF8(text);
}

static llvm::json::Value toJSON(const std::vector<std::string> &texts) {
  llvm::json::Array array;
  for (const std::string &text : texts)
    array.push_back(toJSON(StringRef(text)));
  return array;
}

static llvm::json::Object getStepObject(unsigned index, const Step &step) {
  llvm::json::Object object{
      {"kind", "step"},
      {"index", index},
      {"depth", step.depth},
      {"role", stringifyStepKind(step.kind)},
      {"name", step.name},
      {"status", stringifyStepStatus(step.status)},
      {"changed", step.isChanged()},
  };
  auto addNumber = [&](StringRef key, std::optional<unsigned> value) {
    if (value)
      object[key] = *value;
  };
  auto addText = [&](StringRef key, StringRef value) {
    if (!value.empty())
      object[key] = toJSON(value);
  };
  addNumber("parent", step.parent);
  addNumber("before", step.before);
  addNumber("after", step.after);
  addNumber("iteration", step.iteration);
  addText("text", step.text);
  addText("message", step.message);
  addText("invalid", step.invalid);
  addText("location", step.location);
  if (!step.operands.empty())
    object["operands"] = toJSON(step.operands);
  if (!step.results.empty())
    object["results"] = toJSON(step.results);
  if (step.detached)
    object["detached"] = true;
  if (step.rolledBack)
    object["rolled_back"] = true;
  if (!step.patterns.empty()) {
    llvm::json::Object patterns;
    for (auto &[name, count] : step.patterns)
      patterns[llvm::json::fixUTF8(name)] = count;
    object["patterns"] = std::move(patterns);
  }
  return object;
}

void cwm::writeJSONLines(const Trajectory &trajectory,
                         const TrajectoryWriterOptions &options,
                         llvm::raw_ostream &os) {
  auto write = [&](llvm::json::Object object) {
    os << llvm::json::Value(std::move(object)) << '\n';
  };
  std::vector<unsigned> selected = selectSteps(trajectory, options.steps);
  llvm::json::Object header{
      {"kind", "header"},
      {"version", schemaVersion},
      {"llvm", LLVM_VERSION_STRING},
      {"workload", trajectory.states.empty() ? "" : trajectory.states[0].hash},
      {"candidate", toJSON(getCandidateKey(trajectory, options.spaceName))},
      {"status", stringifyStepStatus(trajectory.status)},
      {"states", trajectory.states.size()},
      {"steps", selected.size()},
      {"actions", trajectory.history.size()},
  };
  if (!trajectory.message.empty())
    header["message"] = toJSON(StringRef(trajectory.message));
  write(std::move(header));

  for (auto [index, state] : llvm::enumerate(trajectory.states)) {
    llvm::json::Object object{
        {"kind", "state"}, {"index", index}, {"hash", state.hash}};
    if (!state.text.empty())
      object["text"] = toJSON(StringRef(state.text));
    if (state.detached)
      object["detached"] = true;
    write(std::move(object));
  }
  for (unsigned index : selected)
    write(getStepObject(index, trajectory.steps[index]));
  for (auto [index, entry] : llvm::enumerate(trajectory.history)) {
    llvm::json::Object object{
        {"kind", "action"},
        {"index", index},
        {"text", toJSON(StringRef(trajectory.steps[entry.step].text))}};
    if (llvm::is_contained(selected, entry.step))
      object["step"] = entry.step;
    if (entry.state)
      object["state"] = *entry.state;
    write(std::move(object));
  }
}

//===----------------------------------------------------------------------===//
// IR
//===----------------------------------------------------------------------===//

namespace {
/// Makes optional attributes.
struct AttributeMaker {
  Builder builder;

  IntegerAttr number(std::optional<unsigned> value) {
    return value ? builder.getI64IntegerAttr(*value) : IntegerAttr();
  }
  StringAttr text(StringRef value) {
    return value.empty() ? StringAttr() : builder.getStringAttr(value);
  }
  ArrayAttr texts(const std::vector<std::string> &values) {
    if (values.empty())
      return {};
    return builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(values));
  }
  UnitAttr flag(bool value) {
    return value ? builder.getUnitAttr() : UnitAttr();
  }
  DictionaryAttr counts(const std::map<std::string, unsigned> &values) {
    if (values.empty())
      return {};
    NamedAttrList list;
    for (auto &[name, count] : values)
      list.append(name, builder.getI64IntegerAttr(count));
    return list.getDictionary(builder.getContext());
  }
};
} // namespace

static void buildStep(OpBuilder &builder, AttributeMaker &make, unsigned index,
                      const Step &step) {
  MLIRContext *context = builder.getContext();
  StepOp::create(
      builder, builder.getUnknownLoc(), make.number(index),
      make.number(step.parent), make.number(step.depth),
      StepKindAttr::get(context, step.kind), builder.getStringAttr(step.name),
      StepStatusAttr::get(context, step.status), make.number(step.before),
      make.number(step.after), make.text(step.text), make.text(step.message),
      make.texts(step.operands), make.texts(step.results),
      make.number(step.iteration), make.counts(step.patterns),
      make.text(step.invalid), make.text(step.location),
      make.flag(step.detached), make.flag(step.rolledBack));
}

OwningOpRef<TrajectoryOp>
cwm::buildTrajectoryOp(Trajectory &trajectory,
                       const TrajectoryWriterOptions &options,
                       MLIRContext *context) {
  OpBuilder builder(context);
  AttributeMaker make{Builder(context)};
  Location loc = builder.getUnknownLoc();

  NamedAttrList knobs;
  for (auto &[name, value] : trajectory.knobs)
    knobs.append(name, value);
  CandidateAttr candidate;
  if (!knobs.empty())
    candidate = CandidateAttr::get(
        context, options.spaceName.empty() ? "schedule" : options.spaceName,
        knobs.getDictionary(context));

  OwningOpRef<TrajectoryOp> root = TrajectoryOp::create(
      builder, loc,
      builder.getStringAttr(
          trajectory.states.empty() ? "" : trajectory.states[0].hash),
      candidate, StepStatusAttr::get(context, trajectory.status),
      make.text(trajectory.message));
  builder.setInsertionPointToStart(&root->getBody().emplaceBlock());
  for (auto [index, state] : llvm::enumerate(trajectory.states)) {
    auto op = StateOp::create(builder, loc, make.number(index),
                              builder.getStringAttr(state.hash),
                              make.text(state.text), make.flag(state.detached));
    if (state.payload)
      op.getPayload().emplaceBlock().push_back(state.payload.release());
  }
  std::vector<unsigned> selected = selectSteps(trajectory, options.steps);
  for (unsigned index : selected)
    buildStep(builder, make, index, trajectory.steps[index]);
  for (auto [index, entry] : llvm::enumerate(trajectory.history))
    ActionOp::create(builder, loc, make.number(index),
                     builder.getStringAttr(trajectory.steps[entry.step].text),
                     llvm::is_contained(selected, entry.step)
                         ? make.number(entry.step)
                         : IntegerAttr(),
                     make.number(entry.state));
  return root;
}
