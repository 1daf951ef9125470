import { tool } from "@holdfast/core";
import { eventually, scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import * as z from "zod";
import { chatHandler } from "../src/ai-sdk/index.js";
import { openChat, serve } from "./chat-client.js";
import { identify, servedAgent } from "./served-agents.js";

/** Tool that the page runs, once a person has approved it. */
const sign = tool({
  name: "sign",
  description: "Signs.",
  input: z.object({}),
  needsApproval: true,
});

test("a tool that the page runs after an approval gets its result", async () => {
  const model = scriptedModel([{ toolCalls: [{ name: "sign", input: {} }] }, "Signed."]);
  const agent = servedAgent(model, { tools: [sign] });
  const chat = openChat(await serve(chatHandler({ agent, identify })));
  await chat.sendMessage({ text: "Sign." });
  const [{ toolCallId = "" } = {}] = await agent.pending("alice", "trip");
  await chat.addToolApprovalResponse({ id: toolCallId, approved: true });
  const waits = [{ toolCallId, state: "suspended" }];
  await eventually(() => expect(chat.messages.at(-1)?.metadata?.pending).toMatchObject(waits));
  await eventually(() => expect(chat.status).toBe("ready"));
  await chat.addToolResult({ tool: "sign", toolCallId, output: "ok" });
  await chat.sendMessage();
  expect(chat.error).toBeUndefined();
  expect(chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ text: "Signed." });
});
