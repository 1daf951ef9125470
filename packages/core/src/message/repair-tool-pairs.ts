import type { Block, Message, ToolCallBlock, ToolResultBlock } from "./message.js";

/** One thing {@link repairToolPairs} had to change. */
export interface Repair {
  readonly kind: "missing_result" | "orphan_result" | "duplicate_result" | "duplicate_call";
  readonly callId: string;
}

/** A list in which every tool call has exactly one result, and what had to be changed for it. */
export interface RepairedMessages {
  readonly messages: readonly Message[];
  readonly repairs: readonly Repair[];
}

const noCalls: ReadonlySet<string> = new Set();

/**
 * Makes a list of messages valid for a model request: each tool call is followed by exactly one result of its own
 * before the next user or assistant message, and each result has its call.
 *
 * Pure, over the whole list; returns the same array when nothing is wrong.
 * - A call without a result gets one in state `interrupted`, right behind its message's other results.
 * - A result without a call before it, and a second result of one call, are left out.
 * - A result that comes late, behind other messages, is moved up to its call.
 * - A second call with an id already seen is left out with its result.
 *
 * @param open - calls that may stay without a result; only calls of the last assistant message can be open
 */
export function repairToolPairs(
  messages: readonly Message[],
  open: ReadonlySet<string> = noCalls,
): RepairedMessages {
  if (isPaired(messages, open)) return { messages, repairs: [] };
  const results = collectResults(messages);
  const repairs: Repair[] = [...results.repairs];
  const seen = new Set<string>();
  const repaired: Message[] = [];
  const lastCaller = messages.findLastIndex((message) => message.role === "assistant");
  for (const [index, message] of messages.entries()) {
    const calls: ToolCallBlock[] = [];
    const content: Block[] = [];
    for (const block of message.content) {
      if (block.type === "tool_result") continue;
      if (block.type === "tool_call") {
        if (seen.has(block.id)) {
          repairs.push({ kind: "duplicate_call", callId: block.id });
          continue;
        }
        seen.add(block.id);
        calls.push(block);
      }
      content.push(block);
    }
    if (content.length === message.content.length) repaired.push(message);
    else if (content.length > 0) repaired.push(freeze({ ...message, content }));
    if (calls.length === 0) continue;
    const carriers = new Map<Message, ToolResultBlock[]>();
    const missing: ToolResultBlock[] = [];
    for (const call of calls) {
      const found = results.byCall.get(call.id);
      if (found) {
        const carried = carriers.get(found.carrier);
        if (carried) carried.push(found.result);
        else carriers.set(found.carrier, [found.result]);
      } else if (!(index === lastCaller && open.has(call.id))) {
        missing.push(interruptedResult(call));
        repairs.push({ kind: "missing_result", callId: call.id });
      }
    }
    repaired.push(...resultMessages(message, carriers, missing));
  }
  return { messages: Object.freeze(repaired), repairs };
}

/** Whether every call is answered directly behind its message, exactly once, and nothing else is a result. */
function isPaired(messages: readonly Message[], open: ReadonlySet<string>): boolean {
  const seen = new Set<string>();
  let waiting = new Set<string>();
  let waitingIsLast = false;
  const lastCaller = messages.findLastIndex((message) => message.role === "assistant");
  for (const [index, message] of messages.entries()) {
    const hasResult = message.content.some((block) => block.type === "tool_result");
    if (!hasResult && waiting.size > 0 && !(waitingIsLast && allIn(waiting, open))) return false;
    if (!hasResult) waiting = new Set();
    let calls = 0;
    for (const block of message.content) {
      if (block.type === "tool_call") {
        if (hasResult || seen.has(block.id)) return false;
        seen.add(block.id);
        waiting.add(block.id);
        calls++;
      } else if (block.type === "tool_result" && !waiting.delete(block.callId)) return false;
      else if (hasResult && block.type !== "tool_result") return false;
    }
    if (calls > 0) waitingIsLast = index === lastCaller;
  }
  return waiting.size === 0 || (waitingIsLast && allIn(waiting, open));
}

function allIn(ids: ReadonlySet<string>, set: ReadonlySet<string>): boolean {
  for (const id of ids) if (!set.has(id)) return false;
  return true;
}

interface FoundResult {
  readonly result: ToolResultBlock;
  readonly carrier: Message;
}

/** The first result of each call that comes after its call; the rest are repairs. */
function collectResults(messages: readonly Message[]): {
  byCall: Map<string, FoundResult>;
  repairs: Repair[];
} {
  const called = new Set<string>();
  const byCall = new Map<string, FoundResult>();
  const repairs: Repair[] = [];
  for (const message of messages)
    for (const block of message.content)
      if (block.type === "tool_call") called.add(block.id);
      else if (block.type === "tool_result") {
        if (!called.has(block.callId))
          repairs.push({ kind: "orphan_result", callId: block.callId });
        else if (byCall.has(block.callId))
          repairs.push({ kind: "duplicate_result", callId: block.callId });
        else byCall.set(block.callId, { result: block, carrier: message });
      }
  return { byCall, repairs };
}

function interruptedResult(call: ToolCallBlock): ToolResultBlock {
  return {
    type: "tool_result",
    callId: call.id,
    name: call.name,
    output: [{ type: "text", text: "This call was interrupted; its outcome is unknown." }],
    state: "interrupted",
  };
}

/** The messages that answer `caller`: the carriers as they were where nothing changed, then what was missing. */
function resultMessages(
  caller: Message,
  carriers: ReadonlyMap<Message, ToolResultBlock[]>,
  missing: readonly ToolResultBlock[],
): Message[] {
  const messages: Message[] = [];
  for (const [carrier, blocks] of carriers) {
    const unchanged =
      carrier.role === "tool" &&
      carrier.content.length === blocks.length &&
      carrier.content.every((block, index) => block === blocks[index]);
    messages.push(
      unchanged
        ? carrier
        : freeze({ ...carrier, id: `${carrier.id}.r.${caller.id}`, role: "tool", content: blocks }),
    );
  }
  if (missing.length > 0)
    messages.push(
      freeze({
        id: `${caller.id}.i`,
        role: "tool",
        content: missing,
        createdAt: caller.createdAt,
      }),
    );
  return messages;
}

function freeze(message: Message): Message {
  Object.freeze(message.content);
  for (const block of message.content) {
    Object.freeze(block);
    if (block.type === "tool_result")
      for (const part of Object.freeze(block.output)) Object.freeze(part);
  }
  return Object.freeze(message);
}
