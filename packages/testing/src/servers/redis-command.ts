import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Address of a server. */
export interface Address {
  readonly host: string;
  readonly port: number;
  /** Of the default user, where the server asks for one. */
  readonly password?: string | undefined;
}

/** Sends one command to a Redis server and returns its answer as text; rejects without an answer. */
export async function redisCommand(
  { host, port, password }: Address,
  ...args: readonly (string | number)[]
): Promise<string> {
  const { stdout } = await run("redis-cli", ["-h", host, "-p", String(port), ...args.map(String)], {
    timeout: 10_000,
    maxBuffer: 64 << 20,
    // Not as an argument: process listings show those.
    env: { ...process.env, REDISCLI_AUTH: password },
  });
  return stdout.trimEnd();
}

/** Makes a check that a Redis server is up and has loaded its data. */
export function redisAnswers(address: Address): () => Promise<boolean> {
  return () =>
    redisCommand(address, "PING").then(
      // A server that asks for a password not known here is up as well.
      (answer) => answer === "PONG" || answer.startsWith("NOAUTH"),
      () => false,
    );
}
