// Requests to the server that this page comes from. A saved page has none: `config.saved` has the answers
// by path, the state that they are about, and the page of the picture.
const byId = (id) => document.getElementById(id);
const config = JSON.parse(byId("config").textContent);
const token = new URLSearchParams(location.search).get("token");
const dead = byId("dead");

const addressOf = (path) => `${path}${path.includes("?") ? "&" : "?"}token=${encodeURIComponent(token)}`;

function showDead(why) {
  if (dead.textContent !== why) dead.textContent = why;
  dead.hidden = why === "";
}

/// Sends an object, or a Blob as it is, and returns the answer, or null if a newer request has taken
/// its place. Throws an Error with a message for the reader.
async function ask(path, body, signal) {
  if (config.saved) return config.saved.answers[path];
  let response;
  try {
    response = await fetch(addressOf(path), body === undefined ? { signal } : {
      method: "POST", headers: { "Content-Type": body instanceof Blob ? "application/octet-stream" : "application/json" },
      body: body instanceof Blob ? body : JSON.stringify(body), signal });
  } catch (error) {
    if (signal?.aborted) return null;
    showDead("The server does not answer: pipec serve has ended. Start it again and open the address that it prints; "
      + "what is after # in the address of this page can be put after that one.");
    throw new Error("the server does not answer", { cause: error });
  }
  if (response.status === 403) {
    showDead("Another pipec serve has taken the place of the one that this page is from. Open the address that it "
      + "printed; what is after # in the address of this page can be put after that one.");
    throw new Error("the token is not the server's");
  }
  showDead("");
  let answer;
  try {
    answer = await response.json();
  } catch (error) {
    if (signal?.aborted) return null;
    throw new Error("the answer is not complete", { cause: error });
  }
  if (response.status === 409) return null;
  if (!response.ok) throw new Error(answer.error ?? `the server answers ${response.status}`);
  return answer;
}

if (!config.saved) setInterval(() => ask("/ping").catch(() => {}), 2000);
