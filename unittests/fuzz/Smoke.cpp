//===- Smoke.cpp - A fuzz target without libFuzzer ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a fuzz target on the files on the command line and on mutations of them,
// which are the same in every run:
//
//   pipec-smoke-pipe SEED ROUNDS DICTIONARY FILE...
//
// A mutation applies one to six edits, each of which removes, repeats, moves or
// replaces a part of the text, or inserts a word of the dictionary or a part of
// another file. When the target finds a fault it ends the program, and its
// input is written to standard output.
//
//===----------------------------------------------------------------------===//

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// The current input, for the signal handler.
static std::string current;

static void showInput(int) {
  std::fwrite(current.data(), 1, current.size(), stdout);
  std::fflush(stdout);
  std::_Exit(1);
}

static std::string readFile(const char *path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path);
    std::exit(1);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The quoted words of a libFuzzer dictionary; `\\` and `\"` are escapes.
static std::vector<std::string> readDictionary(const char *path) {
  std::vector<std::string> words;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] != '"')
      continue;
    std::string word;
    for (size_t i = 1; i + 1 < line.size(); ++i) {
      if (line[i] == '\\')
        ++i;
      word += line[i];
    }
    words.push_back(word);
  }
  return words;
}

namespace {
class Mutator {
public:
  Mutator(unsigned seed, std::vector<std::string> words,
          std::vector<std::string> texts)
      : random(seed), words(std::move(words)), texts(std::move(texts)) {}

  std::string make() {
    std::string text = pick(texts);
    for (size_t steps = 1 + below(6); steps != 0; --steps)
      mutate(text);
    constexpr size_t longest = 4000;
    return text.substr(0, longest);
  }

private:
  size_t below(size_t n) { return n == 0 ? 0 : random() % n; }
  const std::string &pick(const std::vector<std::string> &list) {
    return list[below(list.size())];
  }
  std::string piece(const std::string &text) {
    return text.substr(below(text.size()), 1 + below(40));
  }

  void mutate(std::string &text) {
    size_t at = below(text.size() + 1);
    switch (below(7)) {
    case 0:
      text.erase(at, 1 + below(20));
      break;
    case 1:
      text.insert(at, piece(text));
      break;
    case 2:
      text.insert(at, piece(pick(texts)));
      break;
    case 3:
      text.insert(at, pick(words));
      break;
    case 4:
      text.insert(at, " " + pick(words) + " ");
      break;
    case 5:
      if (at < text.size())
        text[at] = char(below(256));
      break;
    case 6: {
      std::string moved = piece(text);
      if (size_t found = text.find(moved); found != std::string::npos)
        text.erase(found, moved.size());
      text.insert(below(text.size() + 1), moved);
      break;
    }
    }
  }

  std::mt19937 random;
  std::vector<std::string> words;
  std::vector<std::string> texts;
};
} // namespace

int main(int argc, char **argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: %s SEED ROUNDS DICTIONARY FILE...\n", argv[0]);
    return 1;
  }
  std::signal(SIGABRT, showInput);
  std::signal(SIGSEGV, showInput);

  auto run = [](std::string text) {
    current = std::move(text);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(current.data()),
                           current.size());
  };
  std::vector<std::string> texts;
  for (int i = 4; i != argc; ++i) {
    texts.push_back(readFile(argv[i]));
    run(texts.back());
  }
  size_t files = texts.size();
  Mutator mutator(std::atoi(argv[1]), readDictionary(argv[3]),
                  std::move(texts));
  int rounds = std::atoi(argv[2]);
  for (int i = 0; i != rounds; ++i)
    run(mutator.make());
  std::printf("%zu files and %d mutations\n", files, rounds);
  return 0;
}
