//===- Model.cpp - A transformer of torch::nn modules, in stages ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the executor's calls become PyTorch's:
//
//   forward         the input becomes a leaf of a graph of its own, which ends
//                   at this stage's output
//   backwardInput   autograd::grad of the output by the input; keeps the graph
//   backwardWeight  autograd::grad of the output by the parameters; frees it
//   backward        both in one walk through the graph
//
// Tensors that came from another rank, or go there, share their memory with the
// graph and are never written again: every receive gets memory of its own.
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace train {

namespace nn = torch::nn;

struct TensorData {
  torch::Tensor value;
};

struct ActivationData {
  torch::Tensor input, output;
};

template <class Data> Handle<Data>::Handle() : data(new Data) {}
template <class Data> Handle<Data>::~Handle() = default;
template class Handle<TensorData>;
template class Handle<ActivationData>;

namespace {

constexpr int64_t length = 8, batch = 2, width = 16, heads = 2, vocabulary = 11;
constexpr double learningRate = 0.1;

/// Attention and two linear layers, each with a norm before and a way around.
struct BlockImpl : nn::Module {
  nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  nn::MultiheadAttention attention{nullptr};
  nn::Linear up{nullptr}, down{nullptr};

  BlockImpl() {
    norm1 =
        register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({width})));
    attention =
        register_module("attention", nn::MultiheadAttention(width, heads));
    norm2 =
        register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({width})));
    up = register_module("up", nn::Linear(width, 2 * width));
    down = register_module("down", nn::Linear(2 * width, width));
  }

  torch::Tensor forward(torch::Tensor x) {
    // No element sees a later one.
    torch::Tensor future =
        torch::ones({length, length}, torch::kBool).triu(/*diagonal=*/1);
    torch::Tensor normal = norm1(x);
    auto [seen, weights] =
        attention(normal, normal, normal, /*key_padding_mask=*/torch::Tensor(),
                  /*need_weights=*/false, future);
    x = x + seen;
    return x + down(torch::gelu(up(norm2(x))));
  }
};
TORCH_MODULE(Block);

/// `length + 1` elements of an arithmetic progression for each row.
torch::Tensor makeTokens(int step, int microbatch) {
  torch::Tensor rows = torch::arange(batch) + batch * (7 * microbatch + step);
  torch::Tensor start = rows.mul(5).remainder(vocabulary);
  torch::Tensor stride = rows.mul(3).remainder(vocabulary - 1) + 1;
  torch::Tensor time = torch::arange(length + 1).unsqueeze(1);
  return (start + time * stride).remainder(vocabulary);
}

} // namespace

class Stage {
public:
  Stage(const Config &config, int index)
      : isFirst(index == 0), isLast(index + 1 == config.stages) {
    // Every rank that creates this stage creates the same one.
    torch::manual_seed(1000 + index);
    if (isFirst) {
      tokens = nn::Embedding(vocabulary, width);
      places = nn::Embedding(length, width);
      modules->push_back(tokens);
      modules->push_back(places);
    }
    block = Block();
    modules->push_back(block);
    if (isLast) {
      norm = nn::LayerNorm(nn::LayerNormOptions({width}));
      head = nn::Linear(width, vocabulary);
      modules->push_back(norm);
      modules->push_back(head);
    }
    modules->to(torch::kDouble);
    parameters = modules->parameters();
    optimizer = std::make_unique<torch::optim::SGD>(
        parameters, torch::optim::SGDOptions(learningRate).momentum(0.9));
  }

  /// Returns what goes to the next stage, the loss at the last.
  torch::Tensor forward(torch::Tensor x, int step, int microbatch,
                        int microbatches) {
    torch::Tensor data;
    if (isFirst || isLast)
      data = makeTokens(step, microbatch);
    if (isFirst)
      x = tokens(data.narrow(0, 0, length)) +
          places(torch::arange(length).unsqueeze(1));
    x = block(x);
    if (!isLast)
      return x;
    x = head(norm(x)).reshape({-1, vocabulary});
    torch::Tensor truth = data.narrow(0, 1, length).reshape({-1});
    return nn::functional::cross_entropy(x, truth) / microbatches;
  }

  /// Adds to the gradients of the parameters.
  void accumulate(const std::vector<torch::Tensor> &gradients) {
    for (std::size_t i = 0; i != parameters.size(); ++i) {
      torch::Tensor &sum = parameters[i].mutable_grad();
      if (sum.defined())
        sum.add_(gradients[i]);
      else
        sum = gradients[i].clone(); // it may share its memory
    }
  }

