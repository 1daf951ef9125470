import {
  type AgentEvent,
  type CallInput,
  type PendingCall,
  type SlotInfo,
  userMessage,
} from "@holdfast/core";
import * as z from "zod";
import {
  checkSessionId,
  endpoint,
  type Handler,
  type HandlerOptions,
  notFound,
  report,
  segmentsBelow,
  type Visit,
} from "../http/endpoint.js";
import { eventStream } from "../http/event-stream.js";
import { type HandlerSettings, handlerSettings } from "../http/handler-settings.js";
import { errorText, Refusal } from "../http/refusal.js";
import { drain } from "../run/attached.js";
import type { ServedAgent } from "../served-agent.js";
import { answerCall, chatRequest, wordsCall } from "./chat-request.js";
import { ChatSession } from "./chat-session.js";
import { chatFrames, chatStreamHeaders } from "./chat-stream.js";
import type { AiSdkVersion } from "./ui-chunk.js";
import { UiChunkEncoder } from "./ui-chunk-encoder.js";
import type { DynamicToolPart, UiMessage } from "./ui-message.js";

/** Options of {@link chatHandler}. */
export interface ChatHandlerOptions extends HandlerOptions {
  readonly agent: ServedAgent;
  /** Path of the handler; the routes are below it. @default "/api/chat" */
  readonly path?: string | undefined;
  /** Version of the AI SDK in the browser. @default 6 */
  readonly version?: AiSdkVersion | undefined;
}

type ChatSettings = ChatHandlerOptions &
  HandlerSettings & { readonly path: string; readonly version: AiSdkVersion };

/**
 * Serves an agent to `useChat` and everything else that speaks the AI SDK's UI message stream: turns, approvals, resuming,
 * stopping, history and the list of sessions.
 *
 * @throws ConfigurationError for wrong options
 * @example
 * const handler = chatHandler({ agent, identify: (request) => userOf(request) });
 * export { handler as GET, handler as POST, handler as PATCH, handler as DELETE };
 */
export function chatHandler(options: ChatHandlerOptions): Handler {
  const settings = handlerSettings(options, ownOptions, "chatHandler") as ChatSettings;
  return endpoint(settings, async (visit) => {
    const [id, action, ...rest] = segmentsBelow(visit.url, settings.path);
    const route = routes[`${visit.request.method} ${routeName(id, action)}`];
    if (!route || rest.length > 0) throw notFound();
    return route(settings, visit, id === undefined ? "" : checkSessionId(id));
  });
}

const ownOptions = {
  path: z.string().startsWith("/").default("/api/chat"),
  version: z.union([z.literal(5), z.literal(6), z.literal(7)], "must be 5, 6 or 7").default(6),
};

type Route = (settings: ChatSettings, visit: Visit, sessionId: string) => Promise<Response>;

const routes: Readonly<Record<string, Route>> = {
  "GET /": listSessions,
  "POST /": startCall,
  "GET /:id": showSession,
  "PATCH /:id": renameSession,
  "DELETE /:id": deleteSession,
  "GET /:id/messages": listMessages,
  "GET /:id/stream": resumeStream,
  "POST /:id/stop": stopCall,
  "DELETE /:id/stop": stopCall,
  "POST /:id/steer": steerCall,
};

function routeName(id: string | undefined, action: string | undefined): string {
  if (id === undefined) return "/";
  return action === undefined ? "/:id" : `/:id/${action}`;
}

async function startCall(settings: ChatSettings, visit: Visit): Promise<Response> {
  const { agent, version } = settings;
  const { user } = visit;
  const body = chatRequest(await visit.json());
  const { sessionId, message } = body;
  const isWords = message?.role === "user" && Object.keys(body.approvals).length === 0;
  const pending = isWords ? [] : await agent.pending(user.userId, sessionId);
  const { input, callId } = isWords ? wordsCall(message) : answerCall(body, pending);
  const session = new ChatSession(agent, version, user.userId, sessionId);
  const continues = isWords ? null : await session.continued(callId);
  const run = agent.stream(input, { ...user.context, userId: user.userId, sessionId, callId });
  const onCancel = () => void drain(run);
  const edited = editedCalls(input, pending);
  return stream(settings, visit, { session, run, continues, edited, onCancel });
}

async function resumeStream(
  settings: ChatSettings,
  visit: Visit,
  sessionId: string,
): Promise<Response> {
  const session = new ChatSession(settings.agent, settings.version, visit.user.userId, sessionId);
  const reading = new AbortController();
  const named = visit.url.searchParams.get("callId") ?? undefined;
  const run = await session.attach(named, reading.signal);
  if (!run) return new Response(null, { status: 204 });
  const continues = await session.continued(run.callId);
  const onCancel = () => reading.abort();
  return stream(settings, visit, { session, run, continues, onCancel, isReplay: true });
}

/** A call that is streamed. */
interface StreamedCall {
  readonly session: ChatSession;
  readonly run: AsyncIterable<AgentEvent> & { readonly callId: string };
  /** Message that the call goes on with. */
  readonly continues: UiMessage | null;
  /** The client has nothing of that message. @default false */
  readonly isReplay?: boolean | undefined;
  /** Calls that are answered with another input. @default none */
  readonly edited?: readonly PendingCall[] | undefined;
  onCancel(): void;
}

