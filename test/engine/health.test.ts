import {
  InMemoryAgentStateStore,
  type PluginHost,
  ReActAgent,
  StoreUnavailableError,
} from "@holdfast/core";
import { InMemoryEventFeed } from "@holdfast/core/store-kit";
import { eventually, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { door } from "./door.js";
import { FaultyStore, noAnswer, unavailable } from "./faulty-store.js";
import { DictatedModel, faultyFeed } from "./feeds.js";

const never = () => new Promise<never>(() => undefined);

const plugin = (name: string, setup: (host: PluginHost) => void) => ({
  name,
  contract: 1 as const,
  setup,
});

const storeParts = ["stateStore", "log", "keyValue", "gate", "signals"];

describe("health()", () => {
  test("of an agent that is well names every part, and leaves nothing behind", async () => {
    const store = new InMemoryAgentStateStore();
    const agent = agentOn(store);
    const report = await agent.health();
    expect(report).toMatchObject({
      ok: true,
      lifecycle: "running",
      calls: { running: 0, waiting: 0 },
    });
    expect(report.parts.map(({ part }) => part)).toEqual([...storeParts, "start"]);
    expect(report.parts.every(({ ok, problem }) => ok && problem === undefined)).toBe(true);
    expect(report.parts[0]).toMatchObject({ kind: "memory" });
    expect((await agent.sessions()).slots).toEqual([]);
  });

  test("has the event feed, which fails alone: also when it only takes no events", async () => {
    let broken: string | undefined;
    const eventFeed = faultyFeed(new InMemoryEventFeed(), (command) => {
      if (command === broken) throw new StoreUnavailableError("the feed is away");
    });
    const model = new DictatedModel();
    const agent = new ReActAgent({ name: "a", model: model.model, eventFeed });
    const feed = async () => (await agent.health()).parts.find(({ part }) => part === "eventFeed");
    expect(await feed()).toMatchObject({ ok: true, kind: "memory" });
    broken = "read";
    expect(await feed()).toMatchObject({ ok: false, problem: "the feed is away" });
    await agent.ready();
    broken = "append";
    expect(await feed()).toMatchObject({ ok: true });
    const call = agent.call("hi", { userId: "u", sessionId: "s" });
    await eventually(async () => (await feed())?.ok === false);
    expect((await agent.health()).ok).toBe(false);
    broken = undefined;
    await eventually(async () => (await feed())?.ok === true);
    model.say("done");
    model.end();
    await call;
    await agent.close();
  });

  test("says which part fails, why, and what to do, and resolves", async () => {
    const store = new FaultyStore({ fused: true });
    store.every("load", unavailable);
    store.every("read", async () => {
      throw Object.assign(new Error("connect to user:secret@host failed"), {
        code: "ECONNREFUSED",
      });
    });
    const { ok, parts } = await agentOn(store).health();
    expect(ok).toBe(false);
    expect(parts.filter((one) => !one.ok)).toMatchObject([
      { part: "stateStore", kind: "faulty", code: "UNAVAILABLE", problem: "the store is away" },
      {
        part: "log",
        code: "ECONNREFUSED",
        problem: expect.stringMatching(
          /^log \(memory\) failed with ECONNREFUSED; its message is withheld here and is in error.cause of agent.ready\(\)$/,
        ),
      },
    ]);
    expect(JSON.stringify(parts)).not.toContain("secret");
  });

  test("does not wait for a part that never answers", async () => {
    const store = new FaultyStore({ fused: true });
    store.every("load", noAnswer);
    const { parts } = await agentOn(store).health({ timeoutMs: 20 });
    expect(parts[0]).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/no answer within 20 ms; check that/),
    });
    expect(parts.slice(1).every(({ ok }) => ok)).toBe(true);
  });

  test("asks plugins, and survives what they do", async () => {
    const agent = agentOn(new InMemoryAgentStateStore(), {
      plugins: [
        plugin("well", (host) => host.onHealth(() => undefined)),
        plugin("ill", (host) =>
          host.onHealth(() => {
            throw new StoreUnavailableError("the index is away; start it");
          }),
        ),
        plugin("rude", (host) =>
          host.onHealth(() => {
            throw "a string with a secret";
          }),
        ),
        plugin("slow", (host) => host.onHealth(never)),
        plugin("silent", () => undefined),
      ],
    });
    const { ok, parts } = await agent.health({ timeoutMs: 20 });
    expect(ok).toBe(false);
    expect(parts.slice(6)).toMatchObject([
      { part: 'plugin "well"', ok: true },
      { part: 'plugin "ill"', ok: false, problem: "the index is away; start it" },
      { part: 'plugin "rude"', ok: false, code: "unknown" },
      { part: 'plugin "slow"', ok: false, problem: expect.stringMatching(/no answer/) },
    ]);
    expect(JSON.stringify(parts)).not.toContain("secret");
  });

  test("tells how the start of plugins went", async () => {
    const hold = door();
    let fails = true;
    const agent = agentOn(new InMemoryAgentStateStore(), {
      plugins: [
        plugin("starter", (host) =>
          host.onStart(async () => {
            await hold.opened;
            if (fails) throw new StoreUnavailableError("not there yet");
          }),
        ),
      ],
    });
    const start = async () => (await agent.health()).parts.find(({ part }) => part === "start");
    expect(await start()).toMatchObject({ ok: true });
    const first = agent.ready();
    await expect
      .poll(start)
      .toMatchObject({ ok: false, problem: expect.stringMatching(/starting/) });
    hold.open();
    await expect(first).rejects.toThrow("not there yet");
    expect(await start()).toMatchObject({
      ok: false,
      code: "UNAVAILABLE",
      problem: "not there yet; the next call or agent.ready() tries again",
    });
    fails = false;
    await agent.ready();
    expect(await start()).toMatchObject({ ok: true });
  });

  test("counts running and waiting calls, and says that the agent shuts down", async () => {
    const [reached, release] = [door(), door()];
    const agent = agentOn(new InMemoryAgentStateStore(), {
      model: scriptedModel(async () => {
        reached.open();
        await release.opened;
        return "ok";
      }),
    });
    const calls = [agent.call("1", { sessionId: "s" })];
    await reached.opened;
    calls.push(agent.call("2", { sessionId: "s" }), agent.call("3", { sessionId: "s" }));
    await expect
      .poll(() => agent.health())
      .toMatchObject({ ok: true, calls: { running: 1, waiting: 2 } });
    const closing = agent.close();
    expect(await agent.health()).toMatchObject({ ok: false, lifecycle: "draining" });
    release.open();
    await Promise.all([...calls, closing]);
    expect(await agent.health()).toMatchObject({
      ok: false,
      lifecycle: "closed",
      calls: { running: 0, waiting: 0 },
    });
  });
});

