import type { CallInput, ExternalResult, PendingCall } from "@holdfast/core";
import type { ServedAgent } from "../served-agent.js";
import { drain } from "./attached.js";

/** Input of a call, and the id under which it may be repeated. */
export interface NamedCall<I = CallInput> {
  readonly input: I;
  readonly callId: string;
}

/** Results of tools that ran elsewhere. */
export type ResultCall = NamedCall<{ readonly results: readonly ExternalResult[] }>;

/** Call with answers, of which it takes one kind, and the results that came with them, to be given first. */
export interface AnsweringCall extends NamedCall {
  readonly results?: ResultCall | undefined;
}

/**
 * Gives the results that came with other answers: the page has them already, and their call ends with what still waits.
 *
 * @returns the calls that waited before, without those
 * @throws whatever the call fails with
 */
export async function giveResults(
  agent: Pick<ServedAgent, "stream">,
  { results }: AnsweringCall,
  pending: readonly PendingCall[],
  options: Parameters<ServedAgent["stream"]>[1],
): Promise<readonly PendingCall[]> {
  if (!results) return pending;
  const run = agent.stream(results.input, { ...options, callId: results.callId });
  await drain(run);
  await run.result;
  const given = new Set(results.input.results.map(({ toolCallId }) => toolCallId));
  return pending.filter(({ toolCallId }) => !given.has(toolCallId));
}
