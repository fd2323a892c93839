// At the end of a picture that the live page shows in a frame: takes the schedules of
// another picture in place of its own, which is faster than loading it, and tells the
// page its view. Both only with the page of the server that this picture is from.
{
  let told = null;
  tellView = (view) => {
    if (view !== told) parent.postMessage({ view: told = view }, location.origin);
  };
  addEventListener("message", (event) => {
    if (parent === window || event.source !== parent || event.origin !== location.origin) return;
    if (typeof event.data?.text !== "string") return;
    const blocks = blocksOf(event.data.text);
    const buttons = ["memory", "transfers"].map(byId), before = buttons.map((button) => button.disabled);
    show(blocks);
    ownBlock = blocks[0];
    buttons.forEach((button, i) => {
      if (button.disabled || before[i]) toggle(button.id, !button.disabled);
    });
    parent.postMessage({ shown: event.data.id }, location.origin);
  });
}
