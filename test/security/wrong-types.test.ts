import { existsSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { type DistributedStore, InvalidIdError, ReActAgent, type Slot } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { said, writeOn } from "../encryption/stored.js";
import { strangeIds } from "../engine/strange-ids.js";
import { openNodeStore } from "../history/node/open-node-store.mjs";
import { report } from "./corpus.js";
import { directoryFor } from "./every-place.js";

const good: Slot = { agentId: "agent", userId: "user", sessionId: "session" };

/** A port at which nothing answers and every connection is counted. */
async function silentPort(): Promise<{ readonly port: number; connections(): number }> {
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no port");
  return { port: address.port, connections: () => connections };
}

/** Everything a store can be asked about a slot. */
function commands(store: DistributedStore, slot: Slot): (() => unknown)[] {
  const { stateStore, log, gate, signals } = store;
  const at = new Date().toISOString();
  const entry = { id: "entry", kind: "input", callId: "call", at, body: {} } as const;
  return [
    () => stateStore.load(slot),
    () => stateStore.save(slot, writeOn(null, [])),
    () => stateStore.delete(slot),
    () => stateStore.inbox?.put(slot, entry),
    () => stateStore.inbox?.read(slot),
    () => stateStore.inbox?.remove(slot, ["entry"]),
    () => log.append(slot, [said("text")]),
    () => log.read(slot),
    () => log.readBlob(slot, `sha256:${"0".repeat(64)}`),
    () => log.delete(slot),
    () => log.search({ ...slot, text: "text" }),
    () => gate.acquire(slot, { callId: "call" }),
    () => gate.calls(slot),
    () => signals.send(slot, "call", { kind: "interrupt" }),
    () => signals.listen(slot, "call", () => undefined),
  ];
}

async function errorOf(command: () => unknown): Promise<unknown> {
  return Promise.resolve()
    .then(command)
    .then(
      () => "no error",
      (error: unknown) => error,
    );
}

test.for(["json", "redis", "mysql"] as const)(
  "%s: what is no id is refused by every command and every method, and nothing is sent",
  async (kind, context) => {
    const { port, connections } = await silentPort();
    const root = await directoryFor("state");
    const url = kind === "redis" ? `redis://127.0.0.1:${port}` : `mysql://u@127.0.0.1:${port}/d`;
    const { store, close } = openNodeStore(
      kind === "json"
        ? { kind, root, leaseMs: 30_000 }
        : { kind, url, prefix: "t_", commandTimeoutMs: 500 },
    );
    onTestFinished(close);
    const agent = new ReActAgent({
      name: "agent",
      model: scriptedModel(["never"]),
      stateStore: store.stateStore,
    });
    let refused = 0;
    for (const id of strangeIds as readonly never[]) {
      const attempts = [
        ...commands(store, { ...good, agentId: id }),
        ...commands(store, { ...good, userId: id }),
        ...commands(store, { ...good, sessionId: id }),
        () => store.stateStore.list({ agentId: id }),
        () => store.stateStore.list({ userId: id }),
        () => store.log.sessions({ agentId: id, userId: "user" }),
        () => store.log.sessions({ agentId: "agent", userId: id }),
        () => agent.call("x", { userId: id, sessionId: "s" }),
        () => agent.call("x", { userId: "u", sessionId: id }),
        () => agent.stream("x", { sessionId: id }).result,
        () => agent.getAgentState("u", id),
        () => agent.updateAgentState("u", id, () => undefined),
        () => agent.deleteSession(id, "s"),
        () => agent.deleteUser(id),
        () => agent.resume(id, "s"),
        () => agent.interrupt("u", id),
        () => agent.compact(id, "s"),
        () => agent.sessions({ userId: id }),
      ];
      for (const attempt of attempts) {
        const error = await errorOf(attempt);
        expect(InvalidIdError.is(error), `${typeof id} in ${attempt}: ${error}`).toBe(true);
        refused++;
      }
    }
    // Nobody connected, and no file was made.
    expect(connections()).toBe(0);
    if (kind === "json") expect(existsSync(root)).toBe(false);
    else {
      await errorOf(() => store.stateStore.load(good));
      expect(connections()).toBeGreaterThan(0);
    }
    report(context, { "ids that are none": strangeIds.length, refused, "sent to the store": 0 });
  },
);
