import type { AgentEvent } from "@holdfast/core";
import { makeAssistant } from "./assistant.js";

/** One thing said to the assistant on some day. */
export interface Saying {
  readonly home: string;
  readonly day: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly text: string;
}

/** Result of saying something. */
export interface Said {
  readonly reply: string;
  /** Messages the model was shown: one means that it knew nothing of an earlier conversation but what the prompt quotes. */
  readonly messagesShown: number;
  readonly factsNoted: number;
  readonly memoryPutInOrder: boolean;
}

/** Says one thing in a new agent, as another process would, and waits for what it does in the background. */
export async function say({ home, day, userId, sessionId, text }: Saying): Promise<Said> {
  const events: AgentEvent[] = [];
  const { agent, model } = makeAssistant({ home, day, onEvent: (event) => events.push(event) });
  const { text: reply } = await agent.call(text, { userId, sessionId });
  // Nobody waits for memory but this: the call above had returned before.
  await agent.close();
  for (const event of events)
    if (event.type === "memory_flush_failed")
      throw new Error(`the memory was not kept: ${event.error}`);
  return {
    reply,
    messagesShown: model.requests.at(-1)?.messages.length ?? 0,
    factsNoted: events.reduce(
      (sum, event) => sum + (event.type === "memory_flush_end" ? event.entries : 0),
      0,
    ),
    memoryPutInOrder: events.some(
      (event) => event.type === "consolidation" && event.state === "end",
    ),
  };
}
