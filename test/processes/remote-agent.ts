import { type SpawnedScript, spawnScript } from "@holdfast/testing";

/** An agent in a process of its own, whose methods are called by lines of JSON: see `serve-agent.mjs`. */
export interface RemoteAgent {
  readonly process: SpawnedScript;
  /** Calls a method, and rejects with the code and the message of the error that it fails with. */
  ask<T>(method: string, ...args: readonly unknown[]): Promise<T>;
  /** Calls a method that need not return before the process dies. */
  send(method: string, ...args: readonly unknown[]): void;
}

/** Starts the script of an agent. */
export function remoteAgent(script: URL, args: readonly string[]): RemoteAgent {
  const child = spawnScript(script, args);
  let count = 0;
  const send = (method: string, args: readonly unknown[]): number => {
    count++;
    child.send(JSON.stringify({ id: count, method, args }));
    return count;
  };
  return {
    process: child,
    async ask<T>(method: string, ...args: readonly unknown[]): Promise<T> {
      const id = send(method, args);
      const line = await child.line((text) => text.startsWith(`{"id":${id},`));
      const { value, error } = JSON.parse(line) as { value: T; error?: { code: string } };
      if (error) throw Object.assign(new Error(`the node failed with ${error.code}`), error);
      return value;
    },
    send: (method, ...args) => void send(method, args),
  };
}
