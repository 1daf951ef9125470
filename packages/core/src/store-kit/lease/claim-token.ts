import { randomUUID } from "node:crypto";

/** Process as the tokens of its claims name it. */
export interface NodeName {
  /** Text without dots, at most 16 characters. */
  readonly id: string;
  /** Time without a heartbeat after which the process may be taken for dead. */
  readonly timeoutMs: number;
}

/** Makes the token of a claim; with a node it names the process whose heartbeats keep the claim. */
export function newToken(node?: NodeName): string {
  // At most 64 bytes: stores have columns of that size.
  return node === undefined
    ? randomUUID()
    : `${randomUUID()}.${node.id}.${node.timeoutMs.toString(36)}`;
}

/** Returns the process that a token names; undefined for a claim that no heartbeat keeps. */
export function nodeOf(token: string): NodeName | undefined {
  const [, id, timeout = "", ...rest] = token.split(".");
  const timeoutMs = Number.parseInt(timeout, 36);
  return id && timeoutMs > 0 && rest.length === 0 ? { id, timeoutMs } : undefined;
}
