import { createHash } from "node:crypto";

/**
 * A Lua script, sent by its hash. All its keys share one hash tag.
 *
 * Every script of this package may be repeated: run a second time with the same arguments, it finds out that it ran and
 * answers as it did. That is what makes a lost reply harmless.
 */
export interface Script {
  /** For errors and traces. */
  readonly name: string;
  readonly source: string;
  /** SHA-1 of the source, as `EVALSHA` wants it. */
  readonly sha: string;
  /** Whether it changes anything: decides between "unavailable" and "outcome unknown" when its reply is lost. */
  readonly writes: boolean;
}

/** Makes a {@link Script}. */
export function defineScript(name: string, writes: boolean, source: string): Script {
  return { name, source, sha: createHash("sha1").update(source, "utf8").digest("hex"), writes };
}
