import { deepFreeze } from "../json/json.js";
import type { Block, Message, ToolCallBlock, ToolResultBlock } from "./message.js";

/** One change made by {@link repairToolPairs}. */
export interface Repair {
  readonly kind:
    | "missing_result"
    | "moved_result"
    | "orphan_result"
    | "duplicate_result"
    | "duplicate_call";
  readonly toolCallId: string;
}

/** List in which every tool call has exactly one result, and the changes made for it. */
export interface RepairedMessages {
  readonly messages: readonly Message[];
  readonly repairs: readonly Repair[];
}

const noCalls: ReadonlySet<string> = new Set();

/**
 * Makes a list of messages valid for a model request: a message with calls is followed by tool messages with nothing but
 * their results, one for each call, and then by the rest.
 *
 * Pure; returns the same array when nothing is wrong. Every change is listed in the repairs:
 * - A call without a result gets one in state `interrupted`, after the other results of its message.
 * - A result without a call before it, and a second result of one call, are removed.
 * - A result that comes late, or shares a message with other content, is moved to its call.
 * - A second call with an id already seen is removed with its result.
 *
 * @param open - calls that may stay without a result; only calls of the last assistant message can be open
 */
export function repairToolPairs(
  messages: readonly Message[],
  open: ReadonlySet<string> = noCalls,
): RepairedMessages {
  const survey = surveyPairs(messages, open);
  if (survey.repairs.length === 0) return { messages, repairs: [] };
  return { messages: Object.freeze(rebuild(messages, survey)), repairs: survey.repairs };
}

/** Results to add after those that already follow a message. */
interface Additions {
  /** Results by the message they are moved from. */
  readonly moved: Map<Message, ToolResultBlock[]>;
  readonly missing: ToolResultBlock[];
}

interface Survey {
  readonly repairs: Repair[];
  /** Blocks that stay of each message, by its index. */
  readonly kept: Block[][];
  /** Additions by the index of the message with the calls. */
  readonly additions: Map<number, Additions>;
}

function surveyPairs(messages: readonly Message[], open: ReadonlySet<string>): Survey {
  const survey: Survey = { repairs: [], kept: [], additions: new Map() };
  const { repairs } = survey;
  const callers = new Map<string, number>();
  const unanswered = new Map<string, ToolCallBlock>();
  let owner = -1;
  for (const [index, message] of messages.entries()) {
    const resultsOnly = isResultsOnly(message);
    if (!resultsOnly) owner = index;
    const kept: Block[] = [];
    survey.kept.push(kept);
    for (const block of message.content) {
      if (block.type === "tool_call") {
        if (callers.has(block.id)) {
          repairs.push({ kind: "duplicate_call", toolCallId: block.id });
          continue;
        }
        callers.set(block.id, index);
        unanswered.set(block.id, block);
      } else if (block.type === "tool_result") {
        const { toolCallId } = block;
        const caller = callers.get(toolCallId);
        if (caller === undefined || !unanswered.delete(toolCallId)) {
          const kind = caller === undefined ? "orphan_result" : "duplicate_result";
          repairs.push({ kind, toolCallId });
          continue;
        }
        if (!resultsOnly || caller !== owner) {
          repairs.push({ kind: "moved_result", toolCallId });
          move(block, message, additionsTo(survey, caller));
          continue;
        }
      }
      kept.push(block);
    }
  }
  const lastCaller = messages.findLastIndex((message) => message.role === "assistant");
  for (const [toolCallId, call] of unanswered) {
    const caller = callers.get(toolCallId) as number;
    if (caller === lastCaller && open.has(toolCallId)) continue;
    repairs.push({ kind: "missing_result", toolCallId });
    additionsTo(survey, caller).missing.push(interruptedResult(call));
  }
  return survey;
}

function isResultsOnly(message: Message): boolean {
  const { role, content } = message;
  return (
    role === "tool" && content.length > 0 && content.every((block) => block.type === "tool_result")
  );
}

function additionsTo(survey: Survey, caller: number): Additions {
  let additions = survey.additions.get(caller);
  if (!additions) {
    additions = { moved: new Map(), missing: [] };
    survey.additions.set(caller, additions);
  }
  return additions;
}

function move(block: ToolResultBlock, from: Message, { moved }: Additions): void {
  const blocks = moved.get(from);
  if (blocks) blocks.push(block);
  else moved.set(from, [block]);
}

function interruptedResult(call: ToolCallBlock): ToolResultBlock {
  return deepFreeze({
    type: "tool_result",
    toolCallId: call.id,
    name: call.name,
    output: [{ type: "text", text: "This call was interrupted; its outcome is unknown." }],
    state: "interrupted",
  });
}

function rebuild(messages: readonly Message[], survey: Survey): Message[] {
  const ids = new Set(messages.map((message) => message.id));
  const rebuilt: Message[] = [];
  let behind: Message[] = [];
  for (const [index, message] of messages.entries()) {
    if (!isResultsOnly(message)) for (const late of behind.splice(0)) rebuilt.push(late);
    const content = survey.kept[index] ?? [];
    if (content.length === message.content.length) rebuilt.push(message);
    else if (content.length > 0) rebuilt.push(frozen({ ...message, content }));
    const additions = survey.additions.get(index);
    if (additions) behind = additionalMessages(message, additions, ids);
  }
  return rebuilt.concat(behind);
}

function additionalMessages(caller: Message, additions: Additions, ids: Set<string>): Message[] {
  const messages: Message[] = [];
  for (const [carrier, content] of additions.moved) {
    if (isResultsOnly(carrier) && carrier.content.length === content.length) messages.push(carrier);
    else {
      // Tokens were spent once: the usage stays with what is left of the carrier.
      const { usage: _, ...rest } = carrier;
      const id = freshId(`${carrier.id}.r.${caller.id}`, ids);
      messages.push(frozen({ ...rest, id, role: "tool", content }));
    }
  }
  if (additions.missing.length > 0)
    messages.push(
      frozen({
        id: freshId(`${caller.id}.i`, ids),
        role: "tool",
        content: additions.missing,
        createdAt: caller.createdAt,
      }),
    );
  return messages;
}

/** Returns an id that is not taken: after an earlier repair the derived one may be. */
function freshId(base: string, taken: Set<string>): string {
  let id = base;
  for (let count = 2; taken.has(id); count++) id = `${base}.${count}`;
  taken.add(id);
  return id;
}

function frozen(message: Message): Message {
  Object.freeze(message.content);
  return Object.freeze(message);
}
