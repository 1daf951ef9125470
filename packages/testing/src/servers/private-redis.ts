import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "./free-port.js";
import { type Address, redisAnswers } from "./redis-command.js";
import { ServerGroup, type ServerProcess } from "./server-group.js";

/** One Redis server of a group. */
export interface RedisNode extends Address {
  readonly process: ServerProcess;
}

/** A Redis server of a test's own. */
export interface RedisServer extends RedisNode, AsyncDisposable {
  /** With the password, where `--requirepass` gave it one. */
  readonly url: string;
  /** Ends it and deletes its data; idempotent. */
  stop(): Promise<void>;
}

/** Options of {@link privateRedis}. */
export interface PrivateRedisOptions {
  /** Further arguments, for example `["--requirepass", "secret"]`. */
  readonly args?: readonly string[] | undefined;
}

/**
 * Starts a Redis server on a free loopback port, with a directory of its own.
 *
 * @example await using redis = await privateRedis();
 */
export async function privateRedis(options: PrivateRedisOptions = {}): Promise<RedisServer> {
  const group = await ServerGroup.create();
  const stop = () => group.stop();
  try {
    const node = await startRedis(group, options.args);
    return {
      ...node,
      url: urlOf(node),
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts one server of a group; nothing is kept on disk unless `args` say so. */
export async function startRedis(
  group: ServerGroup,
  args: readonly string[] = [],
): Promise<RedisNode> {
  const at = args.lastIndexOf("--requirepass");
  const password = at === -1 ? undefined : args[at + 1];
  const address = { host: "127.0.0.1", port: await freePort(), password };
  const directory = join(group.directory, String(address.port));
  await mkdir(directory, { recursive: true });
  const process = await group.start({
    program: "redis-server",
    args: [
      ...["--port", String(address.port), "--bind", address.host, "--dir", directory],
      ...["--save", "", "--daemonize", "no", "--protected-mode", "no"],
      ...args,
    ],
    debianPackage: "redis-server",
    answers: redisAnswers(address),
  });
  return { ...address, process };
}

function urlOf({ host, port, password }: RedisNode): string {
  const user = password === undefined ? "" : `:${encodeURIComponent(password)}@`;
  return `redis://${user}${host}:${port}`;
}
