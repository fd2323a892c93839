//===- Network.cpp - A network cut into stages ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Network.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <future>
#include <stdexcept>

namespace train {

namespace {

using Matrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixMap = Eigen::Map<Matrix>;
using ConstMatrixMap = Eigen::Map<const Matrix>;

constexpr int numFeatures = 2;
constexpr int numClasses = 3;
constexpr double normEpsilon = 1e-5;

/// A small generator of equally spread numbers, the same on every machine.
class Random {
public:
  explicit Random(std::uint64_t seed) : state(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// In [0, 1).
  double unit() { return double(next() >> 11) * 0x1p-53; }
  /// In [-limit, limit).
  double symmetric(double limit) { return (2 * unit() - 1) * limit; }

private:
  std::uint64_t state;
};

/// The points of one micro-batch, each on one arm of three spirals.
void makePoints(int step, int microbatch, Matrix &points,
                std::vector<int> &classes) {
  Random random(std::uint64_t(step) << 32 | std::uint64_t(microbatch));
  for (int i = 0; i != points.rows(); ++i) {
    int arm = int(random.next() % numClasses);
    double radius = 0.2 + 0.8 * random.unit();
    double angle =
        4 * radius + arm * 2 * M_PI / numClasses + random.symmetric(0.1);
    points(i, 0) = radius * std::cos(angle);
    points(i, 1) = radius * std::sin(angle);
    classes[std::size_t(i)] = arm;
  }
}

/// Where the parameters of a block lie in those of its stage.
struct BlockPlace {
  std::size_t gain, shift, weight1, bias1, weight2, bias2;
};

} // namespace

/// What a block keeps: its normalised input and its hidden values from the
/// forward, and the gradients at its linear layers from the input half of the
/// backward.
struct KeptBlock {
  Matrix normal, scaled, hidden;
  Eigen::VectorXd inverseSpread;
  Matrix scaledGradient, hiddenGradient, outputGradient;
};

struct Kept::Data {
  std::vector<KeptBlock> blocks;
  Matrix all, points, features, scores, embeddedGradient, scratch;
  std::vector<int> classes;
};

std::vector<int> Config::sourcesOf(int stage) const {
  std::vector<int> sources;
  for (Edge edge : edges)
    if (edge.to == stage)
      sources.push_back(edge.from);
  return sources;
}

std::vector<int> Config::targetsOf(int stage) const {
  std::vector<int> targets;
  for (Edge edge : edges)
    if (edge.from == stage)
      targets.push_back(edge.to);
  return targets;
}

Kept::Kept() = default;
Kept::~Kept() = default;
Kept::Kept(Kept &&) noexcept = default;
Kept &Kept::operator=(Kept &&) noexcept = default;

struct KeptCopy::Impl {
  Kept *kept;
  bool toHost;
  std::future<std::unique_ptr<Kept::Data>> copied;
};

KeptCopy::KeptCopy(Kept &kept, bool toHost) {
  const Kept::Data *from = (toHost ? kept.data : kept.host).get();
  impl.reset(new Impl{&kept, toHost, std::async(std::launch::async, [from] {
                        return std::make_unique<Kept::Data>(*from);
                      })});
}
KeptCopy::~KeptCopy() = default;
KeptCopy::KeptCopy(KeptCopy &&) noexcept = default;
KeptCopy &KeptCopy::operator=(KeptCopy &&) noexcept = default;

void KeptCopy::wait() {
  Kept &kept = *impl->kept;
  (impl->toHost ? kept.host : kept.data) = impl->copied.get();
  (impl->toHost ? kept.data : kept.host).reset();
}

/// What a backward works on, which must be on the device.
static Kept::Data &onDevice(Kept &kept) {
  if (!kept.data)
    throw std::logic_error("an activation is used that is not on the device");
  return *kept.data;
}

struct Stage::Impl {
  Config config;
  bool isFirst, isLast;
  std::vector<BlockPlace> blocks;
  std::size_t embedWeight = 0, embedBias = 0, scoreWeight = 0, scoreBias = 0;
  Values parameters, gradients, momentum;
  Matrix scratch;

