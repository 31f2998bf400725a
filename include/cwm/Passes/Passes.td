//===- Passes.td - Passes of cwm --------------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_PASSES_PASSES_TD
#define CWM_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def ContractArithmetic : Pass<"cwm-contract-arithmetic"> {
  let summary = "allow contraction of floating-point multiply and add";
  let description = [{
    Adds the `contract` fast-math flag to floating-point additions,
    subtractions and multiplications of the arith dialect, so that LLVM forms
    fused multiply-adds. Nothing else about the arithmetic is relaxed.
  }];
}

def DotProducts : Pass<"cwm-dot-products", "::mlir::ModuleOp"> {
  let summary = "lower contractions of groups to dot product instructions";
  let description = [{
    Lowers `vector.contract` of operands that are read from memory as groups of
    32 bits, two bf16 or four i8, and widened to f32 or i32, with one of

    | instruction | sums | operands |
    |---|---|---|
    | `amx-bf16` | 16 x 16 of f32 in a tile register | 16 groups along k |
    | `amx-int8` | 16 x 16 of i32 in a tile register | the same, signed or unsigned |
    | `avx512bf16` | 16 of f32 in a vector | |
    | `avx512vnni` | 16 of i32 in a vector | not both unsigned; both signed costs a correction |

    The sums are (m, n), the operands (m, k, group) and (k, n, group). Sums in
    tile registers stay there through the loop that carries them. A contraction
    of groups that the instruction does not fit is an error: lowered otherwise, it
    would be thousands of operations. Without an instruction all are left alone.

    Linux lets a process use tile registers once it has asked: a function that
    uses them starts with that system call. Where it is refused, the first use
    raises SIGILL.

    Products and sums of bf16 are those of the instructions: denormals count as
    zero and sums round to nearest even, whatever the environment says.

    Then groups move together: transfers and transpositions of vectors whose
    last dimension is a group become those of rows.
  }];
  let options = [
    Option<"instruction", "instruction", "std::string", "\"\"",
           "a name from the table">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def ApplySketch : Pass<"cwm-apply-sketch", "::mlir::ModuleOp"> {
  let summary = "apply one candidate of a sketch to a payload";
  let description = [{
    Finds the sketches that fit the payload on a CPU, binds one candidate and
    interprets it in this process: what a worker of cwm-tune does before it
    lowers. Without options it is the baseline: the default candidate of the
    first sketch that fits. A sketch that does not fit is an error that names
    those that do.
  }];
  let options = [
    Option<"sketch", "sketch", "std::string", "\"\"",
           "name of the sketch, the first that fits by default">,
    Option<"assignment", "knobs", "std::string", "\"\"",
           "options as NAME=VALUE,... or the key of a candidate">,
    Option<"hardware", "hardware", "std::string", "\"\"",
           "hardware description as a file, this machine by default">,
    Option<"threads", "threads", "int64_t", "1",
           "threads that the loops are shared out among">,
    Option<"script", "script", "bool", "false",
           "replace the payload by the script instead of applying it">
  ];
}

defvar modelOptions = [
  Option<"model", "model", "std::string", "\"\"",
         "folder of the model, the installed one by default">
];
defvar scoreOptions = modelOptions # [
  Option<"hardware", "hardware", "std::string", "\"\"",
         "hardware description as a file, this machine by default">,
  Option<"threads", "threads", "int64_t", "1",
         "threads that the code runs on">
];
defvar scheduleOptions = [
  ListOption<"schedules", "schedules", "std::string",
             "files of bound schedules, one each">
];

def Encode : Pass<"cwm-encode", "::mlir::ModuleOp"> {
  let summary = "compute the latent state of a payload";
  let description = [{
    Encodes the canonical text of the module with the encoder of a model and
    adds the attributes `cwm.state`, the text's hash, and `cwm.latent`, the
    latent state. Any state of a payload has one, scheduled or not.
  }];
  let options = modelOptions # [
    Option<"text", "text", "bool", "false",
           "add the canonical text as the attribute cwm.text">
  ];
}

