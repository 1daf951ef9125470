import { randomUUID } from "node:crypto";
import type { AgentEvent, Model, Usage } from "@holdfast/core";
import { askModel } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import {
  type AdmittedRequest,
  checkSessionId,
  endpoint,
  type Handler,
  type HandlerOptions,
  notFound,
  report,
  segmentsBelow,
} from "../http/endpoint.js";
import { dataFrame, eventStream } from "../http/event-stream.js";
import { type HandlerSettings, handlerSettings } from "../http/handler-settings.js";
import { errorText, Refusal, refusalOfCode } from "../http/refusal.js";
import { drain } from "../run/attached.js";
import type { ServedAgent } from "../served-agent.js";
import { type CompletionDelta, CompletionEncoder } from "./completion-encoder.js";
import { type CompletionRequest, completionRequest } from "./completion-request.js";
import { isSideRequest } from "./side-request.js";

/** Options of {@link openAiHandler}. */
export interface OpenAiHandlerOptions extends HandlerOptions {
  readonly agent: ServedAgent;
  /** Path of the handler. @default "/v1" */
  readonly path?: string | undefined;
  /** Name of the agent among the models. @default the agent's name */
  readonly model?: string | undefined;
  /**
   * Headers that may name the session, the first that is there counts. A request without one has no session: it is answered from
   * the messages in it, and nothing of it is kept. @default those of Open WebUI and others, see the README
   */
  readonly sessionHeaders?: readonly string[] | undefined;
  /** Model for titles, tags and follow-up questions, which are not part of the conversation. @default they are refused */
  readonly taskModel?: Model | undefined;
}

type OpenAiSettings = OpenAiHandlerOptions &
  HandlerSettings & { readonly path: string; readonly sessionHeaders: readonly string[] };

/**
 * Serves an agent in the form of OpenAI's chat completions, to Open WebUI, LibreChat and every OpenAI client.
 *
 * @throws ConfigurationError for wrong options
 * @example
 * const handler = openAiHandler({ agent, identify: (request) => userOf(request) });
 */
export function openAiHandler(options: OpenAiHandlerOptions): Handler {
  const settings = handlerSettings(options, ownOptions, "openAiHandler") as OpenAiSettings;
  const id = settings.model ?? settings.agent.name;
  return endpoint(
    settings,
    async (admitted) => {
      const route = `${admitted.request.method} ${segmentsBelow(admitted.url, settings.path).join("/")}`;
      if (route === "GET models")
        return Response.json({
          object: "list",
          data: [{ id, object: "model", owned_by: "holdfast" }],
        });
      if (route !== "POST chat/completions") throw notFound();
      const body = completionRequest(await admitted.json());
      const completion = new Completion(settings, admitted, body, id);
      return isSideRequest(body.prompt) ? completion.aside() : completion.reply();
    },
    refuse,
  );
}

