import type { DoneOperation } from "../operation.js";
import type { SessionRecord } from "../session-record.js";
import { type Check, type History, survivalOf, turnsOf, type Violation } from "./check.js";

const check = "every acknowledged turn is there once, in order";

/** Every acknowledged turn and update is in the session exactly once and in order, or in its log when it was compacted. */
export const acknowledgedTurnsAreThere: Check = (history) =>
  history.sessions.flatMap((record) => [
    ...wrongState(record),
    ...missingTurns(history, record),
    ...missingUpdates(history, record),
  ]);

/** The state is what its saves made of it. */
function wrongState({ session, messages, saves, unknownRevision }: SessionRecord): Violation[] {
  if (unknownRevision !== null)
    return [violation(session, `no node wrote revision ${unknownRevision}`, [])];
  const ids = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id).join(" ");
  const replayed = saves.at(-1)?.messages ?? [];
  if (ids(messages) === ids(replayed)) return [];
  return [violation(session, "the state is not what its saves say", [messages, replayed])];
}

function missingTurns(history: History, record: SessionRecord): Violation[] {
  const { session } = record;
  const violations: Violation[] = [];
  const isCompacted = history.compacted.has(session);
  const order = record.saves.flatMap(({ append }) => append.map(({ text }) => text));
  let latest: { turn: DoneOperation; at: number } | undefined;
  const answered = turnsOf(history, session)
    .filter(({ told }) => told.reply?.reason === "stop")
    .toSorted((one, other) => one.start - other.start);
  const first = new Map<string, DoneOperation>();
  const seen = new Set<string>();
  for (const turn of answered) {
    const text = turn.told.reply?.text ?? "";
    if (!first.has(text)) first.set(text, turn);
    const survival = survivalOf(history, session, turn);
    if (seen.has(text) || survival === "unknown") continue;
    seen.add(text);
    const inState = record.messages.filter((message) => message.text === text).length;
    const shown = record.log.filter((message) => message.text === text && message.isShown).length;
    const at = order.lastIndexOf(text);
    if (survival === "deleted") {
      const again = answered.some(
        (other) => other.start > turn.end && other.told.reply?.text === text,
      );
      if (!again && inState + shown > 0)
        violations.push(
          violation(session, `${text} came back after its session was deleted`, [turn]),
        );
      continue;
    }
    if (inState > 1 || shown > 1)
      violations.push(
        violation(session, `${text}: ${inState} times in the state, ${shown} in the log`, [turn]),
      );
    if (at === -1 || (!isCompacted && inState === 0) || shown === 0)
      violations.push(
        violation(
          session,
          `${text} was acknowledged and is ${at === -1 ? "in no save" : inState === 0 && !isCompacted ? "not in the state" : "not shown in the log"}`,
          [turn, record.log.filter((message) => message.text === text)],
        ),
      );
    // A repeated call is told again what was said before.
    if (at === -1 || first.get(text) !== turn) continue;
    if (latest !== undefined && latest.turn.end < beganAt(history, turn) && at < latest.at)
      violations.push(
        violation(session, `${text} stands before an earlier turn`, [latest.turn, turn]),
      );
    if (latest === undefined || at > latest.at) latest = { turn, at };
  }
  return violations;
}

/** Time of the first attempt at a call: it may have been answered then, and its caller told only when it was repeated. */
function beganAt({ done }: History, { operation, start, told }: DoneOperation): number {
  const callId = told.reply?.callId;
  const { session } = operation;
  const attempts = done.filter(
    ({ operation: other }) =>
      other.kind === "call" && other.session === session && other.callId === callId,
  );
  return Math.min(start, ...attempts.map((attempt) => attempt.start));
}

function missingUpdates(history: History, { session, tasks }: SessionRecord): Violation[] {
  return history.done.flatMap((done): Violation[] => {
    const { operation, told } = done;
    if (operation.kind !== "update" || operation.session !== session) return [];
    const times = tasks.filter((task) => task === operation.note).length;
    const isAcknowledged = told.error === undefined && told.lost !== true;
    const isExpected = isAcknowledged && survivalOf(history, session, done) === "kept";
    if (times <= 1 && (times === 1 || !isExpected)) return [];
    return [violation(session, `update ${operation.note} is there ${times} times`, [done])];
  });
}

function violation(session: string, message: string, evidence: readonly unknown[]): Violation {
  return { check, session, message, evidence };
}
