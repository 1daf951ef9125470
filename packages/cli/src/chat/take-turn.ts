import type { AgentEvent, AgentReply } from "@holdfast/core";
import type { Chat } from "./open-chat.js";

/** Says something to the agent and shows what happens; ends when it is saved. */
export async function takeTurn(
  { agent, userId, sessionId }: Chat,
  text: string,
  show: (event: AgentEvent) => void,
): Promise<AgentReply> {
  const session = { userId: userId ?? undefined, sessionId };
  const run = agent.stream(text, session);
  for await (const event of run) show(event);
  const reply = await run.result;
  // There is nobody here who could answer for a tool; left open, the calls would refuse whatever is said next.
  if ("pending" in reply) await agent.interrupt(session);
  return reply;
}
