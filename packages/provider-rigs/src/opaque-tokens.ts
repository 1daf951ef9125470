import { createHash, createHmac } from "node:crypto";

/** Verdict on a token that came back. */
export type TokenState = "valid" | "altered" | "unknown";

/**
 * Opaque tokens a provider hands out and wants back unchanged: signatures, encrypted reasoning.
 *
 * A token made here carries its own proof, so a server of another process recognises it, as the real service would.
 * One the script gave is recognised by the server that sent it.
 */
export class OpaqueTokens {
  readonly #key: string;
  readonly #given = new Map<string, string>();

  /** @param key - the provider: one does not recognise another's tokens */
  constructor(key: string) {
    this.#key = key;
  }

  issue(content: string, given?: string): string {
    const digest = createHash("sha256").update(content).digest();
    if (given !== undefined) {
      this.#given.set(given, digest.toString("base64"));
      return given;
    }
    return Buffer.concat([digest, this.#proofOf(digest)]).toString("base64");
  }

  /** Tells whether a token was issued and, where content is given, for this very content. */
  check(token: string, content?: string): TokenState {
    const digest = this.#given.get(token) ?? this.#proven(token);
    if (digest === undefined) return "unknown";
    if (content === undefined) return "valid";
    return createHash("sha256").update(content).digest("base64") === digest ? "valid" : "altered";
  }

  #proven(token: string): string | undefined {
    const bytes = Buffer.from(token, "base64");
    const digest = bytes.subarray(0, 32);
    return bytes.length === 64 && this.#proofOf(digest).equals(bytes.subarray(32))
      ? digest.toString("base64")
      : undefined;
  }

  #proofOf(digest: Buffer): Buffer {
    return createHmac("sha256", this.#key).update(digest).digest();
  }
}
