//===- Certificate.h - A proof that no schedule is faster -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A certificate is a text with a problem in integers, the words of a schedule,
// and a proof that refutes a makespan (docs/Search.md describes its lines). The
// reader and the checker share no code with the search. They rely on the lemmas
// of docs/Rationale/Bounds.md only.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Cost/LayerLayout.h"
#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pipec {

struct GivenSettings;

struct Certificate {
  /// A place in the text, for messages.
  using Place = llvm::SMRange;

  /// The layout of the problem, if several were searched, and all its layers;
  /// the proof covers this one only.
  std::string layout, layers;
  /// One tick, and one unit of memory, in the units of the schedule.
  Rational tick = 1;
  Rational unit = 1;
  unsigned ranks = 0, stages = 0, microbatches = 0;
  /// The slices of a micro-batch. Stage s * n + k of the problem, without the
  /// idle ones, is slice k of n of stage s of the schedule.
  unsigned slices = 1;
  /// The first stages are not in the schedule, and cannot delay any step: their
  /// times, memory and hops are 0.
  unsigned idle = 0;
  unsigned stageOf(unsigned place) const { return (place - idle) / slices; }
  unsigned sliceOf(unsigned place) const { return (place - idle) % slices; }
  bool split = true;
  /// The number of kinds of steps.
  unsigned kinds() const { return split ? 3 : 2; }
  std::vector<unsigned> map;
  struct Stage {
    /// Of F, I or B, and W.
    int64_t times[3] = {};
    /// The sizes that I or B, and W, free; negative for an I that allocates
    /// memory for its W.
    int64_t given[2] = {};
    /// The sizes that F, I or B, and W allocate while they run.
    int64_t during[3] = {};
    Place place;
    int64_t taken() const { return given[0] + given[1]; }
    /// The size that a step of a kind allocates when it starts.
    int64_t takenBy(unsigned kind) const {
      int64_t more = kind == 0 ? taken() : kind == 1 ? -given[0] : 0;
      return (more > 0 ? more : 0) + during[kind];
    }
  };
  std::vector<Stage> model;
  /// `from` feeds `to`, a later stage.
  struct Edge {
    unsigned from, to;
    /// From the F of `from` to the F of `to`, and from the I of `to` to the I
    /// of `from`; and their places in the text, which in a chain are two lines.
    int64_t hops[2] = {};
    Place places[2];
  };
  /// In ascending order of `from`, then of `to`. Every stage but the last one
  /// has an edge to another, so that all have a way to the last one.
  std::vector<Edge> edges;
  std::vector<int64_t> caps;
  /// A letter: kind and stage.
  struct Letter {
    unsigned kind;
    unsigned stage;
  };
  std::vector<std::vector<Letter>> words;
  std::vector<Place> wordPlaces;
  /// In ticks, and not whole where the bound leaves out costs.
  Rational makespan;
  /// No schedule has a makespan of at most this.
  int64_t refuted = 0;
  /// A step starts at most at a time, or later.
  struct Case {
    Letter letter;
    unsigned microbatch;
    bool isLater;
    int64_t time;
  };
  /// Weights of times that every run has, in parts of a unit: between the
  /// starts of two steps of each micro-batch, before the start of a step, and
  /// after it.
  struct Charges {
    struct Charge {
      enum Kind { Between, Before, After } kind;
      Letter letter;
      Letter to;
      unsigned microbatch;
      int64_t weight;
    };
    unsigned rank;
    /// The states of the rank have the counts of all letters, or of F and I
    /// (B).
    bool withW;
    int64_t unit;
    std::vector<Charge> charges;
    /// Without W: the weight of the time in which W run.
    int64_t weightOfW;
  };
  /// A part of the proof. A part with cases is followed by the parts of its
  /// case, then by the parts of the opposite.
  struct Part {
    /// The ranks whose windows are narrowed, in that order.
    struct Round {
      unsigned rank;
      /// Uses the orders of all its steps, or only of F and I (B).
      bool withW;
    };
    std::vector<Round> rounds;
    /// The rank whose own steps exceed the makespan after the rounds.
    std::optional<unsigned> machine;
    std::optional<Charges> charges;
    std::optional<Case> split;
    Place place;
  };
  std::vector<Part> proof;

  /// No schedule of any variant has a makespan below this, in the units of the
  /// schedule; empty if the certificate is of one variant alone.
  std::optional<Rational> boundOfAll;
  /// Another placement or form of the backward, of the same model.
  struct Variant {
    enum State {
      /// `problem` has a proof.
      Proven,
      /// It is split, and `problem`, with whole backwards, has no proof: its
      /// schedules are no shorter than those with split backwards.
      Covered,
      /// The search found that it has no schedules, without a proof. It has no
      /// `problem`.
      Excluded,
    } state = Proven;
    /// `loop`, `v` or `explicit`.
    std::string placement;
    unsigned chunks = 1;
    bool split = true;
    std::string reason;
    /// Without words.
    std::shared_ptr<const Certificate> problem;
    /// If the certificate has a layout, the variant is of all layouts: all
    /// layers, in order, and their kinds. `problem` is then of a model with a
    /// stage of one layer of each kind on each rank, by kind.
    std::string layers, kinds;
    /// A layout with a proof of its own. The layout of the certificate itself
    /// has no `problem`.
    struct Layout {
      StageLayers stages;
      std::shared_ptr<const Certificate> problem;
      Place place;
    };
    std::vector<Layout> layouts;
    Place place;
  };
  /// The first variant is the problem of the certificate itself.
  std::vector<Variant> variants;

  Place sizesPlace, mapPlace, capsPlace, makespanPlace, refutedPlace;
  Place boundPlace;
};

/// Reads a certificate; reports the first line that is wrong.
llvm::FailureOr<Certificate> readCertificate(llvm::StringRef text,
                                             DiagEngine &diags);

/// Checks that `certificate` has the problem and the words of `schedule`, which
/// is verified. Reports the first line that differs.
llvm::LogicalResult checkSame(const Certificate &certificate,
                              const Schedule &schedule, DiagEngine &diags);

/// Checks that `certificate`, of a variant, has the placement and the figures
/// of `schedule`, whose steps do not matter. Reports the first line that
/// differs.
llvm::LogicalResult checkFigures(const Certificate &certificate,
                                 const Schedule &schedule, DiagEngine &diags);

/// Checks the figures of a variant with a problem against those of a schedule
/// with its placement and the given costs. Without costs, that schedule has the
/// costs of `schedule`, if its stages are parts of the model.
llvm::LogicalResult checkFigures(const Certificate::Variant &variant,
                                 const Schedule &schedule,
                                 const GivenSettings &given, DiagEngine &diags);

/// Runs the proof; reports where it proves nothing.
llvm::LogicalResult checkProof(const Certificate &certificate,
                               DiagEngine &diags);

/// True if the windows along data, or the steps of one rank alone, refute the
/// makespan.
bool isRefutedAlone(const Certificate &certificate);

/// Checks that no layout of a variant of all layouts has a schedule below the
/// bound. Returns a text on the part that is not proven, empty if there is
/// none; reports a wrong proof.
llvm::FailureOr<std::string> checkLayouts(const Certificate &certificate,
                                          const Certificate::Variant &variant,
                                          DiagEngine &diags);

/// Runs the proofs of all variants but the first; reports one that does not
/// prove the bound of all.
llvm::LogicalResult checkVariants(const Certificate &certificate,
                                  DiagEngine &diags);

} // namespace pipec
