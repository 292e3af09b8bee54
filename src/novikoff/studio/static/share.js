// The state of the page in its address: #v1=..., JSON, deflated, in base64 of addresses. Contents of files are never in it.

const VERSION = "v1";

async function pipe(bytes, transform) {
  const stream = new Blob([bytes]).stream().pipeThrough(transform);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function encodeState(state) {
  const bytes = await pipe(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  const text = btoa(String.fromCharCode(...bytes));
  return `${VERSION}=${text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

// The state in the fragment of an address; null if there is none, an Error if it cannot be read.
export async function decodeState(fragment) {
  const [version, text] = fragment.replace(/^#/, "").split("=");
  if (!text || !/^v\d+$/.test(version)) return null;
  if (version !== VERSION) throw new Error(`This link was made by a newer studio (${version}); this one reads ${VERSION}.`);
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    if (bytes.length > 200000) throw new Error();
    return JSON.parse(new TextDecoder().decode(await pipe(bytes, new DecompressionStream("deflate-raw"))));
  } catch {
    throw new Error("This link is damaged: what follows #v1= cannot be read.");
  }
}

// {s: scene, i: variant, at} or {p: points, c: settings, at}
export function stateOf({ bundle, variant, record, at, isOwn }) {
  if (isOwn) return { p: record.points, c: record.settings, at };
  return { s: bundle.scene.name, i: variant, at };
}
