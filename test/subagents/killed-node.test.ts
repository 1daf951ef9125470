import { eventually, scaled } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { sharedStores } from "../fleet/every-store.js";
import { act, background, type Program } from "./program.js";
import { session, teamNodes } from "./team-nodes.js";
import { expectToldOnce, toldIn } from "./told.js";

const isLong = process.env["HOLDFAST_LONG"] === "1";
/** A dozen processes take their time on a busy machine. */
const patienceMs = 300_000;
/** Leases that outlast the test by far: a dead node is found by its silence. */
const leaseMs = 3_600_000;
const perSession = isLong ? 10 : 5;
const sessions = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"].map((sessionId) => ({
  ...{ userId: "ann", sessionId },
}));

/** Gives tasks of which every second is at work until it is let go; every third agent is in the middle of its call then. */
function program(session: number): Program {
  const tasks = Array.from({ length: perSession }, (_, index) =>
    background([
      [index % 2 === 0 ? act("nap", (index * 10 + session) * 20) : act("hold", "go")],
      `result ${session}.${index}`,
    ]),
  );
  return session % 3 === 0 ? [tasks, [act("stay", "calling")]] : [tasks, "given"];
}

describe.concurrent.each(scaled(["redis"], sharedStores))("on %s", (kind) => {
  test.each([false, true])(
    "50 background tasks on two nodes, one of them killed: each is told once, as completed or as lost (repeatable: %s)",
    async (repeatable) => {
      await using nodes = await teamNodes(kind, leaseMs);
      const options = { agents: [{ name: "worker", repeatable }], bounds: { maxRunning: 20 } };
      const [dying, living] = [nodes.start(options), nodes.start(options)];
      const lives = (index: number) => index % 2 === 1;
      for (const [index, session] of sessions.entries())
        if (lives(index)) void living.run(program(index), session).catch(() => undefined);
        else dying.send("call", JSON.stringify(program(index)), session);
      const count = sessions.length * perSession;
      const begun = async () => (await nodes.lines()).filter((line) => /^(nap|hold)/.test(line));
      // In long runs some are not even begun when the node dies; they count as running for half a minute.
      const atLeast = isLong ? count / 2 : count;
      await eventually(async () => (await begun()).length >= atLeast, {
        timeoutMs: patienceMs,
        what: "the tasks",
      });
      await dying.kill9();
      await nodes.release("go");
      const { agent, tasks } = nodes.here(options);
      const ends = await Promise.all(
        sessions.map(async (session, index) => {
          if (lives(index)) {
            const areGiven = async () => (await tasks.tasks(session)).length >= perSession;
            await eventually(areGiven, { timeoutMs: patienceMs, what: "the tasks of the living" });
            await agent.interrupt(session);
          }
          await eventually(
            async () => {
              await agent.call('["news"]', session);
              const told = toldIn(await agent.getAgentState(session)).length;
              const all = await tasks.tasks(session);
              const isOver = all.every(({ endedAt }) => endedAt !== null);
              // In long runs the node that dies may do so before it has given all its tasks.
              const mayBeFewer = isLong && !lives(index);
              return isOver && told >= all.length && (mayBeFewer || told >= perSession);
            },
            { timeoutMs: patienceMs, intervalMs: 200, what: `the tasks of ${session.sessionId}` },
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
      expect(lost + completed).toBe(statuses.length);
      if (!isLong) expect(statuses).toHaveLength(count);
      if (repeatable) expect(lost).toBe(0);
      else if (!isLong) expect(lost).toBeGreaterThan(0);
    },
  );
});

test.concurrent("a node that only stood still loses the session of a task before the task is lost", async () => {
  await using nodes = await teamNodes("redis", leaseMs);
  const still = nodes.start();
  await still.run([[background([[act("hold", "go")], [act("note", "after")], "done"])], "given"]);
  await eventually(async () => (await nodes.lines()).includes("hold go"), { what: "the child" });
  process.kill(still.process.pid, "SIGSTOP");
  const { tasks } = nodes.here();
  await eventually(async () => (await tasks.tasks(session))[0]?.status === "lost", {
    intervalMs: 200,
  });
  process.kill(still.process.pid, "SIGCONT");
  await eventually(async () => (await nodes.lines()).includes("aborted go"), { what: "the end" });
  expect(await nodes.lines()).toEqual(["hold go", "aborted go"]);
});