def RollOut : Pass<"cwm-rollout", "::mlir::ModuleOp"> {
  let summary = "predict what schedules do to the latent state of a payload";
  let description = [{
    For each of some bound schedules, predicts the latent state of the payload
    behind each of its actions, as far as the lowering, which models do not
    see. Nothing is applied. Adds the attribute `cwm.rollout`: a dictionary from
    the schedules' names (of their files, without folder and extension) to lists
    of `{action = "text", latent = array<f32: ...>}`. A remark for each schedule
    says how far the state moved.
  }];
  let options = modelOptions # scheduleOptions;
}

def Rank : Pass<"cwm-rank", "::mlir::ModuleOp"> {
  let summary = "order schedules for a payload by a model's belief";
  let description = [{
    Scores bound schedules for the payload with a model, without applying any,
    and adds the attribute `cwm.rank`: a list of `{schedule = "name", score =
    1.0 : f32}` of the files' names, the one believed fastest first. Scores order
    the schedules of one payload and mean nothing beyond that. A remark for each
    says its place.
  }];
  let options = scoreOptions # scheduleOptions;
}

def Schedule : Pass<"cwm-schedule", "::mlir::ModuleOp"> {
  let summary = "schedule a payload by a model alone";
  let description = [{
    Draws candidates of all sketches that fit the payload, scores them with a
    model, and applies the best: nothing is compiled and nothing measured, so
    this can be a part of any pipeline. What is believed best may fail to
    apply; then the next one is taken, and after `attempts` of them the
    default candidate. A remark says which candidate it was.

    The candidates' results are not verified, as those of cwm-tune are.
  }];
  let options = scoreOptions # [
    Option<"samples", "samples", "int64_t", "1000",
           "candidates that are scored">,
    Option<"seed", "seed", "uint64_t", "0", "seed of the samples">,
    Option<"attempts", "attempts", "int64_t", "8",
           "candidates that are applied before the default is">,
    Option<"script", "script", "bool", "false",
           "replace the payload by the script instead of applying it">
  ];
}

def BindSchedule : Pass<"cwm-bind", "::mlir::ModuleOp"> {
  let summary = "bind one candidate of a schedule";
  let description = [{
    Replaces a schedule with knobs by the script of one candidate: knobs and
    alternatives selected, `cwm.bind` attributes resolved, constraints checked
    and removed. What is left are upstream operations only, unless the schedule
    uses ours.

    Knobs that are not named have their default option. An unknown knob or
    option, and an assignment that violates a constraint, is an error.
  }];
  let options = [
    Option<"assignment", "knobs", "std::string", "\"\"",
           "options as NAME=VALUE,... or the key of a candidate">
  ];
}

def InspectSpace : Pass<"cwm-space", "::mlir::ModuleOp"> {
  let summary = "print what a schedule leaves open";
  let description = [{
    Prints on standard output the number of candidates of a schedule and,
    where asked for, its knobs, its first candidates, or random ones. The
    schedule itself is left as it is.
  }];
  let options = [
    Option<"list", "list", "bool", "false", "print each knob with its options">,
    Option<"enumerate", "enumerate", "int64_t", "0",
           "print the keys of the first N candidates; -1: all">,
    Option<"sample", "sample", "int64_t", "0",
           "print the keys of N random candidates">,
    Option<"seed", "seed", "uint64_t", "0", "seed of the random candidates">
  ];
}

