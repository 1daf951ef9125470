import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { sharedStores } from "../fleet/every-store.js";
import { act, background, type Program } from "./program.js";
import { teamNodes } from "./team-nodes.js";
import { expectToldOnce, toldIn } from "./told.js";

const isLong = process.env["HOLDFAST_LONG"] === "1";
const perSession = isLong ? 10 : 5;
const sessions = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"].map((sessionId) => ({
  ...{ userId: "ann", sessionId },
}));

/** Gives tasks that end one after the other; every third agent is still at work when the node dies. */
function program(session: number): Program {
  const tasks = Array.from({ length: perSession }, (_, index) =>
    background([
      [act("nap", 20 + (((index * 10 + session) * 61) % 2_000))],
      `result ${session}.${index}`,
    ]),
  );
  return session % 3 === 0 ? [tasks, [act("nap", 60_000)]] : [tasks, "given"];
}

describe.concurrent.each(sharedStores)("on %s", (kind) => {
  test.each([false, true])(
    "50 background tasks on two nodes, one of them killed: each is told once, as completed or as lost (repeatable: %s)",
    async (repeatable) => {
      await using nodes = await teamNodes(kind, 5_000);
      const options = { agents: [{ name: "worker", repeatable }], bounds: { maxRunning: 20 } };
      const [dying, living] = [nodes.start(options), nodes.start(options)];
      const lives = (index: number) => index % 2 === 1;
      for (const [index, session] of sessions.entries())
        if (lives(index)) void living.run(program(index), session).catch(() => undefined);
        else dying.send("call", JSON.stringify(program(index)), session);
      const count = sessions.length * perSession;
      const rested = async () => (await nodes.lines()).filter((line) => line.startsWith("rested"));
      await eventually(async () => (await rested()).length >= count / 2, { what: "half of them" });
      await dying.kill9();
      const { agent, tasks } = nodes.here(options);
      const ends = await Promise.all(
        sessions.map(async (session, index) => {
          if (lives(index)) await agent.interrupt(session);
          await eventually(
            async () => {
              await agent.call('["news"]', session);
              const told = toldIn(await agent.getAgentState(session));
              return (
                told.length >= perSession && told.length >= (await tasks.tasks(session)).length
              );
            },
            { timeoutMs: 90_000, intervalMs: 200, what: `the tasks of ${session.sessionId}` },
          );
          // Told no more, by this node nor by another.
          await agent.call('["news"]', session);
          await living.run(["news"], session);
          const all = await tasks.tasks(session);
          expectToldOnce(toldIn(await agent.getAgentState(session)), all);
          if (lives(index)) expect(all.every(({ status }) => status === "completed")).toBe(true);
          return all.map(({ status }) => status);
        }),
      );
      const statuses = ends.flat();
      const lost = statuses.filter((status) => status === "lost").length;
      const completed = statuses.filter((status) => status === "completed").length;
      expect(lost + completed).toBe(count);
      if (repeatable) expect(lost).toBe(0);
      else expect(lost).toBeGreaterThan(0);
    },
  );
});
