import { AsyncLocalStorage } from "node:async_hooks";
import { context } from "@opentelemetry/api";
import type { Telemetry } from "../telemetry.js";
import type { CallTrace } from "./call-trace.js";

/**
 * The call that the running code is part of. Not a key of OpenTelemetry's context: that is nowhere when no context manager
 * is registered, and hooks have to find their call all the same.
 */
const calls = new AsyncLocalStorage<CallTrace | undefined>();

/** Runs `work` as part of `call`, its span active. */
export function withinCall<T>(call: CallTrace, work: () => T): T {
  return calls.run(call, () => context.with(call.context, work));
}

/** Runs `work` as part of no call, also when one whose tool calls this agent is under way. */
export function outsideCalls<T>(work: () => T): T {
  // Following promises costs all of them something.
  return calls.getStore() === undefined ? work() : calls.run(undefined, work);
}

/** The agent's call that this code is part of; not one of another agent, whose tool called this one. */
export function currentCall(telemetry: Telemetry): CallTrace | undefined {
  const call = calls.getStore();
  return call?.telemetry === telemetry ? call : undefined;
}
