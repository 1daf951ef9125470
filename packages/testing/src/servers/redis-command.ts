import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Where a server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
  /** Of the default user, where the server asks for one. */
  readonly password?: string | undefined;
}

/** What a Redis server answers to one command, as text; rejects when it gives no answer. */
export async function redisCommand(
  { host, port, password }: Address,
  ...args: readonly (string | number)[]
): Promise<string> {
  const { stdout } = await run("redis-cli", ["-h", host, "-p", String(port), ...args.map(String)], {
    timeout: 10_000,
    maxBuffer: 64 << 20,
    // Not as an argument, which any list of processes shows.
    env: { ...process.env, REDISCLI_AUTH: password },
  });
  return stdout.trimEnd();
}

/** Whether a Redis server is up and has loaded its data. */
export function redisAnswers(address: Address): () => Promise<boolean> {
  return () =>
    redisCommand(address, "PING").then(
      // Whoever asks for a password that is not known here is up as well.
      (answer) => answer === "PONG" || answer.startsWith("NOAUTH"),
      () => false,
    );
}
