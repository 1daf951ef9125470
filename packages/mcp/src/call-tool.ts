import {
  type ExplicitToolResult,
  type JsonObject,
  type ToolCallContext,
  toolResult,
} from "@holdfast/core";
import { CallDeadline } from "./call-deadline.js";
import { type Connection, RequestFailed } from "./connection/connection.js";
import type { ReconnectingServer } from "./connection/reconnecting-server.js";
import type { ServerSettings } from "./options/server-settings.js";
import { metadataOf, resultOf } from "./result/result-of.js";

/** Attempts in total for a call that was certainly not sent. */
const maxAttempts = 3;

/**
 * Runs a tool on its server; waits for a server that is away, within the call's time.
 *
 * A call is repeated only if it certainly did not reach the server. A failure becomes a result that names the server, what
 * happened, and whether the tool may have run.
 *
 * @throws the reason of the context's signal if that stops the call
 */
export async function callTool(
  server: ReconnectingServer,
  name: string,
  input: Readonly<Record<string, unknown>>,
  ctx: Pick<ToolCallContext, "signal" | "progress">,
): Promise<ExplicitToolResult> {
  const { timeoutMs, maxTimeoutMs } = server.settings;
  const deadline = new CallDeadline(timeoutMs, maxTimeoutMs, ctx.signal);
  try {
    return await callWithin(deadline, server, name, input, ctx);
  } catch (error) {
    if (deadline.why === "stopped") throw ctx.signal?.reason;
    throw error;
  } finally {
    deadline.close();
  }
}

async function callWithin(
  deadline: CallDeadline,
  server: ReconnectingServer,
  name: string,
  input: Readonly<Record<string, unknown>>,
  ctx: Pick<ToolCallContext, "progress">,
): Promise<ExplicitToolResult> {
  const { settings } = server;
  const origin = { server: settings.name, tool: name };
  const failed = (text: string): ExplicitToolResult =>
    toolResult({
      output: `The MCP server ${settings.name} ${text}`,
      state: "error",
      metadata: metadataOf(origin),
    });
  for (let attempt = 1; ; attempt++) {
    let connection: Connection;
    try {
      connection = await server.connection(deadline.signal);
    } catch (error) {
      if (deadline.why === "stopped") throw error;
      return failed(
        `is away: it ${server.awayReason}. It did not come back in time and the call was not made. Try again later, or do without it.`,
      );
    }
    deadline.progress();
    try {
      const onProgress = (progress: JsonObject): void => {
        deadline.progress();
        ctx.progress(progress);
      };
      const answer = await connection.call(name, input, { signal: deadline.signal, onProgress });
      return resultOf(answer, origin, settings.maxResultChars);
    } catch (error) {
      if (deadline.why === "stopped" || !(error instanceof RequestFailed)) throw error;
      if (deadline.why !== null) return failed(tooLong(settings, deadline.why));
      const { kind, words } = error.failure;
      if (kind === "refused") return failed(`${words}.`);
      if (kind !== "not_sent")
        return failed(
          `${words} while the call was running. It may have done its work or part of it; look before you call it again.`,
        );
      if (attempt >= maxAttempts)
        return failed(`${words}. The call was not made. Try again later, or do without it.`);
    }
  }
}

function tooLong({ timeoutMs, maxTimeoutMs }: ServerSettings, why: "silence" | "too_long"): string {
  const ms = why === "silence" ? timeoutMs : maxTimeoutMs;
  return `gave no result within ${ms} ms and was told to stop; it may still have done part of its work.`;
}
