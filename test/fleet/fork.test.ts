import { ReActAgent } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { outline, saidIn } from "../engine/conversation.js";
import { newPlace, sharedStores } from "./every-store.js";

const ada = { userId: "ada", sessionId: "one" };

// Files are forked in the engine's own tests.
describe.each(sharedStores.filter((kind) => kind !== "files"))("on %s", (kind) => {
  test("one node forks a session of another, with its long texts, once", async () => {
    await using place = await newPlace(kind, 15_000);
    const [here, there] = [place.open(), place.open()];
    const model = scriptedModel(({ messages }) => `answer ${messages.length}`);
    const agent = new ReActAgent({ name: "a", model, distributedStore: here });
    const other = new ReActAgent({ name: "a", model, distributedStore: there });
    const long = "A line, 漢字.\n".repeat(10_000);
    await agent.call("hi", ada);
    const { message } = await agent.call(long, ada);
    await agent.call("later", ada);

    const forks = await Promise.allSettled(
      [agent, other].map((one) => one.fork(ada, { at: message.id, as: "two" })),
    );
    expect(forks.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const slot = { agentId: "a", userId: "ada", sessionId: "two" };
    await other.call("And now?", slot);
    await agent.call("And then?", slot);
    const said = [
      "hi",
      "answer 1",
      long,
      "answer 3",
      "And now?",
      "answer 5",
      "And then?",
      "answer 7",
    ];
    expect(outline(await agent.getAgentState(slot))).toHaveLength(said.length);
    expect(await saidIn(there, slot)).toEqual(said);
    expect(outline(await other.getAgentState(ada)).at(-1)).toBe("assistant: answer 5");
  });
});
