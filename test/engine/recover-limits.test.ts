import {
  InProcessSessionGate,
  type JsonObject,
  type KeyValueStore,
  StoreUnavailableError,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import {
  ctx,
  dies,
  marks,
  mortal,
  Node,
  passes,
  RECOVERY_MS,
  stored,
  useFleet,
  values,
} from "./recovering-nodes.js";

useFleet();

describe("a run that cannot be continued", () => {
  test("kills its node a bounded number of times, and then no more", async () => {
    await dies(mortal());
    const victims: Node[] = [];
    for (let death = 0; death < 3; death++) {
      const victim = mortal();
      await passes(RECOVERY_MS);
      expect(victim.isDead).toBe(true);
      victims.push(victim);
    }
    const survivor = mortal();
    await passes(RECOVERY_MS);
    expect(survivor.isDead).toBe(false);
    expect(survivor.of("run_recovery_failed")).toMatchObject([
      { slot: { sessionId: "s" }, attempt: 3, code: "PROCESS_DIED", gaveUp: true },
    ]);
    await passes(600_000);
    expect(survivor.isDead).toBe(false);
    const { slots } = await survivor.agent.sessions({ unfinished: true });
    expect(slots.map(({ slot }) => slot.sessionId)).toEqual(["s"]);
  });

  test("is tried alone after a first attempt that died, so that it takes no other with it again", async () => {
    /** Dies when it is asked for the second time: two runs are under way then. */
    function dying(): Node {
      let asked = 0;
      const node: Node = new Node(
        scriptedModel(() => {
          node.isDead = ++asked === 2;
          return new Promise<never>(() => undefined);
        }),
        { gate: new InProcessSessionGate() },
      );
      return node;
    }
    const first = dying();
    for (const sessionId of ["pill", "innocent"])
      first.agent.call("dying words", { ...ctx, sessionId }).catch(() => undefined);
    await passes(0);
    expect(first.isDead).toBe(true);
    const second = dying();
    await passes(RECOVERY_MS);
    expect(second.isDead).toBe(true);
    let running = 0;
    let most = 0;
    const careful = new Node(
      scriptedModel(async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 10_000));
        running--;
        return "ok";
      }),
    );
    await passes(3 * RECOVERY_MS);
    expect(careful.of("run_recovered")).toMatchObject([{ attempt: 2 }, { attempt: 2 }]);
    expect(most).toBe(1);
  });

  test("is tried again after a pause that grows, and given up after maxAttempts", async () => {
    await dies(mortal());
    const times: number[] = [];
    const model = scriptedModel(() => {
      times.push(performance.now());
      return { error: new Error("model down") };
    });
    const live = new Node(model, {
      modelRetry: { attempts: 1 },
      recover: { maxAttempts: 4, concurrency: 1 },
    });
    await passes(600_000);
    expect(times).toHaveLength(4);
    const pauses = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(pauses[0]).toBeGreaterThanOrEqual(4_000);
    expect(pauses[1]).toBeGreaterThanOrEqual(8_000);
    expect(pauses[2]).toBeGreaterThanOrEqual(16_000);
    expect(live.of("run_recovery_failed").map(({ attempt, gaveUp }) => [attempt, gaveUp])).toEqual([
      [1, false],
      [2, false],
      [3, false],
      [4, true],
    ]);
    expect((await marks()).runs).toEqual([]);
    const { slots } = await live.agent.sessions({ unfinished: true });
    expect(slots.map(({ slot }) => slot.sessionId)).toEqual(["s"]);
  });
});

test("a run that waits for a time which a clock two hours ahead has set is continued all the same", async () => {
  await dies(mortal());
  const { nodes, runs } = await marks();
  const at = ["holdfast.recovery", "a", ...nodes];
  const { value } = (await values.get(at, runs[0] ?? "")) ?? {};
  const notBefore = new Date(Date.now() + 7_200_000).toISOString();
  await values.put(at, runs[0] ?? "", { ...(value as JsonObject), attempts: 1, notBefore });
  const live = new Node(scriptedModel(() => "here"));
  await passes(RECOVERY_MS);
  expect(live.of("run_recovered")).toHaveLength(1);
  expect((await stored(live)).at(-1)).toBe("assistant: here");
});

