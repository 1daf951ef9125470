import { eventually, scaled } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { sharedStores } from "../fleet/every-store.js";
import { about, act, background, send, spawn } from "./program.js";
import { session, teamNodes } from "./team-nodes.js";

describe.each(scaled(["redis"], sharedStores))("on %s", (kind) => {
  test.for(["task_cancel", "the program"])(
    "%s of another node stops a subagent at work, with its own subagents",
    async (who, { task }) => {
      await using nodes = await teamNodes(kind);
      const working = nodes.start();
      const { agent, tasks } = nodes.here();
      const grandchild = background([[act("stay", "grandchild")], "never"]);
      const child = background([[grandchild], [act("stay", "child")], "never"]);
      await working.run([[child], "given"]);
      const lines = async () => (await nodes.lines()).toSorted();
      await eventually(async () => (await lines()).join() === "stay child,stay grandchild");
      const [{ taskId } = { taskId: "" }] = await tasks.tasks(session);
      const began = performance.now();
      const stopping = eventually(async () => (await lines()).length === 4, { what: "the stop" });
      if (who === "task_cancel") {
        const reply = await agent.call(
          JSON.stringify([[about("task_cancel", taskId)], "$results"]),
          session,
        );
        expect(reply.text).toContain("task_cancel success (Task");
      } else expect(await tasks.cancel(session, taskId)).toMatchObject({ status: "cancelled" });
      await stopping;
      // The aim is a second; nothing depends on it here.
      const stoppedAfterMs = Math.round(performance.now() - began);
      Object.assign(task.meta, { figures: { stoppedAfterMs } });
      const all = ["aborted child", "aborted grandchild", "stay child", "stay grandchild"];
      expect(await lines()).toEqual(all);
      // Nothing of it comes back: told by the result of the tool, or once as a notice.
      const news = (await agent.call('["news"]', session)).text;
      expect(news).toBe(who === "task_cancel" ? "news" : `[told ${taskId} cancelled -]news`);
      expect((await agent.call('["news"]', session)).text).toBe("news");
      expect(await working.tasks()).toMatchObject([{ status: "cancelled" }]);
      expect(await lines()).toEqual(all);
    },
  );
});

test("cancelling a message that waits for its turn leaves the work before it, and its subagents, alone", async () => {
  await using nodes = await teamNodes("files");
  const { agent, tasks } = nodes.here();
  const grandchild = background([[act("hold", "grandchild")], "grandchild done"]);
  const child = background([[grandchild], [act("hold", "child")], "child done"], { label: "busy" });
  const wait = [[child], [send("busy", ["next"], 0)], "given"];
  await agent.call(JSON.stringify(wait), session);
  await eventually(async () => (await nodes.lines()).length === 2);
  const [, waiting] = await tasks.tasks(session);
  expect(await tasks.cancel(session, waiting?.taskId ?? "")).toMatchObject({ status: "cancelled" });
  await nodes.release("grandchild");
  await eventually(async () => (await nodes.lines()).includes("rested grandchild"));
  await nodes.release("child");
  await eventually(async () => (await tasks.tasks(session))[0]?.status === "completed");
  expect(await nodes.lines()).not.toContain("aborted grandchild");
  expect(await tasks.tasks(session)).toMatchObject([
    { status: "completed", result: expect.stringContaining("child done") },
    { status: "cancelled" },
  ]);
});

test("an interrupt of the call stops the subagent that it waits for, and none in the background", async () => {
  await using nodes = await teamNodes("files");
  const { agent, tasks } = nodes.here();
  const program = [
    [spawn([[act("stay", "sync")], "never"]), background([[act("hold", "later")], "later done"])],
    "never",
  ];
  const call = agent.call(JSON.stringify(program), session);
  await eventually(async () => (await nodes.lines()).length === 2);
  expect(await agent.interrupt(session)).toBe("stopped");
  expect((await call).reason).toBe("interrupted");
  await eventually(async () => (await nodes.lines()).includes("aborted sync"));
  await nodes.release("later");
  const ends = async () =>
    (await tasks.tasks(session)).map(({ task, status }) => `${status} ${/sync|later/.exec(task)}`);
  await eventually(
    async () => (await ends()).toSorted().join() === "cancelled sync,completed later",
  );
  expect(await nodes.lines()).not.toContain("aborted later");
});
