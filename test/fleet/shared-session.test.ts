import { scaled, spawnScript } from "@holdfast/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { fleetStores, freshChoice } from "./choices.js";
import { openStore } from "./open-store.mjs";
import { expectAdjacent, transcript } from "./transcript.js";

const script = new URL("caller.mjs", import.meta.url);
const slot = { agentId: "echo", userId: "u", sessionId: "s" };
const calls = process.env["HOLDFAST_LONG"] === "1" ? 200 : 12;

describe.each(scaled(["redis"], fleetStores))("through one %s", (kind) => {
  test(`three processes with ${calls} calls each on one session lose, double and mix nothing`, async () => {
    const choice = freshChoice(kind);
    const names = ["a", "b", "c"];
    const nodes = names.map((name) =>
      spawnScript(script, [JSON.stringify(choice), name, String(calls)]),
    );
    const ends = await Promise.all(nodes.map((node) => node.exited));
    expect({
      codes: ends.map(({ code }) => code),
      stderr: nodes.map((node) => node.stderr),
    }).toEqual({ codes: [0, 0, 0], stderr: ["", "", ""] });
    const { store, close } = openStore(choice);
    onTestFinished(close);
    const { context, log } = await transcript(store, slot);
    expect(context).toHaveLength(3 * calls * 2);
    expectAdjacent(context);
    for (const name of names)
      expect(context.filter((text) => text.startsWith(`${name}-`))).toEqual(
        Array.from({ length: calls }, (_, n) => `${name}-${n}`),
      );
    expect(log).toEqual(context);
    expect(await store.gate.calls(slot)).toEqual([]);
  });

  test("a process killed in mid-call holds up, loses and repeats nobody's turns", async () => {
    const choice = freshChoice(kind, { leaseMs: 4_000 });
    const args = (name: string, count: number) => [JSON.stringify(choice), name, String(count)];
    const victim = spawnScript(script, args("victim", 100_000));
    await victim.line("re: victim-2");
    const heir = spawnScript(script, args("heir", calls));
    await heir.line("re: heir-0");
    await victim.kill9();
    expect(await heir.exited).toMatchObject({ code: 0 });
    const { store, close } = openStore(choice);
    onTestFinished(close);
    const { context, log } = await transcript(store, slot);
    // What it was asked last was durable before its model was asked: the heir found it, unanswered.
    const unanswered = context.filter(
      (text) => text.startsWith("victim-") && !context.includes(`re: ${text}`),
    );
    expect(unanswered.length).toBeLessThanOrEqual(1);
    expectAdjacent(context.filter((text) => !unanswered.includes(text)));
    expect(log).toEqual(context);
    expect(context.filter((text) => text.startsWith("heir-"))).toHaveLength(calls);
    const acknowledged = victim.lines.filter((line) => line.startsWith("re: victim-"));
    const answered = context.filter((text) => text.startsWith("re: victim-"));
    // One more may have been saved than the victim lived to tell.
    expect(answered.slice(0, acknowledged.length)).toEqual(acknowledged);
    expect(answered.length - acknowledged.length).toBeLessThanOrEqual(1);
  });
});
