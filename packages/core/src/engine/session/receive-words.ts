import type { RuntimeContext } from "../../context/runtime-context.js";
import { HoldfastError, ShuttingDownError } from "../../errors/index.js";
import type { Message } from "../../message/message.js";
import { timeLimit } from "../../plugin-kit/time-limit.js";
import type { Slot } from "../../slot/slot.js";
import { type AgentParts, backgroundEvent } from "../assemble/agent-parts.js";
import { incomingEmit, receive } from "../receive.js";
import { orAborted } from "./stop-switch.js";

/** Longest time of the hooks. */
const maxHookMs = 30_000;

/** Origin and addressee of a message that comes beside the calls of a session. */
export interface Words {
  readonly slot: Slot;
  /** Context that names the session. */
  readonly ctx: RuntimeContext;
  readonly callId: string;
  readonly origin: "interrupt" | "steer";
}

/** Runs a message through the `onIncoming` hooks: nothing has stored it, and the call runs on until they returned. */
export async function receiveWords(
  parts: AgentParts,
  message: Message,
  { slot, ctx: named, callId, origin }: Words,
): Promise<Message> {
  if (parts.hooks.onIncoming.length === 0) return message;
  const { name } = parts.settings;
  if (parts.lifecycle.state === "closed")
    throw new ShuttingDownError(
      `agent "${name}" is closed, and its plugins pass no message on; ${origin} from another process${origin === "interrupt" ? ", or without a message" : ""}`,
    );
  using limit = timeLimit(maxHookMs, {
    reason: () =>
      new HoldfastError(
        "MIDDLEWARE",
        `the onIncoming hooks of agent "${name}" kept the message of ${origin === "interrupt" ? "an interrupt" : "steer"} for ${maxHookMs} ms; nothing was stopped or stored`,
      ),
  });
  const { signal } = limit;
  await parts.lifecycle.ready(signal);
  const ctx = named.child({ ...slot, callId, signal });
  const emit = incomingEmit(parts, (event) => parts.observe(backgroundEvent(slot, callId, event)));
  return orAborted(receive(parts, message, { slot, ctx, callId, signal, emit, origin }), signal);
}
