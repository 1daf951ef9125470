import { setTimeout as delay } from "node:timers/promises";
import { asContextOverflow } from "../../errors/context-overflow.js";
import { type ContextOverflowError, EmptyReplyError, ModelError } from "../../errors/errors.js";
import type { JsonObject } from "../../json/json.js";
import { createMessage } from "../../message/create-message.js";
import type { HintBlock, Message } from "../../message/message.js";
import type { ReasoningStep } from "../../middleware/middleware.js";
import type { RequestPrompt } from "../../ports/compactor.js";
import type { Model, ModelRequest, ToolChoice, ToolSchema } from "../../ports/model.js";
import { describeSlot } from "../../slot/slot.js";
import type { Tool } from "../../tool/tool.js";
import { compose } from "../assemble/compose.js";
import { type CallScope, stepOf } from "../call-scope.js";
import { endToolCalls } from "../tools/close-calls.js";
import { activeTools } from "../tools/tool-box.js";
import { compactBeforeStep, compactContext } from "./compact-context.js";
import { fitReply } from "./fit-reply.js";
import { callModel, discardAttempt } from "./model-call.js";
import { ReplyDraft } from "./reply-draft.js";

/** Parts of one request beyond the session's context. */
export interface RequestExtras {
  /** Goes to the tail of this request only. */
  readonly hints: readonly HintBlock[];
  /** Protocol messages of this call that never enter the context. */
  readonly transient: readonly Message[];
  /** Offered beside the session's tools; null offers none at all. */
  readonly tools: readonly ToolSchema[] | null;
  readonly toolChoice?: ToolChoice | undefined;
  readonly output?: JsonObject | undefined;
}

/** Settings of a round of reasoning. */
export interface ReasoningOptions extends Omit<RequestExtras, "hints"> {
  readonly iteration: number;
  readonly purpose: string;
  readonly hints: readonly HintBlock[];
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
  return { message: asStreamed(message, draft), draft, stopRequested };
}

/** Gives a message that a hook made of a reply the id under which the reply was streamed. */
function asStreamed(message: Message, draft: ReplyDraft | null): Message {
  if (draft === null || message.id === draft.messageId) return message;
  return Object.freeze({ ...message, id: draft.messageId });
}

/** A question with the prompt it is asked under. */
interface Question extends ReasoningOptions {
  readonly prompt: RequestPrompt;
}

/** Returns a reply that says something: an empty one gets one reminder. */
async function answer(scope: CallScope, asked: ReasoningOptions): Promise<ReplyDraft> {
  const options: Question = { ...asked, prompt: await promptOf(scope, asked.tools) };
  if (scope.parts.compactor?.proactive) await compactBeforeStep(scope, options.prompt);
  const first = await askWithFallback(scope, options);
  if (!first.isEmpty()) return first;
  discardAttempt(scope, first, "empty_reply");
  const reminder: HintBlock = {
    type: "hint",
    source: "empty_reply",
    text: "Your last reply was empty. Answer the user in plain text, or call a tool.",
  };
  const second = await askWithFallback(scope, { ...options, hints: [...options.hints, reminder] });
  if (!second.isEmpty()) return second;
  discardAttempt(scope, second, "empty_reply");
  throw new EmptyReplyError(
    `model ${scope.parts.model.id} answered twice with neither text nor a tool call on ${describeSlot(scope.slot)}`,
  );
}

async function askWithFallback(scope: CallScope, options: Question): Promise<ReplyDraft> {
  const { model, fallbackModel } = scope.parts;
  const progress = { began: false };
  try {
    return await askWithRetries(scope, model, options, progress);
  } catch (error) {
    if (!fallbackModel || progress.began || scope.stop.kind !== null) throw error;
    return askWithRetries(scope, fallbackModel, options, progress);
  }
}

