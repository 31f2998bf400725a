//===- ObjectCode.cpp - Object code of a lowered payload --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Target/CPU/Lowering.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace mlir;

void cwm::registerCPUTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerOpenMPDialectTranslation(registry);
}

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// A target machine for `hardware`. Making one takes about a millisecond, so
/// the last one is kept for each thread.
static llvm::Expected<llvm::TargetMachine *>
getTargetMachine(const cwm::HardwareDescription &hardware) {
  struct Cache {
    std::string key;
    std::unique_ptr<llvm::TargetMachine> machine;
  };
  static thread_local Cache cache;
  std::string key = hardware.cpu + "\n" + hardware.features;
  if (cache.machine && cache.key == key)
    return cache.machine.get();

  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return makeError("no code generator for " + triple.str() + ": " + message);
  llvm::TargetOptions options;
  // Contraction follows the `contract` flags of the IR.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, hardware.cpu, hardware.features, options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine)
    return makeError("no target machine for cpu '" + hardware.cpu + "'");
  cache.machine = std::move(machine);
  cache.key = std::move(key);
  return cache.machine.get();
}

/// Sends allocations to cwm_alloc and cwm_free, and tells LLVM what they are:
/// it cannot know that the generic names do not alias other memory.
static void nameAllocators(llvm::Module &module) {
  if (llvm::Function *alloc =
          module.getFunction("_mlir_memref_to_llvm_alloc")) {
    alloc->setName("cwm_alloc");
    alloc->setReturnDoesNotAlias();
    alloc->setDoesNotThrow();
    alloc->addRetAttr(llvm::Attribute::getWithAlignment(module.getContext(),
                                                        llvm::Align(64)));
  }
  if (llvm::Function *free = module.getFunction("_mlir_memref_to_llvm_free")) {
    free->setName("cwm_free");
    free->setDoesNotThrow();
  }
}

/// Adds `void NAME(void **buffers)` that calls `function`, so that a caller
/// needs no prototype for each payload.
static llvm::Error addPackedEntry(llvm::Module &module,
                                  llvm::Function *function, StringRef name) {
  StringRef entryName = function->getName();
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  if (!function->getReturnType()->isVoidTy())
    return makeError("@" + entryName +
                     " still returns a value after lowering: results must "
                     "become out-parameters");
  for (llvm::Argument &argument : function->args())
    if (argument.getType() != pointer)
      return makeError("argument #" + Twine(argument.getArgNo()) + " of @" +
                       entryName + " is not a bare pointer after lowering");
  auto *packed = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer}, false),
      llvm::GlobalValue::ExternalLinkage, name, module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", packed));
  SmallVector<llvm::Value *> arguments;
  for (llvm::Argument &argument : function->args())
    arguments.push_back(builder.CreateLoad(
        pointer, builder.CreateConstGEP1_64(pointer, packed->getArg(0),
                                            argument.getArgNo())));
  builder.CreateCall(function, arguments);
  builder.CreateRetVoid();
  return llvm::Error::success();
}

/// The entries of `entryName` and of what cwm-hoist-constants split off it.
static llvm::Error addPackedEntries(llvm::Module &module, StringRef entryName) {
  llvm::Function *entry = module.getFunction(entryName);
  if (!entry || entry->isDeclaration())
    return makeError("the lowered module has no function @" + entryName);
  if (llvm::Error error = addPackedEntry(module, entry, cwm::packedEntryName))
    return error;
  llvm::Function *prepack = module.getFunction((entryName + "_prepack").str());
  llvm::Function *prepacked =
      module.getFunction((entryName + "_prepacked").str());
  llvm::GlobalVariable *table =
      module.getNamedGlobal((entryName + "_prepack_table").str());
  if (!prepack || !prepacked || !table)
    return llvm::Error::success();
  if (llvm::Error error =
          addPackedEntry(module, prepack, cwm::prepackEntryName))
    return error;
  if (llvm::Error error =
          addPackedEntry(module, prepacked, cwm::prepackedEntryName))
    return error;
  llvm::GlobalAlias::create(cwm::prepackTableName, table);
  return llvm::Error::success();
}

static void setFunctionAttributes(llvm::Module &module,
                                  const cwm::HardwareDescription &hardware) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", hardware.cpu);
    function.addFnAttr("target-features", hardware.features);
    // For LLVM's own vectorisers; MLIR's vectors have their width already.
    function.addFnAttr("prefer-vector-width",
                       std::to_string(hardware.vectorBits));
    function.setDoesNotThrow();
  }
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::TargetLibraryInfoImpl libraryInfo(module.getTargetTriple());
  functions.registerPass(
      [&] { return llvm::TargetLibraryAnalysis(libraryInfo); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

namespace {
/// Collects what the back end reports instead of printing and exiting.
struct CollectErrors : llvm::DiagnosticHandler {
  explicit CollectErrors(std::string &errors) : errors(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    llvm::raw_string_ostream stream(errors);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    stream << "; ";
    return true;
  }
  std::string &errors;
};
} // namespace

llvm::Expected<SmallVector<char, 0>>
cwm::compileToObject(ModuleOp module, StringRef entry,
                     const HardwareDescription &hardware) {
  llvm::Expected<llvm::TargetMachine *> machine = getTargetMachine(hardware);
  if (!machine)
    return machine.takeError();

  llvm::LLVMContext context;
  std::string errors;
  context.setDiagnosticHandler(std::make_unique<CollectErrors>(errors));
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, "cwm_kernel");
  if (!llvmModule)
    return makeError("translation to LLVM IR failed");
  llvmModule->setDataLayout((*machine)->createDataLayout());
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  nameAllocators(*llvmModule);
  if (llvm::Error error = addPackedEntries(*llvmModule, entry))
    return error;
  setFunctionAttributes(*llvmModule, hardware);
  optimize(*llvmModule, **machine);

  SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager codegen;
  if ((*machine)->addPassesToEmitFile(codegen, stream, nullptr,
                                      llvm::CodeGenFileType::ObjectFile))
    return makeError("the target cannot emit object files");
  codegen.run(*llvmModule);
  if (!errors.empty())
    return makeError("code generation failed: " +
                     StringRef(errors).drop_back(2));
  return object;
}

llvm::Expected<int64_t> cwm::getCodeBytes(ArrayRef<char> object) {
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> file =
      llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(
          StringRef(object.data(), object.size()), "cwm_kernel"));
  if (!file)
    return file.takeError();
  int64_t bytes = 0;
  for (const llvm::object::SectionRef &section : (*file)->sections())
    if (section.isText())
      bytes += static_cast<int64_t>(section.getSize());
  return bytes;
}
