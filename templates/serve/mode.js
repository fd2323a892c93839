// Colours of a program in the editor. The words are those of
// grammar/PipeLexer.g4, which a test compares.
const pipeWords = new Set(("schedule import placement require expect forward_only cost memory fsdp let fn pattern repeat "
  + "for in reverse if else warmup steady cooldown phase idle at fill ranks microbatches chunks rank stages "
  + "connect graph tie sections overlap alias").split(" "));
const pipeSteps = new Set(["F", "B", "I", "W", "R", "OFFLOAD", "WAIT_OFFLOAD", "RELOAD", "UPDATE"]);

CodeMirror.defineMode("pipe", (options) => ({
  startState: () => ({ depth: 0 }),
  token(stream, state) {
    if (stream.eatSpace()) return null;
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match(/^"(?:\\.|[^"\\])*"?/)) return "string";
    if (stream.match(/^\d+(?:\.\d+)?/)) return "number";
    const word = stream.match(/^[A-Za-z_]\w*/);
    if (word) return pipeSteps.has(word[0]) ? "atom" : pipeWords.has(word[0]) ? "keyword" : "variable";
    const char = stream.next();
    if (char === "{") ++state.depth;
    if (char === "}") state.depth = Math.max(0, state.depth - 1);
    return null;
  },
  indent: (state, after) => Math.max(0, state.depth - (after.startsWith("}") ? 1 : 0)) * options.indentUnit,
  electricInput: /^\s*\}$/,
  lineComment: "//",
}));
