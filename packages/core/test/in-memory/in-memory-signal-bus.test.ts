import { beforeEach, expect, test } from "vitest";
import { InMemorySignalBus, InvalidIdError, userMessage } from "../../src/index.js";
import type { Signal } from "../../src/store-kit/index.js";

const slot = { agentId: "agent", userId: null, sessionId: "session" };
let bus: InMemorySignalBus;

beforeEach(() => {
  bus = new InMemorySignalBus();
});

test("a signal reaches the call it names, with its message, and nobody else", async () => {
  const received: [string, Signal][] = [];
  const listenAs = (name: string, at: typeof slot, callId: string) =>
    bus.listen(at, callId, (signal) => received.push([name, signal]));
  await listenAs("wanted", slot, "call");
  await listenAs("other call", slot, "call2");
  await listenAs("other session", { ...slot, sessionId: "other" }, "call");
  const message = userMessage("stop, please");
  expect(await bus.send(slot, "call", { kind: "interrupt", message })).toBe(true);
  expect(received).toEqual([["wanted", { kind: "interrupt", message }]]);
});

test("a signal to a call nobody listens for is reported and never delivered later", async () => {
  expect(await bus.send(slot, "call", { kind: "rollback" })).toBe(false);
  const received: Signal[] = [];
  const listening = await bus.listen(slot, "call", (signal) => received.push(signal));
  await listening.close();
  await listening.close();
  expect(await bus.send(slot, "call", { kind: "rollback" })).toBe(false);
  expect(received).toEqual([]);
  expect(bus.size).toBe(0);
});

test("ending one subscription leaves the others of the call", async () => {
  const received: string[] = [];
  const handler = () => received.push("heard");
  const first = await bus.listen(slot, "call", handler);
  await bus.listen(slot, "call", handler);
  await first.close();
  await first.close();
  expect(await bus.send(slot, "call", { kind: "interrupt" })).toBe(true);
  expect(received).toEqual(["heard"]);
});

test("a listener may stop listening while it is being told", async () => {
  let told = 0;
  const listening = await bus.listen(slot, "call", () => {
    told++;
    void listening.close();
  });
  await bus.send(slot, "call", { kind: "interrupt" });
  await bus.send(slot, "call", { kind: "interrupt" });
  expect(told).toBe(1);
});

test("ids are checked", async () => {
  await expect(bus.send(slot, "", { kind: "interrupt" })).rejects.toSatisfy(InvalidIdError.is);
  const bad = { ...slot, agentId: "" };
  await expect(bus.listen(bad, "call", () => undefined)).rejects.toSatisfy(InvalidIdError.is);
});
