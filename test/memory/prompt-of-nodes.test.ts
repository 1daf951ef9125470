import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import { type ScriptedReply, scriptedModel, tempDirectory } from "@holdfast/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { door } from "../engine/door.js";
import { fleetStores, freshChoice } from "../fleet/choices.js";
import { openStore, type StoreChoice } from "../fleet/open-store.mjs";

const ann = { userId: "ann", sessionId: "s" };
const bob = { userId: "bob", sessionId: "s" };

/** Leaves MEMORY.md as the test wrote it. */
const consolidatesNothing = scriptedModel(() => ({ error: new Error("no answer") }));

/** A place whose first command has the time to make the tables on a busy machine. */
const fresh = (kind: "redis" | "mysql"): StoreChoice =>
  freshChoice(kind, { commandTimeoutMs: 30_000 });

/** One of several machines that share nothing but the store. Its model does as the test says, and then says "ok". */
async function node(choice: StoreChoice) {
  const directory = await tempDirectory();
  const { store, close } = openStore(choice);
  const script: (ScriptedReply | (() => Promise<ScriptedReply>))[] = [];
  const model = scriptedModel(async () => {
    const next = script.shift() ?? "ok";
    return typeof next === "function" ? next() : next;
  });
  const agent = HarnessAgent.create({
    name: "agent",
    model,
    distributedStore: store,
    workspace: directory.path,
    plugins: [memoryFlush({ model: consolidatesNothing, flushTrigger: "never" })],
  });
  onTestFinished(async () => {
    await agent.close();
    await close();
    await directory.cleanup();
  });
  /** Runs a call, and returns the memory that each of its requests showed to the model. */
  const during = async (call: () => Promise<unknown>): Promise<(string | undefined)[]> => {
    const before = model.requests.length;
    await call();
    return model.requests.slice(before).map(({ system }) => memoryIn(system));
  };
  const memories = (who: typeof ann) => during(() => agent.call("hello", who));
  return { agent, script, during, memories };
}

function memoryIn(system: string): string | undefined {
  return /<memory source="MEMORY.md">\n([^<]*)<\/memory>/.exec(system)?.[1]?.trim();
}

const save = (content: string): ScriptedReply => ({
  toolCalls: [{ name: "memory_save", input: { content } }],
});

const write = (content: string): ScriptedReply => ({
  toolCalls: [{ name: "write_file", input: { path: "MEMORY.md", content } }],
});

describe.each(fleetStores)("the memory in the prompt, on %s", (kind) => {
  test("is what another node made of it, from the next call on, in whatever session", async () => {
    const choice = fresh(kind);
    const [one, two] = [await node(choice), await node(choice)];
    expect(await two.memories(ann)).toEqual([undefined]);
    for (const text of ["tea", "ale", "tea"]) {
      one.script.push(write(text));
      await one.memories(ann);
      expect(await two.memories(ann)).toEqual([text]);
      expect(await two.memories({ ...ann, sessionId: "other" })).toEqual([text]);
    }
  });

  test("has what a tool of the call itself wrote, from the next step on", async () => {
    const { script, memories } = await node(fresh(kind));
    script.push(save("Likes tea."), write("Likes ale."));
    const [before, saved, written] = await memories(ann);
    expect(before).toBeUndefined();
    expect(saved).toContain("Likes tea.");
    expect(written).toBe("Likes ale.");
    expect(await memories(ann)).toEqual(["Likes ale."]);
  });

  test("is its user's and nobody else's", async () => {
    const choice = fresh(kind);
    const [one, two] = [await node(choice), await node(choice)];
    one.script.push(write("Ann likes tea."));
    await one.memories(ann);
    for (const { memories } of [one, two]) {
      expect(await memories(ann)).toEqual(["Ann likes tea."]);
      expect(await memories(bob)).toEqual([undefined]);
      expect(await memories(ann)).toEqual(["Ann likes tea."]);
    }
    one.script.push(write("Bob likes ale."));
    await one.memories(bob);
    expect(await two.memories(bob)).toEqual(["Bob likes ale."]);
    await one.agent.deleteUser("ann");
    expect(await one.memories(ann)).toEqual([undefined]);
    expect(await two.memories(ann)).toEqual([undefined]);
  });

  test("has what the call wrote that another node's call waited for", async () => {
    const choice = fresh(kind);
    const [one, two] = [await node(choice), await node(choice)];
    await two.memories(ann);
    const [reached, released] = [door(), door()];
    one.script.push(async () => {
      reached.open();
      await released.opened;
      return write("tea");
    });
    const running = one.agent.call("first", ann);
    await reached.opened;
    const shown = await two.during(async () => {
      const queued = door();
      const run = two.agent.stream("second", ann);
      const watching = (async () => {
        for await (const { type } of run) if (type === "queue_wait") queued.open();
      })();
      await queued.opened;
      released.open();
      await Promise.all([running, watching, run.result]);
    });
    expect(shown).toEqual(["tea"]);
  });

  test("is what is stored, for a node that starts anew", async () => {
    const choice = fresh(kind);
    const one = await node(choice);
    one.script.push(write("tea"));
    await one.memories(ann);
    const two = await node(choice);
    two.script.push(write("ale"));
    expect(await two.memories(ann)).toEqual(["tea", "ale"]);
    const three = await node(choice);
    expect(await three.memories(ann)).toEqual(["ale"]);
    expect(await one.memories(ann)).toEqual(["ale"]);
  });
});