const ownOptions = {
  path: s.string().regex(/^\//u, 'Invalid string: must start with "/"').default("/v1"),
  model: s.string().min(1).optional(),
  sessionHeaders: s
    .array(s.string().toLowerCase())
    .default([
      "x-session-id",
      "x-openwebui-chat-id",
      "x-librechat-conversation-id",
      "x-conversation-id",
      "x-hermes-session-id",
      "x-openhands-serverconversation-id",
    ]),
  taskModel: s
    .custom(
      (value) => typeof value === "object" && value !== null && "stream" in value,
      "must be a model",
    )
    .optional(),
};

/** Most characters of a title, tags or follow-up questions. */
const MAX_TASK_CHARS = 4_000;

/** One request for a completion. */
class Completion {
  readonly #settings: OpenAiSettings;
  readonly #admitted: AdmittedRequest;
  readonly #body: CompletionRequest;
  readonly #head: { readonly id: string; readonly created: number; readonly model: string };

  constructor(
    settings: OpenAiSettings,
    admitted: AdmittedRequest,
    body: CompletionRequest,
    model: string,
  ) {
    this.#settings = settings;
    this.#admitted = admitted;
    this.#body = body;
    const created = Math.floor(Date.now() / 1_000);
    this.#head = { id: `chatcmpl-${randomUUID()}`, created, model };
  }

  /** Answers as the agent, in the session that the request names. */
  async reply(): Promise<Response> {
    const { agent } = this.#settings;
    const { userId, context } = this.#admitted.user;
    const named = this.#sessionId();
    const sessionId = named ?? `once-${randomUUID()}`;
    const key = this.#admitted.request.headers.get("idempotency-key");
    const run = agent.stream(named === null ? this.#body.messages : this.#body.words, {
      ...context,
      userId,
      sessionId,
      callId: key ? `key-${key}` : undefined,
      // There is no way to answer an ask here: the next message does.
      onPending: "deny",
    });
    // A session without a name cannot be found again.
    if (named === null)
      void run.result
        .catch(() => undefined)
        .then(() => agent.deleteSession(userId, sessionId))
        .catch((error: unknown) => report(this.#settings, error, this.#admitted.request));
    return this.#respond(deltas(run, this.#errorText), () => void drain(run));
  }

  /** Answers a request of the front end's own, outside of every session. */
  async aside(): Promise<Response> {
    const { taskModel } = this.#settings;
    if (!taskModel)
      throw new Refusal(
        422,
        "task_request",
        "Titles, tags and follow-up questions need a model of their own: set another one for such tasks.",
      );
    const { text, usage } = await askModel({
      model: taskModel,
      request: { system: "", messages: this.#body.messages, tools: [] },
      purpose: "task",
      signal: AbortSignal.timeout(60_000),
      maxChars: MAX_TASK_CHARS,
      emit: () => undefined,
    });
    async function* answer(): AsyncGenerator<CompletionDelta> {
      yield { kind: "content", text };
      yield { kind: "end", reason: "stop", usage };
    }
    return this.#respond(answer(), () => undefined);
  }

  readonly #errorText = (code: string): string => errorText(code, this.#settings.errorText);

  #sessionId(): string | null {
    const { headers } = this.#admitted.request;
    const name = this.#settings.sessionHeaders.find((header) => headers.get(header));
    return name === undefined ? null : checkSessionId(headers.get(name));
  }

  async #respond(answer: AsyncIterable<CompletionDelta>, onCancel: () => void): Promise<Response> {
    if (!this.#body.isStreamed) return this.#whole(answer);
    return eventStream(this.#frames(answer), {
      heartbeatMs: this.#settings.heartbeatMs,
      onCancel,
      onError: (error) => report(this.#settings, error, this.#admitted.request),
    });
  }

  /** @throws Refusal for a call that failed */
  async #whole(answer: AsyncIterable<CompletionDelta>): Promise<Response> {
    let content = "";
    let reasoning = "";
    for await (const delta of answer)
      switch (delta.kind) {
        case "content":
          content += delta.text;
          break;
        case "reasoning":
          reasoning += delta.text;
          break;
        case "error":
          throw refusalOfCode(delta.code, this.#settings.errorText);
        case "end": {
          const message = {
            role: "assistant",
            content,
            ...(reasoning !== "" && { reasoning_content: reasoning }),
          };
          return Response.json({
            ...this.#head,
            object: "chat.completion",
            choices: [{ index: 0, message, finish_reason: delta.reason }],
            usage: usageOf(delta.usage),
          });
        }
      }
    throw new Refusal(503, "UNAVAILABLE", this.#errorText("UNAVAILABLE"));
  }

  async *#frames(answer: AsyncIterable<CompletionDelta>): AsyncGenerator<string> {
    yield this.#chunk({ role: "assistant", content: "" });
    for await (const delta of answer)
      switch (delta.kind) {
        case "content":
          yield this.#chunk({ content: delta.text });
          break;
        case "reasoning":
          yield this.#chunk({ reasoning_content: delta.text });
          break;
        case "error":
          yield dataFrame(errorBody(delta.code, delta.message));
          break;
        case "end":
          yield this.#chunk({}, delta.reason);
          if (this.#body.includesUsage)
            yield dataFrame({ ...this.#chunkHead(), choices: [], usage: usageOf(delta.usage) });
      }
    yield dataFrame("[DONE]");
  }

  #chunk(delta: object, finishReason: string | null = null): string {
    const choices = [{ index: 0, delta, finish_reason: finishReason }];
    return dataFrame({ ...this.#chunkHead(), choices });
  }

  #chunkHead(): object {
    return { ...this.#head, object: "chat.completion.chunk" };
  }
}

async function* deltas(
  events: AsyncIterable<AgentEvent>,
  words: (code: string) => string,
): AsyncGenerator<CompletionDelta> {
  const encoder = new CompletionEncoder(words);
  for await (const event of events) yield* encoder.encode(event);
}

function usageOf({ inputTokens, outputTokens, cachedInputTokens }: Usage): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(cachedInputTokens !== undefined && {
      prompt_tokens_details: { cached_tokens: cachedInputTokens },
    }),
  };
}

function errorBody(code: string, message: string): object {
  return { error: { message, type: "holdfast_error", code } };
}

function refuse({ status, code, message, headers }: Refusal): Response {
  return Response.json(errorBody(code, message), { status, headers });
}
