import type { AgentEvent } from "@holdfast/core";
import { eventually, scaled, spawnScript } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { newPlace, sharedStores } from "./every-store.js";
import { keeper } from "./keeper.mjs";
import { transcript } from "./transcript.js";

/** Leases that outlast the test by far: a dead node is found by its silence. */
const leaseMs = 3_600_000;
const sessions = ["s-0", "s-1", "s-2"];
const question = "use pay: a";

describe.concurrent.each(scaled(["redis"], sharedStores))("on %s", (kind) => {
  test("runs of a node that was killed are continued by the others, each once, and nobody calls", async () => {
    await using place = await newPlace(kind, leaseMs);
    const asked: string[] = [];
    const events: AgentEvent[] = [];
    const live = [0, 1].map(() =>
      keeper(place.open(), {
        recover: true,
        tell: (what, sessionId) => asked.push(`${sessionId} ${what}`),
        onEvent: (event) => events.push(event),
      }),
    );
    for (const agent of live) await agent.call("hello", { userId: "u", sessionId: "ready-too" });
    const options = JSON.stringify({ recover: true, holdAt: `asked ${question}` });
    await using dying = spawnScript(new URL("keeper-node.mjs", import.meta.url), [
      JSON.stringify(place.choice),
      options,
    ]);
    await dying.line("ready");
    for (const sessionId of sessions)
      dying.send(JSON.stringify({ input: question, ctx: { userId: "u", sessionId } }));
    for (const sessionId of sessions) await dying.line(`${sessionId} asked ${question}`);
    await dying.kill9();
    const recovered = () => events.filter(({ type }) => type === "run_recovered");
    await eventually(() => recovered().length >= sessions.length, { timeoutMs: 60_000 });
    await Promise.all(live.map((agent) => agent.close()));
    expect(recovered().map(({ slot }) => slot.sessionId).sort()).toEqual(sessions);
    for (const sessionId of sessions) {
      const { context } = await transcript(place.open(), {
        ...{ agentId: "keeper", userId: "u", sessionId },
      });
      expect(context.filter((line) => line === question)).toHaveLength(1);
      expect(context.at(-1)).toBe(`re: ${question}`);
      expect(asked.filter((line) => line === `${sessionId} asked ${question}`)).toHaveLength(1);
      expect(asked.filter((line) => line === `${sessionId} did pay`)).toHaveLength(1);
    }
    const { keys } = await place.open().keyValue.list(["holdfast.recovery", "keeper"]);
    expect(keys.length, "records of nodes: at most that of the dead one").toBeLessThanOrEqual(1);
  });
});
