// The state of the page, which a link contains, and how elements are made.
const tab = crypto.randomUUID();

/// The costs of the command line: those with a field, and the others.
function givenCosts() {
  const costs = {}, others = [];
  for (const part of config.given.cost.split(",").filter(Boolean)) {
    const [name, value] = part.split("=").map((text) => text.trim());
    if (config.costs.some((one) => one.name === name)) costs[name] = value;
    else others.push(part);
  }
  return { costs, otherCosts: others.join(",") };
}

/// All that a link contains. Sizes are by role, or by name where there is none.
const firstState = () => ({
  program: config.program, sizes: { ...config.given.sizes }, ...givenCosts(), memoryLimit: "", target: config.given.target,
  schedule: config.given.schedule, withName: "", withSteps: "", profile: config.given.profile, profileParts: 0, view: "",
  tab: "picture",
});
let state = firstState();
/// What the last compilation answered: `schedules`, `report` and `with`.
let known = {};
/// The last answer of each path that is shown.
const answers = config.saved?.answers ?? {};
/// Counts the states that came from addresses.
let generation = 0;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith("on")) made[key] = value;
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/// A command, in which lines are broken between words only, and not after a dash.
const commandElement = (text) =>
  element("code", {}, ...text.split(/( )/).map((word) => word === " " ? word : element("span", { class: "word" }, word)));
