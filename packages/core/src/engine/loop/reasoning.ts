import { EmptyReplyError } from "../../errors/errors.js";
import { isRecord } from "../../json/json.js";
import { adoptMessage } from "../../message/create-message.js";
import type { HintBlock, Message } from "../../message/message.js";
import { toolCallsOf } from "../../message/read-message.js";
import type { PromptStep, ReasoningStep } from "../../middleware/middleware.js";
import type { RequestPrompt } from "../../ports/compactor.js";
import type { ToolSchema } from "../../ports/model.js";
import { describeSlot } from "../../slot/slot.js";
import { uuidv7 } from "../../slot/uuid.js";
import type { Tool } from "../../tool/tool.js";
import { compose } from "../assemble/compose.js";
import { type CallScope, stepOf } from "../call-scope.js";
import { activeTools } from "../tools/tool-box.js";
import { askModels, discardAttempt, type Question, type RequestExtras } from "./ask-models.js";
import { compactBeforeStep } from "./compact-context.js";
import type { ReplyDraft } from "./reply-draft.js";

/** Settings of a round of reasoning. */
export interface ReasoningOptions extends RequestExtras {
  readonly iteration: number;
  readonly purpose: string;
}

/** Result of a round of reasoning. */
export interface Reasoned {
  /** Not yet in the context. */
  readonly message: Message;
  /** Reply of the model as it was streamed; null when a middleware answered in its place. */
  readonly draft: ReplyDraft | null;
  /** A middleware wants the call to end here. */
  readonly stopRequested: boolean;
}

/**
 * Runs one round of reasoning: the hooks, then a model call with its retries, fallback and overflow recovery.
 *
 * When the call is stopped in mid-reply, what had arrived is kept in the context.
 */
export async function reason(scope: CallScope, options: ReasoningOptions): Promise<Reasoned> {
  const hints: HintBlock[] = [...options.hints];
  let stopRequested = false;
  let draft: ReplyDraft | null = null;
  const step: ReasoningStep = Object.assign(stepOf(scope), {
    iteration: options.iteration,
    hint: (text: string, source: string) => void hints.push({ type: "hint", text, source }),
    stop: () => {
      stopRequested = true;
    },
  });
  const message = await compose(scope.parts.hooks.onReasoning, step, async () => {
    draft = await answer(scope, { ...options, hints });
    return draft.message(scope.parts.now());
  });
  return { message: withOwnCallIds(asStreamed(message, draft), draft), draft, stopRequested };
}

/** Gives a message that a hook made of a reply the id under which the reply was streamed. */
function asStreamed(message: Message, draft: ReplyDraft | null): Message {
  if (draft === null || message.id === draft.messageId) return message;
  return Object.freeze({ ...message, id: draft.messageId });
}

/** Gives the tool calls of a hook ids that no other call has, as those of a model get: tools take them for idempotency keys. */
function withOwnCallIds(message: Message, draft: ReplyDraft | null): Message {
  const free = new Set(draft?.toolCallIds);
  if (toolCallsOf(message).every(({ id }) => free.delete(id))) return message;
  const unused = new Set(draft?.toolCallIds);
  const given: Record<string, string> = {};
  const content = message.content.map((block) => {
    if (block.type !== "tool_call" || unused.delete(block.id)) return block;
    const id = uuidv7();
    given[id] = block.id;
    return { ...block, id };
  });
  const known = message.metadata?.["providerCallIds"];
  const providerCallIds = { ...(isRecord(known) && known), ...given };
  return adoptMessage({ ...message, content, metadata: { ...message.metadata, providerCallIds } });
}

/** Returns a reply that says something: an empty one gets one reminder. */
async function answer(scope: CallScope, asked: ReasoningOptions): Promise<ReplyDraft> {
  const options: Question = { ...asked, prompt: await promptOf(scope, asked.tools) };
  if (scope.parts.compactor?.proactive) await compactBeforeStep(scope, options.prompt);
  const first = await askModels(scope, options);
  if (!first.isEmpty()) return first;
  discardAttempt(scope, first, "empty_reply");
  const reminder: HintBlock = {
    type: "hint",
    source: "empty_reply",
    text: "Your last reply was empty. Answer the user in plain text, or call a tool.",
  };
  const second = await askModels(scope, { ...options, hints: [...options.hints, reminder] });
  if (!second.isEmpty()) return second;
  discardAttempt(scope, second, "empty_reply");
  throw new EmptyReplyError(
    `model ${scope.parts.model.id} answered twice with neither text nor a tool call on ${describeSlot(scope.slot)}`,
  );
}

/** Session and context that a prefetch is for. */
export type PrefetchStep = Pick<PromptStep, "slot" | "ctx">;

/** Fetches what a section of the prompt needs; see `host.promptSection`. */
export type PromptPrefetch = (step: PrefetchStep) => Promise<void>;

/** Prefetches of one call: begun while it waits for its session, waited for where its prompt is made. */
export class Prefetch {
  readonly #runs: readonly PromptPrefetch[];
  readonly #step: PrefetchStep;
  #fetched: Promise<unknown> | undefined;

  constructor(runs: readonly PromptPrefetch[], step: PrefetchStep) {
    this.#runs = runs;
    this.#step = step;
  }

  /** Begins; once more when what was fetched may be out of date. */
  begin(): void {
    const fetched = Promise.all(this.#runs.map(async (run) => run(this.#step)));
    // Told to those who wait for it; a call may end before anything does.
    fetched.catch(() => undefined);
    this.#fetched = fetched;
  }

  /** Resolves once everything is fetched; begins where nothing has. */
  async done(): Promise<void> {
    if (!this.#fetched) this.begin();
    await this.#fetched;
  }
}

/**
 * Returns what the model is sent besides the messages. Made once for a round of reasoning, so that its retries have the
 * same prefix.
 */
export async function promptOf(
  scope: CallScope,
  tools: RequestExtras["tools"],
): Promise<RequestPrompt> {
  const { parts, session, stop } = scope;
  // What makes the prompt may hang; the call can be stopped all the same.
  const system = await stop.race(systemOf(scope));
  if (tools === null) return { system, tools: [] };
  const offered = activeTools(session.state, parts.tools, parts.toolGroups).map(schemaOf);
  return { system, tools: [...offered, ...tools] };
}

async function systemOf({ parts, session, slot, ctx, stop, prefetch }: CallScope): Promise<string> {
  const { state } = session;
  let system = parts.settings.systemPrompt;
  await prefetch.done();
  for (const append of [...parts.promptSections, ...parts.hooks.onSystemPrompt]) {
    stop.check();
    system = await append(system, { slot, ctx, state });
  }
  return system;
}

const schemas = new WeakMap<Tool, ToolSchema>();

/** One object per tool, so that what is computed about it can be remembered. */
function schemaOf(tool: Tool): ToolSchema {
  let schema = schemas.get(tool);
  if (!schema) {
    const { name, description, inputSchema } = tool;
    schema = Object.freeze({ name, description, inputSchema });
    schemas.set(tool, schema);
  }
  return schema;
}
