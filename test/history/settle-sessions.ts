import { eventually } from "@holdfast/testing";
import type { Violation } from "./checks/check.js";
import type { ClientRecord } from "./client-record.js";
import { answeredQuestion, questionText } from "./question.mjs";

/** Unfinished runs that a session may have left behind. */
const maxRuns = 20;

/**
 * Brings every session to rest when the faults are over: answers what waits, goes on with what is unfinished, and makes one
 * more call. Returns the sessions that cannot be used.
 */
export async function settleSessions(
  record: ClientRecord,
  sessions: readonly string[],
): Promise<Violation[]> {
  const unusable = await Promise.all(
    sessions.map(async (session): Promise<Violation[]> => {
      try {
        await eventually(() => isUsable(record, session), {
          timeoutMs: 90_000,
          intervalMs: 200,
          what: "a call being answered",
        });
        return [];
      } catch (error) {
        const last = record.done.filter(({ operation }) => operation.session === session).slice(-3);
        const outcomes = last.map(({ operation, told }) => {
          const { error: failure, reply } = told;
          return `${operation.kind}: ${failure ? `${failure.code} (${failure.message})` : (reply?.reason ?? JSON.stringify(told))}`;
        });
        const why = `${String(error)}; last ${outcomes.join(", ")}`;
        return [violation(session, `no call is answered any more: ${why}`, last)];
      }
    }),
  );
  const { unfinished = [] } = await record.make(0, { kind: "unfinished", session: "ready" });
  return [
    ...unusable.flat(),
    ...unfinished.map((session) =>
      violation(session, "the session is listed as unfinished after its last call", []),
    ),
  ];
}

async function isUsable(record: ClientRecord, session: string): Promise<boolean> {
  for (let run = 0; run < maxRuns; run++) {
    const settled = await record.make(0, {
      kind: "settle",
      session,
      approve: true,
      result: "done",
    });
    // A run that died before it could ask is gone on with, not answered.
    const isOpen = settled.nothingOpen !== true && settled.error?.code !== "INVALID_INPUT";
    if (isOpen && (settled.error !== undefined || settled.lost === true)) return false;
    if (isOpen) continue;
    const resumed = await record.make(0, { kind: "resume", session });
    if (resumed.error !== undefined || resumed.lost === true) return false;
    if (resumed.reply === null) break;
  }
  const question = record.fresh("q");
  const input = questionText(question, { rounds: [], delayMs: 0, words: 0 });
  const told = await record.make(0, { kind: "call", session, question, input });
  return told.reply?.reason === "stop" && answeredQuestion(told.reply.text) === question;
}

function violation(session: string, message: string, evidence: readonly unknown[]): Violation {
  return { check: "every session is usable in the end", session, message, evidence };
}
