import { HoldfastError } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { privateRedis } from "@holdfast/testing/servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RedisAgentStateStore } from "../../src/state/redis-agent-state-store.js";
import { inputEntry } from "../inbox/sample-entries.js";
import { ioredis } from "../state/servers.js";
import { firstWrite, slot } from "../state/stores.js";

/** Commands of this store; on the servers below each of them answers as another command would. */
const used = ["EVALSHA", "HMGET", "ZREM", "ZSCORE", "ZREVRANGEBYSCORE", "SSCAN"];

/** Renames commands so that `used` ones are answered by copies of others, which take any number of arguments. */
function renamed(...others: readonly string[]): string[] {
  const away = used.flatMap((name) => ["--rename-command", name, `HIDDEN-${name}`]);
  const instead = others.flatMap((other, at) => ["--rename-command", other, used[at] ?? ""]);
  return [...away, ...instead];
}

const oddities = {
  "numbers for everything": ["EXISTS", "TOUCH", "SADD", "PFADD", "LPUSH", "RPUSH"],
  "lists of nulls": ["MGET", "EXISTS", "TOUCH", "DEL", "UNLINK", "SADD"],
};

for (const [name, others] of Object.entries(oddities))
  describe(`a server that answers ${name}`, () => {
    let store: RedisAgentStateStore;
    let end = async (): Promise<void> => {};
    beforeAll(async () => {
      const server = await privateRedis({ args: renamed(...others) });
      const { client, end: close } = ioredis(server.url);
      store = new RedisAgentStateStore({ client, ttlMs: 60_000, commandTimeoutMs: 3_000 });
      end = async () => {
        await store.close();
        await close();
        await server.stop();
      };
    });
    afterAll(() => end());

    const { agentId, userId } = slot;
    const record = () => ({
      ...{ v: 1, id: uuidv7(), callId: "c", at: new Date().toISOString(), kind: "message" },
      message: firstWrite(["text"]).append[0],
    });
    const commands: Record<string, () => Promise<unknown>> = {
      load: () => store.load(slot),
      save: () => store.save(slot, firstWrite(["one"])),
      delete: () => store.delete(slot),
      list: () => store.list(),
      "list of an agent": () => store.list({ agentId }),
      "put an entry": () => store.inbox.put(slot, inputEntry("e")),
      "read the inbox": () => store.inbox.read(slot),
      "remove entries": () => store.inbox.remove(slot, ["e"]),
      acquire: () => store.fuses.gate.acquire(slot, { callId: "c" }),
      calls: () => store.fuses.gate.calls(slot),
      append: () => store.fuses.log.append(slot, [record() as never]),
      "read the log": () => store.fuses.log.read(slot),
      "read a blob": () => store.fuses.log.readBlob(slot, `sha256:${"0".repeat(64)}`),
      "list logs": () => store.fuses.log.sessions({ agentId, userId: userId ?? "" }),
      search: () => store.fuses.log.search({ agentId, userId: userId ?? "", text: "x" }),
      "put a value": () => store.companions().keyValue.put(["n"], "k", 1),
      "get a value": () => store.companions().keyValue.get(["n"], "k"),
      "list values": () => store.companions().keyValue.list(["n"]),
      signal: () => store.companions().signals.send(slot, "c", { kind: "interrupt" }),
      listen: () => store.companions().signals.listen(slot, "c", () => {}),
    };
    for (const [command, run] of Object.entries(commands))
      test(`${command} fails with an error that names the command`, async () => {
        const error: unknown = await run().then(
          (value) => expect.fail(`it took ${JSON.stringify(value)} for an answer`),
          (reason) => reason,
        );
        expect(error).toSatisfy(HoldfastError.is);
        const { code } = error as HoldfastError;
        // The gate says that the call did not begin, and the reason in its cause.
        const { message } =
          command === "acquire" ? ((error as Error).cause as Error) : (error as Error);
        expect(["UNAVAILABLE", "UNKNOWN_OUTCOME"]).toContain(code);
        expect(message).toMatch(
          /answered (script [a-z-]+|[A-Z]+) with a reply that it does not have/,
        );
      });
  });