  MatrixMap at(Values &values, std::size_t place, int rows, int columns) {
    return MatrixMap(values.data() + place, rows, columns);
  }
  /// Room for a matrix of random values around 0.
  std::size_t make(int rows, int columns, double limit, Random &random) {
    std::size_t place = parameters.size();
    for (int i = 0; i != rows * columns; ++i)
      parameters.push_back(limit == 0 ? 0 : random.symmetric(limit));
    return place;
  }

  void addEarlier(Matrix &x, int slice, Carry &carry) const;
  void addLater(Matrix &gradient, Carry &carry) const;
  void forwardBlock(const BlockPlace &place, Matrix &x, KeptBlock &kept);
  void backwardBlock(const BlockPlace &place, Matrix &gradient,
                     KeptBlock &kept);
  void addWeights(const BlockPlace &place, const KeptBlock &kept);
};

Stage::Stage(const Config &config, int index) : impl(std::make_unique<Impl>()) {
  Impl &s = *impl;
  s.config = config;
  s.isFirst = config.sourcesOf(index).empty();
  s.isLast = index + 1 == config.stages;
  Random random(0x5eed + std::uint64_t(index));
  int width = config.width, hidden = config.hidden;
  if (s.isFirst) {
    s.embedWeight = s.make(numFeatures, width, 1, random);
    s.embedBias = s.make(1, width, 0.1, random);
  }
  for (int i = 0; i != config.blocksPerStage; ++i) {
    BlockPlace place;
    place.gain = s.make(1, width, 0, random);
    for (int k = 0; k != width; ++k)
      s.parameters[place.gain + std::size_t(k)] = 1;
    place.shift = s.make(1, width, 0, random);
    place.weight1 = s.make(width, hidden, 1 / std::sqrt(width), random);
    place.bias1 = s.make(1, hidden, 0.1, random);
    place.weight2 = s.make(hidden, width, 0.5 / std::sqrt(hidden), random);
    place.bias2 = s.make(1, width, 0.1, random);
    s.blocks.push_back(place);
  }
  if (s.isLast) {
    s.scoreWeight = s.make(width, numClasses, 1 / std::sqrt(width), random);
    s.scoreBias = s.make(1, numClasses, 0, random);
  }
  s.gradients.assign(s.parameters.size(), 0);
  s.momentum.assign(s.parameters.size(), 0);
}

Stage::~Stage() = default;
Stage::Stage(Stage &&) noexcept = default;

Values &Stage::parameters() { return impl->parameters; }
Values &Stage::gradients() { return impl->gradients; }
const Values &Stage::gradients() const { return impl->gradients; }

std::size_t Stage::blockBegin(int block) const {
  return impl->blocks[std::size_t(block)].gain;
}
std::size_t Stage::blockSize() const {
  const Impl &s = *impl;
  return s.blocks[0].bias2 + std::size_t(s.config.width) - s.blocks[0].gain;
}

void Stage::update(std::size_t begin, std::size_t end,
                   const Values &gradients) {
  Impl &s = *impl;
  for (std::size_t i = begin; i != end; ++i) {
    s.momentum[i] = 0.9 * s.momentum[i] + gradients[i];
    s.parameters[i] -= s.config.learningRate * s.momentum[i];
  }
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

void Stage::Impl::forwardBlock(const BlockPlace &place, Matrix &x,
                               KeptBlock &kept) {
  int width = config.width, hidden = config.hidden;
  kept.normal = x;
  kept.inverseSpread.resize(x.rows());
  for (int i = 0; i != x.rows(); ++i) {
    auto row = kept.normal.row(i);
    row.array() -= row.mean();
    kept.inverseSpread[i] =
        1 / std::sqrt(row.squaredNorm() / width + normEpsilon);
    row *= kept.inverseSpread[i];
  }
  kept.scaled = kept.normal;
  for (int i = 0; i != x.rows(); ++i)
    kept.scaled.row(i).array() =
        kept.scaled.row(i).array() *
            at(parameters, place.gain, 1, width).row(0).array() +
        at(parameters, place.shift, 1, width).row(0).array();
  kept.hidden.noalias() =
      kept.scaled * at(parameters, place.weight1, width, hidden);
  kept.hidden.rowwise() += at(parameters, place.bias1, 1, hidden).row(0);
  kept.hidden = kept.hidden.array().tanh().matrix();
  x.noalias() += kept.hidden * at(parameters, place.weight2, hidden, width);
  x.rowwise() += at(parameters, place.bias2, 1, width).row(0);
}

/// Turns the points of a slice into means over all points up to them.
void Stage::Impl::addEarlier(Matrix &x, int slice, Carry &carry) const {
  std::size_t width = std::size_t(config.width), index = std::size_t(slice);
  carry.sums.resize(std::size_t(config.slices));
  if (slice == 0)
    carry.sums[0].assign(width, 0);
  else
    carry.sums[index] = carry.sums[index - 1];
  MatrixMap sum(carry.sums[index].data(), 1, config.width);
  for (int i = 0; i != x.rows(); ++i)
    sum = x.row(i) = (x.row(i) + sum) / 2;
}

/// Turns the gradients of the means into those of the points.
void Stage::Impl::addLater(Matrix &gradient, Carry &carry) const {
  MatrixMap later(carry.gradient.data(), 1, config.width);
  for (int i = int(gradient.rows()); i-- != 0;)
    later = gradient.row(i) = (gradient.row(i) + later) / 2;
}

double Stage::forward(int step, int microbatch, int slice, const Values *input,
                      Values *output, Kept &kept, Carry &carry) {
  Impl &s = *impl;
  if (!kept.data)
    kept.data = std::make_unique<Kept::Data>();
  Kept::Data &k = *kept.data;
  int batch = s.config.sliceSize(slice), width = s.config.width;
  k.blocks.resize(s.blocks.size());
  if (s.isFirst || s.isLast) {
    int begin = s.config.sliceBegin(slice);
    k.all.resize(s.config.batch, numFeatures);
    k.classes.resize(std::size_t(s.config.batch));
    makePoints(step, s.config.copy * s.config.microbatches + microbatch, k.all,
               k.classes);
    k.points = k.all.middleRows(begin, batch);
    k.classes.erase(k.classes.begin(), k.classes.begin() + begin);
  }
  Matrix &x = k.features;
  if (s.isFirst) {
    x.noalias() =
        k.points * s.at(s.parameters, s.embedWeight, numFeatures, width);
    x.rowwise() += s.at(s.parameters, s.embedBias, 1, width).row(0);
  } else {
    x = ConstMatrixMap(input->data(), batch, width);
  }
  if (s.config.isSequence)
    s.addEarlier(x, slice, carry);
  for (std::size_t i = 0; i != s.blocks.size(); ++i)
    s.forwardBlock(s.blocks[i], x, k.blocks[i]);
  if (!s.isLast) {
    output->resize(std::size_t(batch) * std::size_t(width));
    MatrixMap(output->data(), batch, width) = x;
    return 0;
  }

  k.scores.noalias() = x * s.at(s.parameters, s.scoreWeight, width, numClasses);
  k.scores.rowwise() += s.at(s.parameters, s.scoreBias, 1, numClasses).row(0);
  // From here on `scores` holds the gradient of the loss: softmax less the
  // truth, over all points of the step.
  double loss = 0;
  double points =
      double(s.config.batch) * s.config.microbatches * s.config.copies;
  for (int i = 0; i != batch; ++i) {
    auto row = k.scores.row(i);
    double highest = row.maxCoeff();
    row = (row.array() - highest).exp().matrix();
    double sum = row.sum();
    row /= sum;
    loss -= std::log(row[k.classes[std::size_t(i)]]);
    row[k.classes[std::size_t(i)]] -= 1;
    row /= points;
  }
  return loss / points;
}

//===----------------------------------------------------------------------===//
// Backward, the input half
//===----------------------------------------------------------------------===//

/// Turns the gradient of the block's output into that of its input.
void Stage::Impl::backwardBlock(const BlockPlace &place, Matrix &gradient,
                                KeptBlock &kept) {
  int width = config.width, hidden = config.hidden;
  kept.outputGradient = gradient;
  kept.hiddenGradient.noalias() =
      gradient * at(parameters, place.weight2, hidden, width).transpose();
  kept.hiddenGradient.array() *= 1 - kept.hidden.array().square();
  kept.scaledGradient.noalias() =
      kept.hiddenGradient *
      at(parameters, place.weight1, width, hidden).transpose();
  for (int i = 0; i != gradient.rows(); ++i) {
    // Through the layer norm: what is left when the parts along the mean and
    // along the normalised row itself are taken away.
    scratch = (kept.scaledGradient.row(i).array() *
               at(parameters, place.gain, 1, width).row(0).array())
                  .matrix();
    double mean = scratch.mean();
    double along = scratch.row(0).dot(kept.normal.row(i)) / width;
    gradient.row(i).array() +=
        kept.inverseSpread[i] *
        (scratch.row(0).array() - mean - along * kept.normal.row(i).array());
  }
}

void Stage::backwardInput(int slice, const Values *outputGradient,
                          Values *inputGradient, Kept &kept, Carry &carry) {
  Impl &s = *impl;
  Kept::Data &k = onDevice(kept);
  int batch = s.config.sliceSize(slice), width = s.config.width;
  Matrix &gradient = k.embeddedGradient;
  if (s.isLast)
    gradient.noalias() =
        k.scores *
        s.at(s.parameters, s.scoreWeight, width, numClasses).transpose();
  else
    gradient = ConstMatrixMap(outputGradient->data(), batch, width);
  for (std::size_t i = s.blocks.size(); i-- != 0;)
    s.backwardBlock(s.blocks[i], gradient, k.blocks[i]);
  if (s.config.isSequence) {
    if (slice + 1 == s.config.slices)
      carry.gradient.assign(std::size_t(width), 0);
    s.addLater(gradient, carry);
  }
  if (!s.isFirst) {
    inputGradient->resize(std::size_t(batch) * std::size_t(width));
    MatrixMap(inputGradient->data(), batch, width) = gradient;
  }
}

//===----------------------------------------------------------------------===//
// Backward, the weight half
//===----------------------------------------------------------------------===//

void Stage::Impl::addWeights(const BlockPlace &place, const KeptBlock &kept) {
  int width = config.width, hidden = config.hidden;
  at(gradients, place.weight2, hidden, width).noalias() +=
      kept.hidden.transpose() * kept.outputGradient;
  at(gradients, place.bias2, 1, width) += kept.outputGradient.colwise().sum();
  at(gradients, place.weight1, width, hidden).noalias() +=
      kept.scaled.transpose() * kept.hiddenGradient;
  at(gradients, place.bias1, 1, hidden) += kept.hiddenGradient.colwise().sum();
  at(gradients, place.gain, 1, width) +=
      kept.scaledGradient.cwiseProduct(kept.normal).colwise().sum();
  at(gradients, place.shift, 1, width) += kept.scaledGradient.colwise().sum();
}

void Stage::backwardWeight(Kept &kept) {
  Impl &s = *impl;
  Kept::Data &k = onDevice(kept);
  int width = s.config.width;
  if (s.isLast) {
    s.at(s.gradients, s.scoreWeight, width, numClasses).noalias() +=
        k.features.transpose() * k.scores;
    s.at(s.gradients, s.scoreBias, 1, numClasses) += k.scores.colwise().sum();
  }
  for (std::size_t i = s.blocks.size(); i-- != 0;)
    s.addWeights(s.blocks[i], k.blocks[i]);
  if (s.isFirst) {
    s.at(s.gradients, s.embedWeight, numFeatures, width).noalias() +=
        k.points.transpose() * k.embeddedGradient;
    s.at(s.gradients, s.embedBias, 1, width) +=
        k.embeddedGradient.colwise().sum();
  }
}

} // namespace train