function editedCalls(input: CallInput, pending: readonly PendingCall[]): readonly PendingCall[] {
  const confirm = typeof input === "object" && "confirm" in input ? input.confirm : [];
  return confirm.flatMap(({ toolCallId, input }) => {
    const call = pending.find((one) => one.toolCallId === toolCallId && one.agent === undefined);
    return call && input !== undefined ? [{ ...call, input }] : [];
  });
}

function stream(settings: ChatSettings, { request }: Visit, call: StreamedCall): Response {
  const { session, run, continues, edited, isReplay = false, onCancel } = call;
  const { version, heartbeatMs } = settings;
  const encoder = new UiChunkEncoder({
    version,
    errorText: (code) => errorText(code, settings.errorText),
    ...(continues && {
      continues: {
        id: continues.id,
        toolCallIds: continues.parts.flatMap(toolCallIdOf),
        ...(isReplay && { known: continues }),
        edited,
      },
    }),
  });
  return eventStream(
    chatFrames(run, encoder, () => session.context()),
    {
      heartbeatMs,
      headers: { ...chatStreamHeaders, "x-call-id": run.callId },
      onCancel,
      onError: (error) => report(settings, error, request),
    },
  );
}

function toolCallIdOf(part: { readonly type: string }): string[] {
  return part.type === "dynamic-tool" ? [(part as DynamicToolPart).toolCallId] : [];
}

async function listSessions({ agent }: ChatSettings, { user, url }: Visit): Promise<Response> {
  const limit = countOf(url, "limit", 50, 200);
  const { userId } = user;
  const text = url.searchParams.get("text") ?? undefined;
  const cursor = url.searchParams.get("cursor") ?? undefined;
  const page = await agent.sessions({ userId, limit, text, cursor });
  return Response.json({ sessions: page.slots.map(listed), cursor: page.cursor });
}

function listed({ slot, updatedAt, messages, info }: SlotInfo): object {
  const { title, metadata, waiting = false, unfinished = false } = info ?? {};
  return { id: slot.sessionId, title, metadata, updatedAt, messages, waiting, unfinished };
}

async function showSession(
  { agent, version }: ChatSettings,
  { user }: Visit,
  sessionId: string,
): Promise<Response> {
  const facts = await new ChatSession(agent, version, user.userId, sessionId).facts();
  if (!facts) throw notFound();
  return Response.json(facts);
}

async function listMessages(
  { agent, version }: ChatSettings,
  { user, url }: Visit,
  sessionId: string,
): Promise<Response> {
  const limit = countOf(url, "limit", 500, 2_000);
  const before = url.searchParams.has("before") ? countOf(url, "before", 0) : undefined;
  const session = new ChatSession(agent, version, user.userId, sessionId);
  const page = await session.messages({ limit, before });
  const headers = new Headers({ "cache-control": "no-store" });
  if (page.before !== undefined) headers.set("x-before", String(page.before));
  if (page.callId !== undefined) headers.set("x-call-id", page.callId);
  return Response.json(page.messages, { headers });
}

const renameSchema = z.strictObject({ title: z.string().trim().min(1).max(200).nullable() });

async function renameSession(
  { agent }: ChatSettings,
  visit: Visit,
  sessionId: string,
): Promise<Response> {
  const { title } = parsed(renameSchema, await visit.json());
  await agent.setSession(visit.user.userId, sessionId, { title });
  return new Response(null, { status: 204 });
}

async function deleteSession(
  { agent }: ChatSettings,
  { user }: Visit,
  sessionId: string,
): Promise<Response> {
  if (!(await agent.deleteSession(user.userId, sessionId))) throw notFound();
  return new Response(null, { status: 204 });
}

async function stopCall(
  { agent }: ChatSettings,
  visit: Visit,
  sessionId: string,
): Promise<Response> {
  if (visit.request.method === "POST") await visit.json();
  return Response.json({ result: await agent.interrupt(visit.user.userId, sessionId) });
}

const steerSchema = z.strictObject({ text: z.string().trim().min(1) });

async function steerCall(
  { agent }: ChatSettings,
  visit: Visit,
  sessionId: string,
): Promise<Response> {
  const { text } = parsed(steerSchema, await visit.json());
  const message = userMessage(text);
  const result = await agent.steer(visit.user.userId, sessionId, message);
  return Response.json({ result, messageId: message.id });
}

/** @throws Refusal 400 */
function parsed<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (!result.success)
    throw new Refusal(400, "INVALID_REQUEST", "The request cannot be understood.");
  return result.data;
}

/** @throws Refusal 400 for what is not a whole number */
function countOf(url: URL, name: string, other: number, max = Number.MAX_SAFE_INTEGER): number {
  const text = url.searchParams.get(name);
  const count = text === null ? other : Number(text);
  if (!Number.isSafeInteger(count) || count < 0)
    throw new Refusal(400, "INVALID_REQUEST", `${name} must be a whole number.`);
  return Math.min(count, max);
}
