import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { sharedStores } from "../fleet/every-store.js";
import { act, background, type Program, spawn } from "./program.js";
import { session, teamNodes } from "./team-nodes.js";
import { toldIn } from "./told.js";

/** One task that the agent waits for and one that it does not. */
const both: Program = [
  [
    spawn([[act("hold", "sync")], "sync result: $results"]),
    background([[act("hold", "later")], "later result: $results"]),
  ],
  "heard: $results",
];

describe.concurrent.each(sharedStores)("on %s", (kind) => {
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
      await eventually(async () => {
        heard.push((await agent.call('["news"]', session)).text);
        return heard.slice(0, -1).join("").includes("[told");
      });
      // One in the result of the tool, one as a notice.
      expect(reply?.text).toMatch(/of worker: completed\.\n<task>\nsync result: hold/);
      expect(heard.join("").match(/sync result/g)).toHaveLength(1);
      expect(toldIn(await agent.getAgentState(session))).toMatchObject([
        { status: "completed", result: expect.stringContaining("later result: hold") },
      ]);
      expect(await tasks.tasks(session)).toMatchObject([
        { status: "completed", attempt: 2 },
        { status: "completed", attempt: 2 },
      ]);
      // Nothing runs twice because of it.
      const begun = (await nodes.lines()).filter((line) => line.startsWith("hold"));
      expect(begun.toSorted()).toEqual(["hold later", "hold sync"]);
    },
  );
});
