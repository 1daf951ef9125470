import type { AgentEvent, CallInput, PendingCall } from "@holdfast/core";
import * as s from "@holdfast/core/plugin-kit/schema";
import {
  type AdmittedRequest,
  checkSessionId,
  endpoint,
  type Handler,
  notFound,
  report,
  segmentsBelow,
} from "../http/endpoint.js";
import { eventStream } from "../http/event-stream.js";
import { handlerSettings } from "../http/handler-settings.js";
import { errorText } from "../http/refusal.js";
import { drain } from "../run/attached.js";
import { type AnsweringCall, giveResults } from "../run/given-results.js";
import { answerCall, chatRequest, wordsCall } from "./chat-request.js";
import { ChatSession } from "./chat-session.js";
import type { ChatHandlerOptions, ChatRoute, ChatSettings } from "./chat-settings.js";
import { chatFrames, chatStreamHeaders } from "./chat-stream.js";
import { sessionRoutes } from "./session-routes.js";
import { UiChunkEncoder } from "./ui-chunk-encoder.js";
import type { DynamicToolPart, UiMessage } from "./ui-message.js";

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
  return endpoint(settings, async (admitted) => {
    const [id, action, ...rest] = segmentsBelow(admitted.url, settings.path);
    const route = routes[`${admitted.request.method} ${routeName(id, action)}`];
    if (!route || rest.length > 0) throw notFound();
    return route(settings, admitted, id === undefined ? "" : checkSessionId(id));
  });
}

const ownOptions = {
  path: s.string().regex(/^\//u, 'Invalid string: must start with "/"').default("/api/chat"),
  version: s.union([s.literal(5), s.literal(6), s.literal(7)], "must be 5, 6 or 7").default(6),
};

const routes: Readonly<Record<string, ChatRoute>> = {
  ...sessionRoutes,
  "POST /": startCall,
  "GET /:id/stream": resumeStream,
};

function routeName(id: string | undefined, action: string | undefined): string {
  if (id === undefined) return "/";
  return action === undefined ? "/:id" : `/:id/${action}`;
}

async function startCall(settings: ChatSettings, admitted: AdmittedRequest): Promise<Response> {
  const { agent, version } = settings;
  const { user } = admitted;
  const body = chatRequest(await admitted.json());
  const { sessionId, message } = body;
  const hasAnswers = Object.keys({ ...body.approvals, ...body.answers }).length > 0;
  const isWords = message?.role === "user" && !hasAnswers;
  const before = isWords ? [] : await agent.pending(user.userId, sessionId);
  const call: AnsweringCall = isWords ? wordsCall(message) : answerCall(body, before);
  const { input, callId } = call;
  const options = { ...user.context, userId: user.userId, sessionId, callId };
  const pending = await giveResults(agent, call, before, options);
  const session = new ChatSession(agent, version, user.userId, sessionId);
  const continues = isWords ? null : await session.continued(callId);
  const run = agent.stream(input, options);
  const onCancel = () => void drain(run);
  const edited = editedCalls(input, pending);
  return stream(settings, admitted, { session, run, continues, pending, edited, onCancel });
}

async function resumeStream(
  settings: ChatSettings,
  admitted: AdmittedRequest,
  sessionId: string,
): Promise<Response> {
  const session = new ChatSession(
    settings.agent,
    settings.version,
    admitted.user.userId,
    sessionId,
  );
  const reading = new AbortController();
  const named = admitted.url.searchParams.get("callId") ?? undefined;
  const run = await session.attach(named, reading.signal);
  if (!run) return new Response(null, { status: 204 });
  const continues = await session.continued(run.callId);
  const { userId } = admitted.user;
  const pending = continues ? await settings.agent.pending(userId, sessionId) : [];
  const onCancel = () => reading.abort();
  return stream(settings, admitted, { session, run, continues, pending, onCancel, isReplay: true });
}

/** A call that is streamed. */
interface StreamedCall {
  readonly session: ChatSession;
  readonly run: AsyncIterable<AgentEvent> & { readonly callId: string };
  /** Message that the call goes on with. */
  readonly continues: UiMessage | null;
  /** Calls of the session that wait for an answer. */
  readonly pending: readonly PendingCall[];
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

function stream(
  settings: ChatSettings,
  { request }: AdmittedRequest,
  call: StreamedCall,
): Response {
  const { session, run, continues, pending, edited, isReplay = false, onCancel } = call;
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
        pending,
      },
    }),
  });
  // The reply does not depend on them: the history has what the stream cannot show.
  const orElse =
    <T>(other: T) =>
    (error: unknown): T => {
      report(settings, error, request);
      return other;
    };
  const facts = {
    words: () => session.context().catch(orElse([])),
    pending: () => session.pending().catch(orElse(null)),
  };
  return eventStream(chatFrames(run, encoder, facts), {
    heartbeatMs,
    headers: { ...chatStreamHeaders, "x-call-id": run.callId },
    onCancel,
    onError: (error) => report(settings, error, request),
  });
}

function toolCallIdOf(part: { readonly type: string }): string[] {
  return part.type === "dynamic-tool" ? [(part as DynamicToolPart).toolCallId] : [];
}
