import { InMemorySignalBus, type SessionGate, textOf, userMessage } from "@holdfast/core";
import type { ListenOptions, Signal } from "@holdfast/core/store-kit";
import { withEncryption } from "@holdfast/encryption";
import { expect, test } from "vitest";
import { freshKey, freshOptions } from "./keys.js";
import { slotOf } from "./stored.js";
import { memorySubject, partsOf } from "./subjects.js";

const [one, two] = [slotOf("one"), slotOf("two")];
const message = userMessage("stop, please");

test("the bus behind carries nothing of what a message says", async () => {
  const inner = new InMemorySignalBus();
  const { signals } = withEncryption({ signals: inner }, freshOptions());
  const [carried, heard]: Signal[][] = [[], []];
  await inner.listen(one, "c", (signal) => void carried?.push(signal));
  await signals.listen(one, "c", (signal) => void heard?.push(signal));
  await signals.send(one, "c", { kind: "interrupt", message });
  expect(JSON.stringify(carried)).not.toContain("please");
  expect(heard).toEqual([{ kind: "interrupt", message }]);
});

test("a message for another call, session or kind, or of nobody with a key, is not heard", async () => {
  const inner = new InMemorySignalBus();
  const { signals } = withEncryption({ signals: inner }, freshOptions());
  const other = withEncryption({ signals: inner }, { keys: [freshKey("k2")] }).signals;
  let carried: Signal | undefined;
  await inner.listen(one, "c", (signal) => {
    carried = signal;
  });
  const heard: Signal[] = [];
  for (const [slot, callId] of [
    [one, "c"],
    [one, "d"],
    [two, "c"],
  ] as const)
    await signals.listen(slot, callId, (signal) => void heard.push(signal));
  await signals.send(one, "c", { kind: "interrupt", message });
  const sealed = carried?.message;
  await inner.send(one, "d", { kind: "interrupt", message: sealed });
  await inner.send(two, "c", { kind: "interrupt", message: sealed });
  await inner.send(one, "c", { kind: "rollback", message: sealed });
  await inner.send(one, "c", { kind: "interrupt", message: userMessage("forged") });
  await other.send(one, "c", { kind: "interrupt", message });
  expect(heard.map(({ kind, message }) => [kind, message && textOf(message)])).toEqual([
    ["interrupt", "stop, please"],
    ["interrupt", undefined],
    ["interrupt", undefined],
    ["rollback", undefined],
    ["interrupt", undefined],
    ["interrupt", undefined],
  ]);
});

test("the bus behind is told of the gate it knows", async () => {
  const entered: (SessionGate | undefined)[] = [];
  class WatchedBus extends InMemorySignalBus {
    override listen(
      ...[slot, callId, handler, options]: [
        ...Parameters<InMemorySignalBus["listen"]>,
        ListenOptions?,
      ]
    ) {
      entered.push(options?.enters);
      return super.listen(slot, callId, handler);
    }
  }
  const { inner } = memorySubject();
  const parts = { ...partsOf(inner), signals: new WatchedBus() };
  const { signals, gate } = withEncryption(parts, freshOptions());
  await signals.listen(one, "c", () => undefined, { enters: gate });
  await signals.listen(one, "c", () => undefined, { enters: parts.gate });
  await signals.listen(one, "c", () => undefined);
  expect(entered).toEqual([parts.gate, parts.gate, undefined]);
  expect(entered[0]).toBe(parts.gate);
});
