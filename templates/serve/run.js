// What runs the schedule: the verdict of `pipec lint` for each framework and how to get its file; and the closed
// forms of `pipec derive`.

/// The command that writes the file of a framework.
const frameworkCommand = ({ command }) => ["pipec", `${known.report.name}.pipe`, ...sizesBut()].map(quoted).join(" ")
  + ` ${command.replaceAll("NAME", quoted(known.report.name))}`;

/// The verdict of lint: whether the framework runs the schedule, and the first reason if not.
function verdictOf(name, { output: lint, diagnostics }) {
  const all = { ...lint?.frameworks, ...name === "pytorch" ? lint?.pytorch : {} };
  const reasons = { ...lint?.framework_reasons, ...lint?.pytorch_reasons };
  return Object.entries(all).map(([key, runs]) => ({ version: key === name ? "" : ` ${key}`, runs,
    why: runs ? "" : reasons[key]?.[0]?.message ?? lint.findings[0]?.message ?? diagnostics[0]?.message ?? "" }));
}

function showVerdicts(byName) {
  const rows = config.frameworks.flatMap((framework) => byName[framework.name] ? verdictOf(framework.name, byName[framework.name])
    .map(({ version, runs, why }) => [`${framework.title}${version}`, element("span", { class: runs ? "yes" : "no" }, runs ? "yes" : "no"),
      runs ? commandElement(frameworkCommand(framework)) : shownText(why)]) : []);
  showResult("verdicts", [], null, table({ id: "frameworks" }, ["framework", "runs it", "command, or why not"], rows));
}

let linting = 0;
onTab.run = async () => {
  if (config.saved || !known.report) return;
  const body = (name) => request({ ...scheduleOption(), D: sizesBut(), ...costs(), for: name }, profileFile());
  const key = JSON.stringify(body(""));
  if (asked["/lint"] === key) return;
  asked["/lint"] = key;
  const turn = ++linting;
  byId("verdicts").classList.add("old");
  try {
    const all = await Promise.all(config.frameworks.map(async ({ name }) => [name, await ask("/lint", body(name))]));
    if (turn === linting) showVerdicts(answers["/lint"] = Object.fromEntries(all));
  } catch (error) {
    if (turn === linting) showResult("verdicts", [{ severity: "error", message: error.message }]);
  }
};

function showDerived({ output: derived, diagnostics }) {
  const clauses = (derived?.schedules ?? []).flatMap((one) => one.figures.flatMap(({ clauses }) => clauses.map(({ clause }) => clause)));
  showResult("derived", diagnostics, null, element("pre", { id: "clauses", tabindex: 0 }, clauses.join("\n")),
    clauses.length ? element("button", { type: "button", class: "live", id: "insert", title: "Add the clauses to the program, where they are checked",
      onclick: () => insertClauses(clauses) }, "Add to the program") : "");
}

/// Adds clauses at the end of the schedule that is shown.
function insertClauses(clauses) {
  const place = schedule()?.end;
  const text = editor.getValue(), at = place ?? text.lastIndexOf("}");
  if (at < 0) return;
  editor.replaceRange(clauses.map((clause) => `  ${clause}\n`).join(""), editor.posFromIndex(at));
  editor.focus();
}

byId("derive").onclick = () => known.report && runJob("/derive", request({ ...scheduleOption(),
  D: sizesBut("ranks", "microbatches") }), showDerived);
