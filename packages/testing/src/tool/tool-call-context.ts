import {
  type JsonValue,
  RuntimeContext,
  type RuntimeContextFields,
  type ToolCallContext,
} from "@holdfast/core";

/** Options of {@link toolCallContext}: the fields of a call's context, and those that a tool has besides. */
export interface ToolCallContextOptions extends RuntimeContextFields {
  /** @default "agent" */
  readonly agentId?: string | undefined;
  /** @default "call-1" */
  readonly toolCallId?: string | undefined;
  /** Answers to what the tool has asked before. @default none */
  readonly answers?: ToolCallContext["answers"] | undefined;
  /** Gets what the tool reports, every value of it. @default nothing is done with it */
  readonly progress?: ((value: JsonValue) => void) | undefined;
}

/**
 * Makes the context that a tool gets, to run a tool in a test without an agent.
 *
 * @example
 * expect(await add.execute?.({ a: 1, b: 2 }, toolCallContext())).toBe(3);
 */
export function toolCallContext({
  agentId = "agent",
  toolCallId = "call-1",
  answers = [],
  progress = () => undefined,
  ...fields
}: ToolCallContextOptions = {}): ToolCallContext {
  const ctx = RuntimeContext.of(fields);
  const { userId, sessionId = "default" } = ctx;
  const slot = { agentId, userId, sessionId };
  return Object.assign(ctx, { slot, agentId, toolCallId, answers, progress });
}
