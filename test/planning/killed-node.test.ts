import { join } from "node:path";
import { toolResultsOf } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { planning } from "@holdfast/planning";
import {
  type ScriptedReply,
  scaled,
  scriptedModel,
  spawnScript,
  tempDirectory,
} from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { newPlace, type StorePlace, sharedStores } from "../fleet/every-store.js";

const session = { userId: "ann", sessionId: "s" };
const script = new URL("planner-node.mjs", import.meta.url);
const plan = "1. Read.\n2. Write.";
const write: ScriptedReply = {
  toolCalls: [{ name: "write_file", input: { path: "a.txt", content: "new" } }],
};

/** Runs a node until its plan waits for an approval, or until its model does not answer, and kills it. */
async function killedNode(place: StorePlace, workspace: string, end: "asks" | "thinks") {
  await using node = spawnScript(script, [JSON.stringify(place.choice), workspace, end]);
  await node.line(end === "asks" ? "asked" : "thinks", 60_000);
  await node.kill9();
}

/** A node that goes on with the session. */
function successor(place: StorePlace, workspace: string) {
  const model = scriptedModel([write, "done"]);
  const agent = HarnessAgent.builder()
    .name("planner")
    .model(model)
    .distributedStore(place.open())
    .workspace(workspace)
    .use(planning())
    .build();
  const results = async () =>
    ((await agent.getAgentState(session))?.context ?? [])
      .flatMap(toolResultsOf)
      .map(({ name, state }) => `${name} ${state}`);
  return { agent, model, results };
}

describe.each(scaled(["files"], sharedStores))("%s", (kind) => {
  test("a plan is approved on another node after its own was killed", async () => {
    await using directory = await tempDirectory();
    await using place = await newPlace(kind, 8_000);
    const workspace = join(directory.path, "workspace");
    await killedNode(place, workspace, "asks");
    const { agent, model, results } = successor(place, workspace);
    const pending = await agent.pending(session);
    expect(pending).toMatchObject([{ name: "plan_exit" }]);
    expect(pending[0]?.reason).toContain(plan);
    const confirm = pending.map(({ toolCallId }) => ({ toolCallId, approve: true }));
    expect((await agent.call({ confirm }, session)).text).toBe("done");
    expect((await results()).slice(-2)).toEqual(["plan_exit success", "write_file success"]);
    expect(JSON.stringify(model.requests[0]?.messages.at(-1))).toContain("[~] 1: Read");
    await agent.close();
  });

  test("plan mode and list that were saved before a kill hold on another node", async () => {
    await using directory = await tempDirectory();
    await using place = await newPlace(kind, 8_000);
    const workspace = join(directory.path, "workspace");
    await killedNode(place, workspace, "thinks");
    const { agent, model, results } = successor(place, workspace);
    expect((await agent.resume(session))?.text).toBe("done");
    expect((await results()).at(-1)).toBe("write_file denied");
    const tail = JSON.stringify(model.requests[0]?.messages.at(-1));
    expect(tail).toContain("Your plan is in plans/s.md");
    expect(tail).toContain("[~] 1: Read");
    await agent.close();
  });
});
