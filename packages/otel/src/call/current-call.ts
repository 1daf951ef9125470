import { AsyncLocalStorage } from "node:async_hooks";
import { context } from "@opentelemetry/api";
import type { Telemetry } from "../telemetry.js";
import type { CallTrace } from "./call-trace.js";

/**
 * The call that the running code is part of. Not in OpenTelemetry's context, which does not propagate without a registered
 * context manager: hooks have to find their call in any case.
 */
const calls = new AsyncLocalStorage<CallTrace | undefined>();

/** Runs `work` as part of `call`, its span active. */
export function withinCall<T>(call: CallTrace, work: () => T): T {
  return calls.run(call, () => context.with(call.context, work));
}

/** Runs `work` outside any call, even if the agent is called by a tool within one. */
export function outsideCalls<T>(work: () => T): T {
  // AsyncLocalStorage makes every promise more expensive.
  return calls.getStore() === undefined ? work() : calls.run(undefined, work);
}

/** Returns the call of this agent that the running code is part of; not that of another agent whose tool called this one. */
export function currentCall(telemetry: Telemetry): CallTrace | undefined {
  const call = calls.getStore();
  return call?.telemetry === telemetry ? call : undefined;
}
