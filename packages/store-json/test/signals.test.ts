import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { FileSignalBus } from "@holdfast/store-json";
import { describeSignalBus, eventually, spawnScript } from "@holdfast/testing";
import { expect, test } from "vitest";
import { sessionDirectory, slot } from "./session.js";
import { temporaryRoot } from "./temporary-root.js";

const roots = new WeakMap<object, string>();

describeSignalBus("FileSignalBus", {
  create: () => busAt(temporaryRoot()),
  reopen: (bus) => busAt(roots.get(bus) ?? ""),
});

const listener = new URL("./children/listener.mjs", import.meta.url);

test("a signal reaches the process that runs the call, and a killed one is not reached", async () => {
  const root = temporaryRoot();
  const bus = new FileSignalBus({ root });
  const child = spawnScript(listener, [root]);
  await child.line("listening");
  expect(await bus.send(slot, "call", { kind: "interrupt" })).toBe(true);
  await child.line("got interrupt");
  expect(await bus.send(slot, "other", { kind: "interrupt" })).toBe(false);
  await child.kill9();
  expect(await bus.send(slot, "call", { kind: "rollback" })).toBe(false);
  expect(readdirSync(sessionDirectory(root))).toEqual([]);
});

test("a call that ended leaves nothing on disk", async () => {
  const root = temporaryRoot();
  const bus = new FileSignalBus({ root });
  const subscriptions = await Promise.all(
    ["a", "b", "c"].map((callId) => bus.listen(slot, callId, () => {})),
  );
  expect(readdirSync(sessionDirectory(root))).toHaveLength(3);
  await Promise.all(subscriptions.map((subscription) => subscription.close()));
  await eventually(() => !existsSync(sessionDirectory(root)));
  expect(readdirSync(join(root, "agent", "user-user"))).toEqual([]);
});

function busAt(root: string): FileSignalBus {
  const bus = new FileSignalBus({ root });
  roots.set(bus, root);
  return bus;
}
