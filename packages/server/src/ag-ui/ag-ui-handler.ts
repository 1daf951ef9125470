import type { AgentEvent } from "@holdfast/core";
import * as s from "@holdfast/core/plugin-kit/schema";
import {
  checkSessionId,
  endpoint,
  type Handler,
  type HandlerOptions,
  notFound,
  report,
  segmentsBelow,
} from "../http/endpoint.js";
import { dataFrame, eventStream } from "../http/event-stream.js";
import { handlerSettings } from "../http/handler-settings.js";
import { errorText } from "../http/refusal.js";
import { drain } from "../run/attached.js";
import { giveResults } from "../run/given-results.js";
import type { ServedAgent } from "../served-agent.js";
import { AgUiEncoder } from "./ag-ui-encoder.js";
import { interruptedCall } from "./ag-ui-interrupts.js";
import { runCall, runInput } from "./run-input.js";

/** Options of {@link agUiHandler}. */
export interface AgUiHandlerOptions extends HandlerOptions {
  readonly agent: ServedAgent;
  /** Path of the handler. @default "/api/ag-ui" */
  readonly path?: string | undefined;
}

/**
 * Serves an agent to clients of AG-UI, such as CopilotKit and assistant-ui: a POST starts a run, and a POST to
 * `<path>/<threadId>/stop` stops it. A client that goes away stops nothing.
 *
 * @throws ConfigurationError for wrong options
 * @example
 * const handler = agUiHandler({ agent, identify: (request) => userOf(request) });
 */
export function agUiHandler(options: AgUiHandlerOptions): Handler {
  const own = {
    path: s.string().regex(/^\//u, 'Invalid string: must start with "/"').default("/api/ag-ui"),
  };
  const settings = handlerSettings(options, own, "agUiHandler");
  const { agent, heartbeatMs } = settings;
  return endpoint(settings, async ({ request, url, user, json }) => {
    const [threadId, action, ...rest] = segmentsBelow(url, settings.path ?? "/");
    const isStop = action === "stop" && rest.length === 0;
    if (request.method !== "POST" || (threadId !== undefined && !isStop)) throw notFound();
    const { userId } = user;
    if (threadId !== undefined) {
      await json();
      const sessionId = checkSessionId(threadId);
      return Response.json({ result: await agent.interrupt(userId, sessionId) });
    }
    const input = runInput(await json());
    const isWords = input.resume.length === 0 && input.messages.at(-1)?.role === "user";
    const pending = isWords ? [] : await agent.pending(userId, input.threadId);
    const call = runCall(input, pending);
    const { callId } = call;
    const options = { ...user.context, userId, sessionId: input.threadId, callId };
    const waiting = await giveResults(agent, call, pending, options);
    const run = agent.stream(call.input, options);
    // No result of this agent's tools tells that what a subagent asked waits no more.
    const answered = new Set(input.resume.map(({ interruptId }) => interruptedCall(interruptId)));
    const encoder = new AgUiEncoder({
      threadId: input.threadId,
      runId: input.runId,
      state: input.state,
      protocolVersion: input.protocolVersion,
      pending: waiting.filter(
        ({ toolCallId, agent }) => agent === undefined || !answered.has(toolCallId),
      ),
      errorText: (code) => errorText(code, settings.errorText),
    });
    return eventStream(frames(run, encoder), {
      heartbeatMs,
      headers: { "x-call-id": run.callId },
      onCancel: () => void drain(run),
      onError: (error) => report(settings, error, request),
    });
  });
}

async function* frames(
  events: AsyncIterable<AgentEvent>,
  encoder: AgUiEncoder,
): AsyncGenerator<string> {
  for await (const event of events) {
    const encoded = encoder.encode(event);
    if (encoded.length > 0) yield encoded.map(dataFrame).join("");
  }
  const last = encoder.cut();
  if (last.length > 0) yield last.map(dataFrame).join("");
}