async function askWithRetries(
  scope: CallScope,
  model: Model,
  options: Question,
  progress: { began: boolean },
): Promise<ReplyDraft> {
  const { compactor, settings } = scope.parts;
  const { attempts, baseDelayMs, maxDelayMs } = settings.modelRetry;
  let recovered = false;
  for (let attempt = 1; ; attempt++) {
    const draft = new ReplyDraft(attempt);
    try {
      const request = buildRequest(scope, options.prompt, options);
      await callModel(scope, { model, request, purpose: options.purpose, draft });
      return draft;
    } catch (error) {
      progress.began ||= draft.began;
      if (scope.stop.kind !== null) {
        keepPartial(scope, draft);
        throw error;
      }
      const overflow = asContextOverflow(
        error,
        `the request to model ${model.id} on ${describeSlot(scope.slot)}`,
        settings.overflowPatterns,
      );
      if (overflow) {
        const isFinal = recovered || !compactor;
        discardAttempt(scope, draft, isFinal ? "failed" : "overflow");
        if (isFinal) throw overflow;
        recovered = true;
        await recover(scope, options.prompt, overflow);
        attempt--;
        continue;
      }
      const isFinal = !isRetryable(error) || attempt >= attempts;
      discardAttempt(scope, draft, isFinal ? "failed" : "retry");
      if (isFinal) throw error;
      const backoff = baseDelayMs * 2 ** (attempt - 1);
      const asked = ModelError.is(error) ? (error.retryAfterMs ?? 0) : 0;
      const pause = Math.min(maxDelayMs, Math.max(backoff, asked));
      await scope.stop.race(delay(pause, undefined, { signal: scope.stop.signal }));
    }
  }
}

/** Makes room after the model refused a request as too long; when there is none to be made, that is the error. */
async function recover(
  scope: CallScope,
  prompt: RequestPrompt,
  overflow: ContextOverflowError,
): Promise<void> {
  const { limitTokens } = overflow;
  const order = { cause: "overflow", force: true, prompt, limitTokens } as const;
  const { compacted } = await compactContext(scope, order);
  scope.emit({ type: "overflow_recovery", recovered: compacted });
  if (!compacted) throw overflow;
}

function isRetryable(error: unknown): boolean {
  return ModelError.is(error) && error.retryable;
}

/** Keeps what a stopped model had said so far in the conversation; its calls will not run. */
function keepPartial(scope: CallScope, draft: ReplyDraft): void {
  if (draft.isEmpty()) return;
  const { stop, parts } = scope;
  // After a shutdown the model is asked again: only the words that a person may have read are kept.
  const message = stop.kind === "shutdown" ? draft.words(parts.now()) : draft.message(parts.now());
  if (message.content.length === 0) return;
  scope.session.say(fitReply(message, parts.settings.limits.messageBytes), message);
  for (const block of message.content)
    if (block.type === "tool_call") scope.session.state.openCalls[block.id] = "pending";
  const text = "This call was not run: the reply was interrupted before it could start.";
  endToolCalls(scope, { text });
}

/**
 * Returns what the model is sent besides the messages. Made once for a round of reasoning, so that its retries have the
 * same prefix.
 */
export async function promptOf(
  scope: CallScope,
  tools: RequestExtras["tools"],
): Promise<RequestPrompt> {
  const { parts, session, slot, ctx } = scope;
  const { state } = session;
  let system = parts.settings.systemPrompt;
  await scope.prefetch.done();
  for (const append of [...parts.promptSections, ...parts.hooks.onSystemPrompt])
    system = await append(system, { slot, ctx, state });
  if (tools === null) return { system, tools: [] };
  const offered = activeTools(state, parts.tools, parts.toolGroups).map(schemaOf);
  return { system, tools: [...offered, ...tools] };
}

/** Builds a request out of the context as it is now. Nothing it adds is ever persisted. */
function buildRequest(
  scope: CallScope,
  prompt: RequestPrompt,
  extras: RequestExtras,
): ModelRequest {
  const { messages, repairs } = scope.session.state.pairedMessages();
  if (repairs.length > 0) scope.emit({ type: "repaired", repairs });
  const tail: Message[] = [...extras.transient];
  if (extras.hints.length > 0) tail.push(createMessage("user", extras.hints));
  return {
    ...prompt,
    messages: [...messages, ...tail],
    ...(extras.toolChoice !== undefined && { toolChoice: extras.toolChoice }),
    ...(extras.output !== undefined && { output: extras.output }),
    signal: scope.stop.signal,
  };
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
