import { type ExplicitToolResult, type RuntimeContext, toolResult } from "@holdfast/core";
import { CallClock } from "./call-clock.js";
import { type Connection, RequestFailed } from "./connection/connection.js";
import type { ServerLink } from "./connection/server-link.js";
import type { ServerSettings } from "./options/server-settings.js";
import { metadataOf, resultOf } from "./result/result-of.js";

/** How often a call that was certainly not sent is tried on new connections. */
const maxAttempts = 3;

/**
 * Runs a tool on its server and waits, within the call's time, for a server that is away.
 *
 * A call is repeated only when it certainly did not reach the server. Whatever goes wrong becomes a result that names
 * the server and what happened, and whether the tool may have run.
 *
 * @throws the reason of the context's signal when that stops the call
 */
export async function callTool(
  link: ServerLink,
  name: string,
  input: Readonly<Record<string, unknown>>,
  ctx: Pick<RuntimeContext, "signal">,
): Promise<ExplicitToolResult> {
  const { timeoutMs, maxTimeoutMs } = link.settings;
  const clock = new CallClock(timeoutMs, maxTimeoutMs, ctx.signal);
  try {
    return await callWithin(clock, link, name, input);
  } catch (error) {
    if (clock.why === "stopped") throw ctx.signal?.reason;
    throw error;
  } finally {
    clock.close();
  }
}

async function callWithin(
  clock: CallClock,
  link: ServerLink,
  name: string,
  input: Readonly<Record<string, unknown>>,
): Promise<ExplicitToolResult> {
  const { settings } = link;
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
      connection = await link.connection(clock.signal);
    } catch (error) {
      if (clock.why === "stopped") throw error;
      return failed(
        `is away: it ${link.awayWords}. It did not come back in time and the call was not made. Try again later, or do without it.`,
      );
    }
    clock.signOfLife();
    try {
      const onProgress = (): void => clock.signOfLife();
      const answer = await connection.call(name, input, { signal: clock.signal, onProgress });
      return resultOf(answer, origin, settings.maxResultChars);
    } catch (error) {
      if (clock.why === "stopped" || !(error instanceof RequestFailed)) throw error;
      if (clock.why !== null) return failed(tooLong(settings, clock.why));
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