def CheckKnobs : Pass<"cwm-check-knobs", "::mlir::ModuleOp"> {
  let summary = "report options of a schedule's knobs that change nothing";
  let description = [{
    Applies a schedule with knobs (without one: each sketch that fits the payload
    on a CPU, with the knobs' options for it) to the payload module, once for each option of
    each knob while the other knobs keep their default (or, where a constraint
    forbids that, the nearest options it allows), and compares the outcomes. A
    warning names the options of a knob that lead to the same IR, options with
    which the schedule fails, and options that no constraint allows; a line on
    standard output sums up. The payload is left as it is.

    Schedules run in this process: one that crashes an upstream transform
    crashes it.
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"\"",
           "file of the schedule, the sketches that fit by default">,
    Option<"hardware", "hardware", "std::string", "\"\"",
           "for sketches: hardware description as a file, this machine by "
           "default">,
    Option<"threads", "threads", "int64_t", "1",
           "for sketches: threads that the loops are shared out among">,
    Option<"maxOptions", "max-options", "uint64_t", "64",
           "look at no more options of one knob, evenly spread">
  ];
  let dependentDialects = ["::mlir::transform::TransformDialect"];
}

def ReadOnlyInputs : Pass<"cwm-read-only-inputs", "mlir::ModuleOp"> {
  let summary = "forbid bufferization to write into the inputs";
  let description = [{
    Sets `bufferization.writable = false` on each tensor argument of each
    function. One-shot bufferization takes the arguments of a function for
    writable by default; a payload like `linalg.matmul outs(%argument)` would
    then compute in place and change its input at each call. Attributes that
    are there already are kept.
  }];
  let dependentDialects = ["mlir::bufferization::BufferizationDialect"];
}

def LowerCopies : Pass<"cwm-lower-copies"> {
  let summary = "turn memref.copy into vector transfers or loops";
  let description = [{
    Copies between buffers with a strided layout would become calls of
    `memrefCopy`, which copies element by element. A small copy of static shape
    with unit innermost stride becomes one vector transfer (at most
    `max-elements` elements in `max-rows` rows, all of which are unrolled
    later); any other becomes a `linalg.generic` for convert-linalg-to-loops.
    Copies between contiguous buffers stay: they become `memcpy`.
  }];
  let options = [
    Option<"maxElements", "max-elements", "int64_t", /*default=*/"4096",
           "largest copy that becomes a vector transfer">,
    Option<"maxRows", "max-rows", "int64_t", /*default=*/"64",
           "largest number of innermost rows of such a copy">
  ];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::vector::VectorDialect",
                           "mlir::arith::ArithDialect", "mlir::ub::UBDialect"];
}

def HoistConstants : Pass<"cwm-hoist-constants", "::mlir::ModuleOp"> {
  let summary = "split off what depends on constant arguments only";
  let description = [{
    Splits a function `@NAME` some of whose arguments are marked
    `{cwm.constant}`. Buffers that are filled from those arguments alone, packed
    weights say, become arguments:

    - `@NAME_prepack(constants..., packed...)` fills them, once;
    - `@NAME_prepacked(arguments of @NAME..., packed...)` does the rest;
    - `@NAME` still does both, in buffers of its own;
    - `@NAME_prepack_table` is a constant array of 64-bit integers: the numbers
      of arguments, constants and packed buffers, then the numbers of the
      constant arguments, then the size in bytes of each packed buffer.

    Works on buffers, after results have become out-parameters and before
    deallocations are inserted; only allocations at the top of the function
    count. Functions where nothing depends on constant arguments alone stay as
    they are.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
}

def HoistParallelAllocas : Pass<"cwm-hoist-parallel-allocas"> {
  let summary = "allocate temporaries of parallel loops once for each thread";
  let description = [{
    Moves each `memref.alloca` of static size in an `omp.parallel` region to the
    start of that region, and each `memref.alloc` of static size that the body
    of the loop frees with it, and inlines the `memref.alloca_scope` that
    convert-scf-to-openmp leaves in the loop when nothing is left in it that
    needs a scope. In the loop, the memory would be allocated anew by each
    iteration; LLVM keeps in registers only what is allocated at the start of a
    function, and convert-scf-to-cf cannot put branches into a scope.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::omp::OpenMPDialect"];
}

def LowerTransposes : Pass<"cwm-lower-transposes"> {
  let summary = "turn transposes of matrices of vectors into shuffles";
  let description = [{
    Replaces `vector.transpose` of matrices with 32- or 64-bit elements by
    shuffles of pairs of registers; extents of 1 do not count. The matrix is cut
    into square blocks whose sides are powers of two, at most a register wide; a
    block of side b takes b log2(b) shuffles. The last rows and columns fill up
    a block with poison where that takes less than several smaller ones.
    Upstream's `shuffle_16x16` is as good for 16x16 but everything else is
    shuffled element by element, which made packing panels of 12 rows or of two
    registers four times as expensive. Run it before convert-vector-to-scf, when
    rows are not yet values that the transpose folds with.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512",
           "width of a register in bits">
  ];
  let dependentDialects = ["::mlir::ub::UBDialect",
                           "::mlir::vector::VectorDialect"];
}

def NoaliasArguments : Pass<"cwm-noalias-arguments", "mlir::ModuleOp"> {
  let summary = "mark buffer arguments of public functions as not aliasing";
  let description = [{
    Sets `llvm.noalias` on each memref argument of each public function with a
    body. The caller passes distinct buffers for all inputs and results; LLVM
    needs to know it to keep loads out of loops.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def RuntimeAllocations : Pass<"cwm-runtime-allocations"> {
  let summary = "drop alignments that the runtime's allocator guarantees";
  let description = [{
    Removes `alignment` attributes of at most 64 from memref.alloc, since
    `cwm_alloc` returns 64-byte aligned blocks. Otherwise the lowering to LLVM
    asks for that many bytes more and aligns by hand, and a write behind the
    buffer would not reach the guard page.
  }];
}

def PolynomialMath : Pass<"cwm-polynomial-math"> {
  let summary = "expand exp, tanh, erf and logarithms to polynomials";
  let description = [{
    Replaces f32 math.exp, expm1, tanh, erf, log, log2 and log1p, on scalars
    and on vectors of any shape, by branch-free polynomial code. A call of libm
    for each lane costs 10-40 times as much, and a scalar call keeps LLVM from
    vectorising the loop around it. Operations on f64 are left to libm.

    Largest errors, in units in the last place, over a dense sample of all
    floats with zeros, subnormals, infinities and NaN
    (unittests/CPU/MathAccuracyTest.cpp): exp 1, expm1 3, tanh 5, erf 5, log 1,
    log2 2, log1p 3. NaN gives NaN; exact infinities and zeros stay exact.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::vector::VectorDialect"];
}

def WidenBFloats : Pass<"cwm-widen-bfloats"> {
  let summary = "compute in f32 what is bf16";
  let description = [{
    x86 multiplies and adds up pairs of bf16, but has no other arithmetic on
    them: LLVM computes in f32 and rounds, and fails where a vector of one bf16
    is left over. Operations of arith and math, sums and the like of vectors and
    fused multiply-adds take and give f32 here, with an arith.truncf for each
    result: the rounding after each operation stays. Operands are widened by
    shifts of integers, since LLVM would turn arith.extf, operation and
    arith.truncf back into arithmetic on bf16. Conversions, selections and moves
    are left as they are.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

def BFloatsAsBits : Pass<"cwm-bfloats-as-bits"> {
  let summary = "move bf16 as i16";
  let description = [{
    LLVM splits a vector of an odd number of bf16 into a vector of one and the
    rest, and fails to move the vector of one where the machine has instructions
    for bf16. Loads, stores, selections, constants, block arguments, shuffles,
    insertions and extractions of bf16 in functions of the LLVM dialect become
    those of i16; llvm.fpext to f32 becomes a shift. All other operations keep
    their types and get an llvm.bitcast for each operand and result.
    A function where such an operation has an aggregate of bf16 is left alone.
    Run it behind the conversion to the LLVM dialect.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def RelaxArithmetic : Pass<"cwm-relax-arithmetic"> {
  let summary = "cheaper divisions and maxima of vectors";
  let description = [{
    Divisions of an f32 vector by one scalar (the sum of a softmax, the length of
    a mean) become multiplications by its reciprocal, scaled so that neither
    subnormal nor huge divisors lose digits: at most 2 units in the last place
    from the exact quotient, infinities, zeros and NaN as before.

    `arith.maximumf` and `minimumf` no longer order zeros (+0 and -0 compare equal
    elsewhere too); NaN is propagated as before. The reduction of a vector looks
    for NaN once instead of at every step.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::vector::VectorDialect"];
}

def ResultsToOutParams : Pass<"cwm-results-to-out-params", "mlir::ModuleOp"> {
  let summary = "give bufferised functions a signature of plain buffers";
  let description = [{
    Turns each memref result of a function with a body into a trailing argument
    of identity layout. A result that the function allocates is computed right
    in that argument, also behind casts and reshapes; anything else, like a
    returned input, or one buffer returned twice, is copied. Arguments with a
    strided layout of static shape become plain ones too: callers pass bare
    pointers. Fails on results without static shape.

    Upstream's buffer-results-to-out-params crashes on a buffer that is
    returned twice and copies reshaped results.
  }];
  let dependentDialects = ["mlir::memref::MemRefDialect"];
}

def PrintActions : Pass<"cwm-actions", "::mlir::ModuleOp"> {
  let summary = "print the actions of a bound schedule";
  let description = [{
    Prints on standard output the canonical text of each action of a bound
    schedule, one a line, derived without a payload: what the world model rolls
    forward over, and what the effective history of `cwm-record` repeats when
    each action succeeds. Fails on a schedule that is not bound, and on
    `transform.alternatives`, whose path only the payload decides.

        cwm-opt schedule.mlir --cwm-bind="knobs=mr=6" --cwm-actions -o /dev/null
  }];
  let options = [
    Option<"entryPoint", "entry-point", "std::string", "\"__transform_main\"",
           "named sequence to start from">
  ];
}

def RecordSchedule : Pass<"cwm-record", "::mlir::ModuleOp"> {
  let summary = "interpret a schedule and record what it does";
  let description = [{
    Applies a schedule to the module exactly as `transform-interpreter` does and
    writes what happened: each transform op applied, nested ones too, with its
    resolved parameters, what its handles held, its status and message, and the
    states that the payload went through; and the effective history, that is
    the actions that led from the first state to the last. Formats: JSON Lines
    (docs/Trajectories.md), or a `cwm.trajectory` op.

    The schedule is the file `schedule`, or else found as `transform-interpreter`
    finds it: in the module itself, or in the library that
    `transform-preload-library` loaded. The trajectory is written also when the
    schedule fails, and then the pass fails as the interpreter does.

        cwm-opt payload.mlir --cwm-record="schedule=s.mlir output=t.jsonl"
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"\"",
           "file of the schedule; default: the module's own">,
    Option<"entryPoint", "entry-point", "std::string", "\"__transform_main\"",
           "named sequence to apply">,
    Option<"output", "output", "std::string", "\"-\"",
           "file to write; - is standard output">,
    Option<"format", "format", "::cwm::TrajectoryFormat",
           "::cwm::TrajectoryFormat::Auto", "how to write the trajectory", [{
      ::llvm::cl::values(
        clEnumValN(::cwm::TrajectoryFormat::Auto, "auto", "IR for *.mlir, else JSON Lines"),
        clEnumValN(::cwm::TrajectoryFormat::JSONLines, "jsonl", "one JSON object a line"),
        clEnumValN(::cwm::TrajectoryFormat::MLIR, "mlir", "a cwm.trajectory op"))
    }]>,
    Option<"steps", "steps", "::cwm::StepFilter", "::cwm::StepFilter::Actions",
           "which steps to write", [{
      ::llvm::cl::values(
        clEnumValN(::cwm::StepFilter::Changed, "changed", "actions that changed the payload"),
        clEnumValN(::cwm::StepFilter::Actions, "actions", "all actions"),
        clEnumValN(::cwm::StepFilter::All, "all", "matchers and handle operations too"))
    }]>,
    Option<"states", "states", "::cwm::RecorderOptions::States",
           "::cwm::RecorderOptions::States::Text", "what to write of a state", [{
      ::llvm::cl::values(
        clEnumValN(::cwm::RecorderOptions::States::Hash, "hash", "its hash"),
        clEnumValN(::cwm::RecorderOptions::States::Text, "text", "its canonical text"),
        clEnumValN(::cwm::RecorderOptions::States::Payload, "payload", "the payload itself (mlir)"))
    }]>,
    Option<"verifySteps", "verify-steps", "bool", "false",
           "verify the payload behind each step that changed it">,
    Option<"space", "space", "std::string", "\"schedule\"",
           "name of the space in the candidate's key">
  ];
  let dependentDialects = ["::mlir::transform::TransformDialect",
                           "::cwm::CwmDialect"];
}

def ExpandPowers : Pass<"cwm-expand-powers"> {
  let summary = "powers with a constant exponent as products and roots";
  let description = [{
    `math.powf` and `math.fpowi` whose exponent is one constant, for vectors the
    same in all lanes, otherwise call libm for each element:

    | exponent | becomes | units in the last place, at most |
    |---|---|---|
    | 0, 1 | 1, x | 0 |
    | 2, -1 | x * x, 1 / x | 0.5 |
    | 3, 4 | x * x * x, (x * x) * (x * x) | 2, 3 |
    | -2, -3, -4 | the same of 1 / x | 3, 5, 7 |
    | 0.5, -0.5 | sqrt x, rsqrt x | as those |

    NaN, infinities and zeros give what `pow` gives. Other exponents stay.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::math::MathDialect"];
}

def CollapseDims : Pass<"cwm-collapse-dims", "::mlir::func::FuncOp"> {
  let summary = "merge dimensions that lie together";
  let description = [{
    Merges neighbouring dimensions of linalg.generic ops on tensors that lie next
    to each other, in the same order, in every operand of every such op of the
    function that has one of them: a global average pool over 7x7 elements then
    reduces rows of 49. The decision is one for the whole function, so that
    reshapes appear where values enter and leave the ops and not between them.
    Does nothing when the function has other structured ops than generics and
    fills, or generics whose maps are not projected permutations.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect",
                           "mlir::tensor::TensorDialect"];
}

def DecomposeTensorOps : Pass<"cwm-decompose-tensor-ops"> {
  let summary = "decompose tensor operations that cannot be bufferised";
  let description = [{
    A payload may contain operations that upstream's bufferisation does not
    know: linalg.pack and unpack (become pad, reshape and transpose),
    linalg.softmax and other aggregated operations (become generics),
    tensor.concat (becomes insertions), and arith and math operations on whole
    tensors (become generics). What a schedule has tiled already is left.

    Structured operations whose output map does not reach the whole result and
    whose body does not use the initial value become loops that write single
    elements: bufferisation takes the initial value for overwritten otherwise,
    and the elements in between would be undefined.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect",
                           "mlir::affine::AffineDialect",
                           "mlir::scf::SCFDialect",
                           "mlir::tensor::TensorDialect",
                           "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect"];
}

def VectorizeLinalg : Pass<"cwm-vectorize-linalg"> {
  let summary = "vectorise structured ops on buffers that a schedule has left";
  let description = [{
    Turns linalg ops on buffers of static shape into loops over vectors: one
    dimension along which all operands are contiguous, apart by up to four
    elements (inputs only) or constant is walked along in vectors, the end of it
    in a shorter one; accumulators stay in registers. Reductions whose inputs do
    not all depend on all dimensions of the result (products of matrices,
    convolutions) compute tiles of it, so that what is loaded serves several
    accumulators. A reduction along the vectors keeps partial results in their
    lanes, so a sum is not made in the order of the loops. The index of the least
    or greatest element is found that way, too; where a NaN comes up, in single
    steps, which define what it means.

    Ops with computed or other strided accesses along every dimension, with dynamic
    shapes, on i1, or with calls of libm (sin, powf, f64 exp, ...) are left:
    convert-linalg-to-loops makes scalar loops of them.
  }];
  let options = [
    Option<"vectorBytes", "vector-bytes", "int64_t", /*default=*/"64",
           "size of a vector; wider ones than the hardware's are split by LLVM">
  ];
  let dependentDialects = ["mlir::affine::AffineDialect",
                           "mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

def ScalarizeBooleanTransfers : Pass<"cwm-scalarize-boolean-transfers"> {
  let summary = "load and store booleans as bytes";
  let description = [{
    In memory a buffer of i1 has one byte for each element, while LLVM packs a
    vector of i1 into bits: the vector loads and stores that upstream's lowering
    makes read and write the wrong bytes. Replaces vector.load, store,
    transfer_read and transfer_write of rank 1 on buffers of i1 by vectors of
    bytes, and by accesses of single elements where there is a mask or lanes may
    lie behind the end. Run it after convert-vector-to-scf.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

def ScalarizeReads : Pass<"cwm-scalarize-reads"> {
  let summary = "load single elements of vectors that are only taken apart";
  let description = [{
    The broadcast operand of outer products is read as a vector, all elements of
    which are extracted. LLVM turns only some of the extractions back into
    loads; the others become permutations that compete with the multiply-adds
    for a port. Replaces vector.load and in-bounds vector.transfer_read of rank 1
    whose only users are vector.extract at constant positions by memref.load.
    Run it after convert-vector-to-scf.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect",
                           "mlir::vector::VectorDialect"];
}

def MaskOddRows : Pass<"cwm-mask-odd-rows"> {
  let summary = "access rows of odd lengths under masks";
  let description = [{
    LLVM splits a load or store of, say, 14 floats into pieces of 8, 4 and 2,
    while its arithmetic is done in one register anyway. Replaces vector.load,
    store and in-bounds transfers of rank 1 of 32- and 64-bit elements, whose
    number is not a power of two, by masked accesses of the next power of two,
    where the buffer is an argument of the function: accesses of temporaries are
    forwarded from writes to reads, which masks prevent.
    Run it after convert-vector-to-scf.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::vector::VectorDialect"];
}

def ShuffleStridedReads : Pass<"cwm-shuffle-strided-reads"> {
  let summary = "read every other element of a row with two loads and a shuffle";
  let description = [{
    A vector.transfer_read along a dimension of stride 2, as strided windows
    have it, becomes a load of each element in upstream's lowering. Replaces
    in-bounds reads of rank 1 and 2 by two contiguous loads a row, which touch
    nothing outside of what the read spans, and a shuffle. Run it before
    convert-vector-to-scf.
  }];
  let dependentDialects = ["mlir::affine::AffineDialect",
                           "mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect",
                           "mlir::ub::UBDialect",
                           "mlir::vector::VectorDialect"];
}

def JoinRows : Pass<"cwm-join-rows"> {
  let summary = "insert whole rows into vectors instead of single elements";
  let description = [{
    Canonicalisation turns the insertions of rows that make a vector of higher
    rank into vector.to_elements of each row and one vector.from_elements. LLVM
    gets the rows back where their length is a power of two and shuffles them
    element by element elsewhere. Replaces vector.from_elements of rank 2 and
    more by insertions of rows, and those of equal elements by vector.broadcast.
    Run it behind the last canonicalisation.
  }];
  let dependentDialects = ["mlir::ub::UBDialect",
                           "mlir::vector::VectorDialect"];
}

#endif // CWM_PASSES_PASSES_TD
