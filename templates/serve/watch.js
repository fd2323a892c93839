// At the end of a page that `pipec watch` serves: loads it again when there is a
// new version, and shows errors and the end of the server.
{
  const note = document.createElement("pre");
  note.id = "pipec-watch";
  note.style.cssText = "position:fixed;left:8px;bottom:8px;max-width:90%;max-height:50%;overflow:auto;margin:0;padding:8px;"
    + "background:#b3261e;color:#fff;font:13px ui-monospace,monospace;z-index:1000";
  note.hidden = true;
  document.body.append(note);
  const show = (text) => {
    if (note.textContent !== text) note.textContent = text;
    note.hidden = text === "";
  };
  const poll = async () => {
    try {
      const response = await fetch(`/version${location.search}`);
      if (!response.ok) throw new Error("refused");
      const { version, messages } = await response.json();
      if (version !== pipecVersion) return location.reload();
      // Without what a terminal uses for colours.
      show(messages.replaceAll(/\u001b\[[\d;]*m/g, ""));
    } catch {
      show("pipec watch has ended; this page does not change any more.");
    }
    setTimeout(poll, 200);
  };
  poll();
}