  const bool isFirst, isLast;
  std::vector<torch::Tensor> parameters;
  std::unique_ptr<torch::optim::SGD> optimizer;

private:
  nn::ModuleList modules;
  nn::Embedding tokens{nullptr}, places{nullptr};
  Block block{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::Linear head{nullptr};
};

//===----------------------------------------------------------------------===//
// What the executor calls
//===----------------------------------------------------------------------===//

Model::Model(const Config &config, const std::vector<int> &stages)
    : config(config), held(std::size_t(config.stages)) {
  // Ranks are what runs in parallel here.
  torch::set_num_threads(1);
  for (int stage : stages)
    held[std::size_t(stage)] = std::make_unique<Stage>(config, stage);
}
Model::~Model() = default;
Model::Model(Model &&) = default;

void Model::forward(int index, int microbatch, Tensor *input, Tensor *output,
                    Activation &kept) {
  torch::AutoGradMode recording(!config.forwardOnly);
  Stage &stage = *held[std::size_t(index)];
  if (input) {
    // The last use of the input, so it can be taken.
    kept->input = std::exchange((*input)->value, {}).detach();
    kept->input.requires_grad_(!config.forwardOnly);
  }
  kept->output =
      stage.forward(kept->input, step, microbatch, config.microbatches);
  if (output)
    (*output)->value = kept->output.detach().contiguous();
  else
    lossSum += kept->output.item<double>();
  if (config.forwardOnly)
    *kept = {};
}

namespace {

/// The gradients of what a stage gave by `leaves`. The last stage gives the
/// loss, whose own gradient is 1.
std::vector<torch::Tensor> gradientsBy(const std::vector<torch::Tensor> &leaves,
                                       const Model::Activation &kept,
                                       const Model::Tensor *outputGradient,
                                       bool keepGraph) {
  std::vector<torch::Tensor> outer;
  if (outputGradient)
    outer.push_back((*outputGradient)->value);
  return torch::autograd::grad({kept->output}, leaves, outer, keepGraph);
}

} // namespace

void Model::backward(int index, int, const Tensor *outputGradient,
                     Tensor *inputGradient, Activation &kept) {
  Stage &stage = *held[std::size_t(index)];
  std::vector<torch::Tensor> leaves = stage.parameters;
  if (inputGradient)
    leaves.push_back(kept->input);
  std::vector<torch::Tensor> gradients =
      gradientsBy(leaves, kept, outputGradient, /*keepGraph=*/false);
  if (inputGradient)
    (*inputGradient)->value = gradients.back().contiguous();
  stage.accumulate(gradients);
  *kept = {};
}

void Model::backwardInput(int, int, const Tensor *outputGradient,
                          Tensor *inputGradient, Activation &kept) {
  // The gradient of the first stage's input is not needed.
  if (inputGradient)
    (*inputGradient)->value =
        gradientsBy({kept->input}, kept, outputGradient, /*keepGraph=*/true)[0]
            .contiguous();
}

void Model::backwardWeight(int index, int, const Tensor *outputGradient,
                           Activation &kept) {
  Stage &stage = *held[std::size_t(index)];
  stage.accumulate(gradientsBy(stage.parameters, kept, outputGradient,
                               /*keepGraph=*/false));
  *kept = {};
}

void Model::prepareInput(int, int, Tensor &input) {
  input->value = torch::empty({length, batch, width}, torch::kDouble);
}
void Model::prepareGradient(int, int, Tensor &gradient) {
  gradient->value = torch::empty({length, batch, width}, torch::kDouble);
}
std::span<std::byte> Model::bytes(Tensor &tensor) {
  return {static_cast<std::byte *>(tensor->value.data_ptr()),
          tensor->value.nbytes()};
}

void Model::exportGradient(int index, Tensor &out) {
  std::vector<torch::Tensor> flat;
  for (const torch::Tensor &parameter : held[std::size_t(index)]->parameters)
    flat.push_back(parameter.grad().flatten());
  out->value = torch::cat(flat);
}
void Model::addGradient(int index, const Tensor &other) {
  int64_t place = 0;
  for (torch::Tensor &parameter : held[std::size_t(index)]->parameters) {
    torch::Tensor part = other->value.narrow(0, place, parameter.numel());
    parameter.mutable_grad().add_(part.view_as(parameter));
    place += parameter.numel();
  }
}

//===----------------------------------------------------------------------===//
// What the training loop calls
//===----------------------------------------------------------------------===//

void Model::beginStep(int number) {
  step = number;
  lossSum = 0;
}

void Model::update() {
  for (std::unique_ptr<Stage> &stage : held)
    if (stage) {
      stage->optimizer->step();
      stage->optimizer->zero_grad();
    }
}

static std::vector<int> allStages(int count) {
  std::vector<int> stages(std::size_t(count), 0);
  std::iota(stages.begin(), stages.end(), 0);
  return stages;
}

Reference::Reference(const Config &config)
    : model(config, allStages(config.stages)) {}

void Reference::run(int step) {
  torch::AutoGradMode recording(!model.config.forwardOnly);
  model.beginStep(step);
  for (int m = 0; m != model.config.microbatches; ++m) {
    torch::Tensor x;
    for (std::unique_ptr<Stage> &stage : model.held)
      x = stage->forward(x, step, m, model.config.microbatches);
    model.lossSum += x.item<double>();
    if (!model.config.forwardOnly)
      x.backward();
  }
}

double Reference::difference(const Model &other) const {
  double largest = 0;
  for (std::size_t s = 0; s != other.held.size(); ++s) {
    if (!other.held[s])
      continue;
    const std::vector<torch::Tensor> &mine = model.held[s]->parameters;
    const std::vector<torch::Tensor> &theirs = other.held[s]->parameters;
    for (std::size_t i = 0; i != mine.size(); ++i) {
      if (!theirs[i].grad().defined())
        return std::numeric_limits<double>::infinity();
      double one =
          (mine[i].grad() - theirs[i].grad()).abs().max().item<double>();
      // Not `max`, which would lose a NaN.
      if (!(one <= largest))
        largest = std::isnan(one) ? HUGE_VAL : one;
    }
  }
  return largest;
}

std::size_t Reference::numParameters() const {
  std::size_t count = 0;
  for (const std::unique_ptr<Stage> &stage : model.held)
    for (const torch::Tensor &parameter : stage->parameters)
      count += std::size_t(parameter.numel());
  return count;
}

} // namespace train
