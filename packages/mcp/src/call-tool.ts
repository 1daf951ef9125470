import { type JsonObject, type Slot, toolResult } from "@holdfast/core";
import { slotKey } from "@holdfast/core/store-kit";
import type { CallPort, Outcome } from "./asking/asking-call.js";
import { isSameQuestion, questionOf } from "./asking/question-of.js";
import { AuthorizationNeeded, isSignIn, signInQuestion } from "./auth/authorization-needed.js";
import type { CallServer, UsedConnection } from "./connection/call-server.js";
import { RequestFailed } from "./connection/connection.js";
import type { Failure } from "./connection/failure.js";
import type { ServerSettings } from "./options/server-settings.js";
import { metadataOf, resultOf } from "./result/result-of.js";

/** Attempts in total for a call that was certainly not sent. */
const maxAttempts = 3;

/** A tool of a server and what it is called with. */
export interface ServerCall {
  readonly slot: Slot;
  /** Name of the tool; null to connect only. */
  readonly name: string | null;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Runs a tool on its server; waits for a server that is away, within the call's time.
 *
 * A call is repeated only if it certainly did not reach the server. A failure becomes a result that names the server, what
 * happened, and whether the tool may have run.
 *
 * @returns the result, or what a person has to do before the call can be made
 */
export async function callTool(
  server: CallServer,
  { slot, name, input }: ServerCall,
  port: CallPort,
): Promise<Outcome> {
  const { settings } = server;
  const { deadline } = port;
  const origin = { server: settings.name, tool: name ?? "authorize" };
  const failed = (text: string): Outcome => ({
    result: toolResult({
      output: `The MCP server ${settings.name} ${text}`,
      state: "error",
      metadata: metadataOf(origin),
    }),
  });
  for (let attempt = 1; ; attempt++) {
    let used: UsedConnection;
    try {
      used = await server.use(slot, deadline.signal);
    } catch (error) {
      if (deadline.why === "stopped") throw error;
      if (error instanceof AuthorizationNeeded)
        return signIn(settings, port, error.url) ?? failed("was not authorized by the user.");
      return failed(
        `is away: it ${server.awayReason}. It did not come back in time and the call was not made. Try again later, or do without it.`,
      );
    }
    deadline.progress();
    if (name === null) {
      used.release();
      return {
        result: toolResult({ output: `${settings.name} is authorized; use its tools now.` }),
      };
    }
    try {
      const answer = await used.connection.call(name, input, {
        session: slotKey(slot),
        signal: deadline.signal,
        onProgress: (progress: JsonObject) => {
          deadline.progress();
          port.progress(progress);
        },
        onQuestion: (params, signal) => port.ask(params, signal),
      });
      return { result: resultOf(answer, origin, settings.maxResultChars) };
    } catch (error) {
      if (deadline.why === "stopped" || !(error instanceof RequestFailed)) throw error;
      if (deadline.why !== null) return failed(tooLong(settings, deadline.why));
      const { kind, words } = error.failure;
      if (kind === "refused") return askFirst(settings, port, error.failure) ?? failed(`${words}.`);
      if (kind !== "not_sent")
        return failed(
          `${words} while the call was running. It may have done its work or part of it; look before you call it again.`,
        );
      if (attempt >= maxAttempts)
        return failed(`${words}. The call was not made. Try again later, or do without it.`);
    } finally {
      used.release();
    }
  }
}

/** Returns what a person has to do before a refused call can be made; undefined when there is nothing. */
function askFirst(
  settings: ServerSettings,
  port: CallPort,
  { authorize, elicitations = [] }: Failure,
): Outcome | undefined {
  if (authorize !== undefined) return signIn(settings, port, authorize ?? undefined);
  const last = port.answers.at(-1);
  const questions = elicitations.flatMap((one) => questionOf(one, (text) => text) ?? []);
  const isAnswered = (action: string) => (question: (typeof questions)[number]) =>
    port.answers.some((one) => one.action === action && isSameQuestion(one.question, question));
  const isRefused =
    last?.action !== "accept" &&
    questions.some((one) => last && isSameQuestion(last.question, one));
  if (isRefused) return undefined;
  const question = questions.find((one) => !isAnswered("accept")(one)) ?? questions[0];
  return question && { question, reason: `the MCP server ${settings.name} asks` };
}

/** Asks a person to sign in; undefined when they did not want to, or when it is not for this package to ask. */
function signIn(
  { name }: ServerSettings,
  { answers }: CallPort,
  url: string | undefined,
): Outcome | undefined {
  const last = answers.at(-1);
  const isRefused = last && last.action !== "accept" && isSignIn(name, last.question);
  if (url === undefined || isRefused) return undefined;
  return { question: signInQuestion(name, url), reason: `the MCP server ${name} asks to sign in` };
}

function tooLong({ timeoutMs, maxTimeoutMs }: ServerSettings, why: "silence" | "too_long"): string {
  const ms = why === "silence" ? timeoutMs : maxTimeoutMs;
  return `gave no result within ${ms} ms and was told to stop; it may still have done part of its work.`;
}
