import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { InMemoryAgentStateStore, ReActAgent, textOf, tool } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { critic } from "./critic.js";

const session = { userId: "ann", sessionId: "s-1" };

/** An agent whose critic looks a word up, which a person has to approve. */
function author(stateStore: InMemoryAgentStateStore, ran: string[]): ReActAgent {
  const lookUp = tool({
    name: "look_up",
    description: "Looks a word up.",
    input: z.object({ word: z.string() }),
    needsApproval: true,
    execute: ({ word }) => {
      ran.push(word);
      return `${word} is right`;
    },
  });
  const model = scriptedModel(({ system, messages }) => {
    const last = messages.at(-1);
    if (system.startsWith("You look for mistakes"))
      return last?.role === "tool"
        ? "No mistakes."
        : { toolCalls: [{ name: "look_up", input: { word: last ? textOf(last) : "" } }] };
    return last?.role === "tool"
      ? `The critic says: ${JSON.stringify(last.content).includes("No mistakes.")}`
      : { toolCalls: [{ name: "ask_critic", input: { text: "holdfast" } }] };
  });
  return new ReActAgent({
    name: "author",
    model,
    tools: [lookUp],
    stateStore,
    plugins: [critic()],
  });
}

test("what the critic asks is asked as the session's own, and answered in another process", async () => {
  const store = new InMemoryAgentStateStore();
  const ran: string[] = [];
  const asked = await author(store, ran).call("Check holdfast.", session);
  expect(asked.reason).toBe("permission_asking");
  const other = author(store, ran);
  const pending = await other.pending(session);
  expect(pending).toMatchObject([
    { agent: "critic", name: "look_up", input: { word: "holdfast" } },
  ]);
  const confirm = pending.map(({ toolCallId }) => ({ toolCallId, approve: true }));
  const { reason, text } = await other.call({ confirm }, session);
  expect({ reason, text, ran }).toEqual({
    reason: "stop",
    text: "The critic says: true",
    ran: ["holdfast"],
  });
});

test("the page shows critic.ts as it is tested", () => {
  const read = (path: string) =>
    readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");
  expect(read("../../docs/middleware.md").includes(read("critic.ts"))).toBe(true);
});