test("a run whose mark was taken over by a command without an answer is continued all the same", async () => {
  await dies(mortal());
  let lost = 0;
  const keyValue: KeyValueStore = {
    ...{ contract: values.contract, kind: values.kind, reach: values.reach },
    get: (...args) => values.get(...args),
    getMany: (...args) => values.getMany(...args),
    put: (...args) => values.put(...args),
    list: (...args) => values.list(...args),
    delete: async (...args) => {
      const deleted = await values.delete(...args);
      if (args[0].length === 3 && lost++ === 0) throw new StoreUnavailableError("no answer");
      return deleted;
    },
  };
  const live = new Node(
    scriptedModel(() => "here"),
    { keyValue },
  );
  await passes(3 * RECOVERY_MS);
  expect(lost).toBeGreaterThan(1);
  expect(live.of("run_recovered")).toHaveLength(1);
  expect((await stored(live)).at(-1)).toBe("assistant: here");
  expect((await marks()).runs).toEqual([]);
});

test("a node that shuts down hands what it continued to another, and that is no attempt", async () => {
  await dies(mortal());
  for (let deploy = 0; deploy < 5; deploy++) {
    const leaving = new Node(scriptedModel(() => new Promise<string>(() => undefined)));
    await passes(RECOVERY_MS);
    expect(leaving.of("run_resumed"), `deploy ${deploy}`).toHaveLength(1);
    const shutdown = leaving.agent.shutdown({ timeoutMs: 0 });
    await passes(10_000);
    expect(await shutdown).toMatchObject({ calls: 1 });
  }
  const staying = new Node(scriptedModel(() => "done"));
  await passes(RECOVERY_MS);
  expect(staying.of("run_recovered")).toMatchObject([{ attempt: 1 }]);
  expect((await stored(staying)).at(-1)).toBe("assistant: done");
});

test("many runs of a dead node are continued, few at a time", async () => {
  const dead = mortal();
  const calls = Array.from({ length: 12 }, (_, n) => `s-${n}`);
  for (const sessionId of calls)
    dead.agent.call("dying words", { ...ctx, sessionId }).catch(() => undefined);
  await passes(0);
  let running = 0;
  let most = 0;
  const live = new Node(
    scriptedModel(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 500));
      running--;
      return "here";
    }),
  );
  await passes(3 * RECOVERY_MS);
  expect(new Set(live.of("run_recovered").map(({ slot }) => slot.sessionId))).toEqual(
    new Set(calls),
  );
  expect(most).toBeLessThanOrEqual(4);
});

test("costs an idle node some twenty commands a minute, and a call two more", async () => {
  const idle = new Node(scriptedModel(() => "ok"));
  await passes(600_000);
  expect(idle.commands / 10).toBeLessThanOrEqual(22);
  const before = idle.commands;
  for (let call = 0; call < 10; call++) await idle.agent.call("hi", ctx);
  // One of them is the node's own record.
  expect(idle.commands - before).toBeLessThanOrEqual(21);
});

test("a call whose mark cannot be stored is refused and leaves nothing behind", async () => {
  const node = new Node(scriptedModel(() => "no"));
  node.isDead = true;
  await expect(node.agent.call("hi", ctx)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await node.agent.getAgentState(ctx)).toBeNull();
});

test("refuses a key-value store that reaches less far than the state store, and wrong options", () => {
  const keyValue: KeyValueStore = Object.create(values, { reach: { value: "host" } });
  expect(() => new Node(scriptedModel([]), { keyValue })).toThrow(/recover: .*reach/);
  expect(() => new Node(scriptedModel([]), { recover: { maxAttempts: 0 } })).toThrow(/recover/);
  expect(() => new Node(scriptedModel([]), { recover: "yes" as never })).toThrow(/recover/);
});
