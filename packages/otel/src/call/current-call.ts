import { AsyncLocalStorage } from "node:async_hooks";
import { context } from "@opentelemetry/api";
import type { Telemetry } from "../telemetry.js";
import type { CallTrace } from "./call-trace.js";

/**
 * The call that the running code is part of. Not a key of OpenTelemetry's context: that is nowhere when no context manager
 * is registered, and hooks have to find their call all the same.
 */
const calls = new AsyncLocalStorage<CallTrace>();

/** Runs `work` as part of `call`, its span active. */
export function withinCall<T>(call: CallTrace, work: () => T): T {
  // Following promises costs all of them something.
  if (!call.isTraced) return work();
  return calls.run(call, () => context.with(call.context, work));
}

/** The agent's call that this code is part of; not one of another agent, whose tool called this one. */
export function currentCall(telemetry: Telemetry): CallTrace | undefined {
  const call = calls.getStore();
  return call?.telemetry === telemetry ? call : undefined;
}
