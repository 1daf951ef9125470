import { orTimeout } from "./or-timeout.js";
import { Refusal } from "./refusal.js";

/** Longest time for a body to arrive: a client that sends a byte now and then keeps nothing open. */
const BODY_MS = 30_000;

/**
 * Reads the body of a request as JSON.
 *
 * The content type must be JSON: a page of another origin can send that only after a preflight, which is refused unless
 * its origin is allowed.
 *
 * @throws Refusal 415 for another content type, 413 for a body over `maxBytes`, 408 for one that takes too long, 400 for what is
 *   not JSON
 */
export async function readJson(
  request: Request,
  maxBytes: number,
  timeoutMs: number = BODY_MS,
): Promise<unknown> {
  const [type = ""] = (request.headers.get("content-type") ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/json")
    throw new Refusal(415, "CONTENT_TYPE", "Send the request as application/json.");
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const text = await readText(request, maxBytes, timeoutMs);
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body.
    throw new Refusal(400, "INVALID_JSON", "The request is not valid JSON.");
  }
}

async function readText({ body }: Request, maxBytes: number, timeoutMs: number): Promise<string> {
  if (!body) return "";
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  let bytes = 0;
  const until = performance.now() + timeoutMs;
  for (;;) {
    const read = await orTimeout(reader.read(), Math.max(0, until - performance.now()));
    if (read === "timeout") {
      reader.cancel().catch(() => undefined);
      throw new Refusal(408, "BODY_TIMEOUT", "The request took too long to arrive.");
    }
    const { done, value } = read;
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      await reader.cancel().catch(() => undefined);
      throw tooLarge(maxBytes);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(
    413,
    "BODY_TOO_LARGE",
    `The request is larger than ${maxBytes} bytes. Send the last message only.`,
  );
}
