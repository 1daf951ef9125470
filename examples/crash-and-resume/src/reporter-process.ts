// A process of its own, so that it can be killed: node reporter-process.js <workspace> [<session> <request>]
import { type Message, textOf, toolCallsOf, toolResultsOf } from "@holdfast/core";
import { type ReporterMessage, reporter, type ShownMessage } from "./reporter.js";

const [workspace = "", sessionId, request] = process.argv.slice(2);

function send(message: ReporterMessage): void {
  process.send?.(message);
}

const { agent, model } = reporter({ workspace, stuck: request !== undefined, send });
if (request !== undefined) await agent.call(request, { userId: "carol", sessionId });
else await finishOthers();
await agent.close();
process.disconnect();

/** Goes on with what processes that died have left unfinished. */
async function finishOthers(): Promise<void> {
  const { slots } = await agent.sessions({ unfinished: true });
  for (const { slot } of slots) {
    send({ type: "progress", text: `session "${slot.sessionId}" is unfinished: resume it` });
    const reply = await agent.resume(slot.userId, slot.sessionId);
    if (reply) send({ type: "reply", text: reply.text });
  }
  send({ type: "shown", messages: (model.requests[0]?.messages ?? []).map(inOneLine) });
}

function inOneLine(message: Message): ShownMessage {
  const calls = toolCallsOf(message).map(({ name }) => `calls ${name}`);
  const results = toolResultsOf(message).map(({ name, state, output }) => {
    const text = output.map((block) => (block.type === "text" ? block.text : "")).join("");
    return `${name} (${state}): ${text}`;
  });
  const text = [textOf(message), ...calls, ...results].filter(Boolean).join("; ");
  return { role: message.role, text };
}
