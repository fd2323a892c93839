// The state of the page as the part of its address after `#`: JSON, compressed,
// in base64 for addresses.
const throughStream = async (bytes, stream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

/// The longest text that a link may contain, so that no link fills the memory.
const linkLimit = 4 << 20;

async function stateToLink(state) {
  const text = JSON.stringify(state);
  const bytes = await throughStream(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/// Null if the text is not a link.
async function linkToState(link) {
  try {
    const binary = atob(link.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    let size = 0;
    const limit = new TransformStream({
      transform(chunk, controller) {
        size += chunk.length;
        if (size > linkLimit) controller.error(new Error("too large"));
        else controller.enqueue(chunk);
      },
    });
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).pipeThrough(limit);
    return JSON.parse(await new Response(stream).text());
  } catch {
    return null;
  }
}
