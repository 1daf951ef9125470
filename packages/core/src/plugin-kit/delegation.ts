import type { RuntimeContext, RuntimeContextFields } from "../context/runtime-context.js";
import type { Slot } from "../slot/slot.js";
import type { AgentState } from "../state/agent-state.js";

/** Attribute of a context; a name and not a class, so that two copies of this package find each other's. */
const KEY = "holdfast.delegation";

/** Work that an agent does for another one, as the contexts of its calls say. */
export interface Delegation {
  /** Session that the work is done for: that of the agent which a person talks to, however many agents are in between. */
  readonly root: Slot;
  /** Number of agents above this one. */
  readonly depth: number;
  /** Returns the call of `root` that runs in this process, with the state it works on; null while none does. */
  rootCall(): RootCall | null;
}

/** Running call of the session that agents work for. */
export interface RootCall {
  readonly callId: string;
  readonly state: AgentState;
}

/** Returns for whom the call of a context works; undefined for a call of the program itself. */
export function delegationOf(ctx: RuntimeContext): Delegation | undefined {
  return ctx.get(KEY) as Delegation | undefined;
}

/** Returns a context for a call that works for another: with the attributes of that one's and fields of its own. */
export function delegatedContext(
  ctx: RuntimeContext,
  fields: Pick<RuntimeContextFields, "userId" | "sessionId" | "callId" | "signal">,
  delegation: Delegation,
): RuntimeContext {
  const own = { output: undefined, onBusy: undefined, onPending: undefined };
  const child = Object.assign(ctx.child(fields), own, { queueTimeoutMs: undefined });
  return child.put(KEY, delegation);
}
