// What the page saves and copies: texts, a link, and itself.
function download(name, text) {
  const address = URL.createObjectURL(new Blob([text]));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

for (const button of document.querySelectorAll(".export"))
  button.onclick = async () => {
    const as = button.dataset.as;
    const name = `${known.report?.name ?? "schedule"}.${as}`;
    if (as === "pipe") return download(name, state.program);
    // Options without an effect on an output are errors.
    const emit = as === "steps" ? "ir" : as;
    const usesCosts = as !== "csv" || config.timedTargets.includes(state.target);
    try {
      const { output, diagnostics } = await ask("/export", as === "html" ? compileRequest({ emit })
        : request({ ...lowering(), ...(usesCosts ? costs() : {}), emit }, usesCosts ? profileFile() : {}));
      if (output !== null) return download(name, output);
      showMessages(diagnostics);
    } catch (error) {
      byId("status").textContent = error.message;
    }
  };

byId("copy").onclick = async () => {
  await remember(false);
  // The token belongs to this server and does not go into links.
  await navigator.clipboard.writeText(`${location.origin}/${location.hash}`);
  byId("status").textContent = "link copied";
};

// The page as one file, which opens without a server: the page of the server, with the state
// and the answers that are shown.

/// A page of the server as text.
const pageText = async (path) => (await fetch(addressOf(path))).text();

async function savedPage() {
  const [page, picture] = await Promise.all(["/", "/picture"].map(pageText));
  const facts = { ...config, name: `${known.report.name}.pipe`, program: state.program, examples: [], saved: { state, answers, picture } };
  const text = JSON.stringify(facts).replaceAll("<", "\\u003c");
  return page.replace(/(<script type="application\/json" id="config">)[^]*?(<\/script>)/, (all, before, after) => before + text + after);
}

byId("savePage").onclick = async () => {
  if (!known.report) return;
  try {
    download(`${known.report.name}.html`, await savedPage());
  } catch (error) {
    byId("status").textContent = error.message;
  }
};

/// A word of a command line of a shell.
const quoted = (word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/// The command that shows the state of this page in a page of its own server.
function serveCommand() {
  const options = { ...costs(), target: state.target, schedule: scheduleOption().schedule };
  return ["pipec", "serve", `${known.report.name}.pipe`, ...sizesBut(),
    ...Object.entries(filled(options)).map(([name, value]) => `--${name}=${value}`),
    ...state.profile ? ["--cost-profile=costs.json"] : []].map(quoted).join(" ");
}

/// Says in a saved page how to run its program, and disables what needs a server.
function showSaved() {
  if (!config.saved) return;
  byId("saved").hidden = false;
  byId("savedProfile").hidden = !state.profile;
  byId("saveItsProfile").onclick = byId("saveProfile").onclick;
  byId("serveCommand").textContent = serveCommand();
  for (const [path, show] of Object.entries(shownResults)) if (answers[path]) show(answers[path]);
  for (const one of document.querySelectorAll("main :is(input, select, form button)")) one.disabled = one.id !== "saveProfile";
}

/// The results of a saved page.
const shownResults = { "/compare": showComparison, "/search": showSearch, "/plan": showPlan, "/lint": showVerdicts, "/derive": showDerived };

if (config.saved) {
  document.body.classList.add("saved");
  // Tabs without a result have nothing to show.
  for (const [name, has] of [["compare", "/compare"], ["search", "/search"], ["plan", "/plan"], ["run", "/lint"]])
    if (!answers[has]) leaveOutTab(name);
  editor.setOption("readOnly", true);
}
