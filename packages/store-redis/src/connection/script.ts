import { createHash } from "node:crypto";
import type { CommandWords } from "./client-adapter.js";
import type { ReplyShape } from "./reply-shape.js";

/**
 * A Lua script, sent by its hash. All its keys share one hash tag.
 *
 * Every script of this package is idempotent: run a second time with the same arguments, it detects that it ran and
 * answers as it did. That makes a lost reply harmless.
 */
export interface Script {
  /** For errors and traces. */
  readonly name: string;
  readonly source: string;
  /** SHA-1 of the source, as `EVALSHA` wants it. */
  readonly sha: string;
  /** True when it changes anything: decides between "unavailable" and "outcome unknown" when its reply is lost. */
  readonly writes: boolean;
  /** Replies that it can give. */
  readonly reply: ReplyShape;
  /** True when it makes the names of its keys from the first one, where only that is declared. */
  readonly derivesKeys: boolean;
}

/** Makes a {@link Script}. */
export function defineScript(
  name: string,
  writes: boolean,
  source: string,
  reply: ReplyShape,
  { derivesKeys = false }: Partial<Pick<Script, "derivesKeys">> = {},
): Script {
  const sha = createHash("sha1").update(source, "utf8").digest("hex");
  return { name, source, sha, writes, reply, derivesKeys };
}

/** A script with its keys and arguments. */
export interface ScriptCall {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** The command that runs a script the server knows. */
export function byHash({ script, keys, args }: ScriptCall): CommandWords {
  return ["EVALSHA", script.sha, keys.length, ...keys, ...args];
}

/** The command that runs a script the server does not know yet. */
export function bySource({ script, keys, args }: ScriptCall): CommandWords {
  return ["EVAL", script.source, keys.length, ...keys, ...args];
}
