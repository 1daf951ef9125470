import { eventually, scaled } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { sharedStores } from "../fleet/every-store.js";
import { act, background, type Program, spawn } from "./program.js";
import { session, teamNodes } from "./team-nodes.js";

/** One task that the agent waits for and one that it does not. */
const both: Program = [
  [
    spawn([[act("hold", "sync")], "sync result: $results"]),
    background([[act("hold", "later")], "later result: $results"]),
  ],
  "heard: $results",
];

describe.concurrent.each(scaled(["files"], sharedStores))("on %s", (kind) => {
  test.each([
    ["cut off by agent.shutdown", 100],
    ["ended by SIGTERM in time", 60_000],
    ["cut off by SIGTERM", 100],
  ])(
    "a subagent that is waited for and one in the background are %s: another node goes on with both, and each is told once",
    async (how, signalTimeoutMs) => {
      await using nodes = await teamNodes(kind, 10_000);
      const ending = nodes.start({ signalTimeoutMs });
      const call = ending.run(both, { callId: "once" }).catch((error: unknown) => error);
      await eventually(async () => (await nodes.lines()).length === 2, { what: "both tasks" });
      if (how.includes("agent.shutdown")) await ending.ask("shutdown", { timeoutMs: 100 });
      else {
        process.kill(ending.process.pid, "SIGTERM");
        if (signalTimeoutMs > 1_000) {
          await nodes.release("sync");
          await nodes.release("later");
        }
        await ending.process.exited;
      }
      await nodes.release("sync");
      await nodes.release("later");
      expect(await call).toMatchObject({ reason: "shutdown" });
      const { agent, tasks } = nodes.here();
      const reply = await agent.resume(session);
      const heard = [reply?.text ?? ""];
      const times = (words: string) => heard.join("").split(words).length - 1;
      await eventually(async () => {
        heard.push((await agent.call('["news"]', session)).text);
        return times("later result") > 0 && times("sync result") > 0;
      });
      heard.push((await agent.call('["news"]', session)).text);
      expect([times("sync result"), times("later result")]).toEqual([1, 1]);
      expect(heard.join("")).toMatch(/\[told task_\w+ completed later result: hold/);
      const ended = (await tasks.tasks(session)).map(({ status, attempt }) => ({
        status,
        attempt,
      }));
      expect(ended).toMatchObject([{ status: "completed" }, { status: "completed" }]);
      // One that ends in time may do so before the signal is there.
      if (how.startsWith("cut")) expect(ended.map(({ attempt }) => attempt)).toEqual([2, 2]);
      // Nothing runs twice because of it.
      const begun = (await nodes.lines()).filter((line) => line.startsWith("hold"));
      expect(begun.toSorted()).toEqual(["hold later", "hold sync"]);
    },
  );
});