describe.each(["ready", "health"] as const)("%s()", (method) => {
  test("refuses unknown and wrong options", async () => {
    const agent = agentOn(new InMemoryAgentStateStore());
    const run = async (options: object) => agent[method](options);
    await expect(run({ timeout: 200 })).rejects.toThrow(
      `${method}: unknown option "timeout"; did you mean timeoutMs?`,
    );
    await expect(run({ timeoutMs: "5s" })).rejects.toThrow(
      `${method}: timeoutMs must be a number of milliseconds`,
    );
  });
});

describe("ready()", () => {
  test("has the error of a store as its cause, and not its message", async () => {
    const store = new FaultyStore({ fused: true });
    const cause = new Error("connect to user:secret@host failed");
    store.every("load", async () => {
      throw cause;
    });
    const error: unknown = await agentOn(store)
      .ready()
      .catch((thrown: unknown) => thrown);
    expect(StoreUnavailableError.is(error) && error.message).toBe(
      'agent "a" is not ready: stateStore (faulty) cannot be used. stateStore (faulty) failed with an Error; its message is withheld here and is in error.cause',
    );
    expect((error as Error).cause).toBe(cause);
  });

  test("rejects with UNAVAILABLE when a part of the store does not answer, and names it", async () => {
    const store = new FaultyStore({ fused: false });
    let starts = 0;
    const agent = agentOn(store, {
      plugins: [plugin("p", (host) => host.onStart(async () => void starts++))],
    });
    store.every("read", noAnswer);
    const failing = agent.ready({ timeoutMs: 20 });
    await expect(failing).rejects.toSatisfy(StoreUnavailableError.is);
    await expect(failing).rejects.toThrow(/agent "a" is not ready: log \(memory\) cannot be used/);
    expect(starts).toBe(0);
    store.every("read", undefined);
    await agent.ready();
    expect(starts).toBe(1);
  });

  test("ends in the time that it was given while a plugin's start hangs, and the start goes on", async () => {
    const hold = door();
    const agent = agentOn(new InMemoryAgentStateStore(), {
      plugins: [plugin("p", (host) => host.onStart(async () => void (await hold.opened)))],
    });
    const failing = agent.ready({ timeoutMs: 20 });
    await expect(failing).rejects.toSatisfy(StoreUnavailableError.is);
    await expect(failing).rejects.toThrow(/its plugins had not started within 20 ms/);
    hold.open();
    await agent.ready();
    expect((await agent.health()).ok).toBe(true);
  });
});
