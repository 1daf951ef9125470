// A process of its own, so that it can be killed: node reporter-process.js <workspace> <session> <stuck|free> <request>
import { type Message, textOf, toolCallsOf, toolResultsOf } from "@holdfast/core";
import { type ReporterMessage, reporter, type ShownMessage } from "./reporter.js";

const [workspace = "", sessionId = "", mode = "", request = ""] = process.argv.slice(2);

function send(message: ReporterMessage): void {
  process.send?.(message);
}

const { agent, model } = reporter({ workspace, stuck: mode === "stuck", send });
const reply = await agent.call(request, { userId: "carol", sessionId });
send({ type: "shown", messages: (model.requests[0]?.messages ?? []).map(inOneLine) });
send({ type: "reply", text: reply.text });
await agent.close();
process.disconnect();

function inOneLine(message: Message): ShownMessage {
  const calls = toolCallsOf(message).map(({ name }) => `calls ${name}`);
  const results = toolResultsOf(message).map(({ name, state, output }) => {
    const text = output.map((block) => (block.type === "text" ? block.text : "")).join("");
    return `${name} (${state}): ${text}`;
  });
  const text = [textOf(message), ...calls, ...results].filter(Boolean).join("; ");
  return { role: message.role, text };
}
