import type { LoggedMessage, SessionRecord } from "../session-record.js";
import { type Check, type History, survivalOf, type Violation } from "./check.js";

const check = "log and state agree";

/**
 * The log shows as part of the conversation what the state had: no turn that never was is shown, none that was is hidden.
 */
export const logAgreesWithState: Check = (history) =>
  history.sessions.flatMap((record) => {
    const wasDeleted = survivalOf(history, record.session, { start: 0, end: 0 }) !== "kept";
    return [...phantoms(history, record), ...(wasDeleted ? [] : hidden(record))];
  });

/** Messages that the log shows although the state never had them, or had them and took them back. */
function phantoms(history: History, record: SessionRecord): Violation[] {
  const { session, log, saves, messages } = record;
  const ever = new Set(saves.flatMap(({ append }) => append.map(({ id }) => id)));
  const present = new Set(messages.map(({ id }) => id));
  const expected = history.compacted.has(session) ? ever : present;
  const halfDeleted = savedBeforeLostDeletion(history, session);
  const shown = log.filter(
    ({ isShown, outcome, id }) =>
      isShown && outcome !== null && !expected.has(id) && !halfDeleted.has(id),
  );
  return byCall(shown).map((group) => ({
    check,
    session,
    message: `the log shows ${group.map(({ text, role }) => `${role} ${JSON.stringify(text)}`).join(", ")} as ${group[0]?.outcome}, which the state ${ever.has(group[0]?.id ?? "") ? "took back" : "never had"}`,
    evidence: group,
  }));
}

/**
 * Messages that were saved before the end of a deletion which failed or whose process died: it removes the state first, so
 * that the log may still have them.
 */
function savedBeforeLostDeletion({ done, trace }: History, session: string): ReadonlySet<string> {
  const lost = done.filter(
    ({ operation, told }) =>
      operation.kind === "delete" &&
      operation.session === session &&
      (told.lost === true || told.error !== undefined),
  );
  const until = Math.max(...lost.map(({ end }) => end));
  const saves = trace.of("save", session).filter(({ t }) => t < until);
  return new Set(saves.flatMap(({ append }) => append.map(({ id }) => id)));
}

/** Messages of the state that the log does not have, or calls discarded. A question said again counts as one. */
function hidden({ session, log, messages }: SessionRecord): Violation[] {
  const shown = new Set(log.filter(({ isShown }) => isShown).map(({ id }) => id));
  const texts = new Set(log.filter(({ isShown }) => isShown).map(({ text }) => text));
  return messages.flatMap((message): Violation[] => {
    if (shown.has(message.id)) return [];
    if (message.role === "user" && texts.has(message.text)) return [];
    const logged = log.filter(({ id }) => id === message.id);
    const how = logged.length === 0 ? "does not have" : `calls ${logged[0]?.outcome}`;
    return [
      {
        check,
        session,
        message: `the state has ${message.role} ${JSON.stringify(message.text)}, which the log ${how}`,
        evidence: [message, ...logged],
      },
    ];
  });
}

function byCall(messages: readonly LoggedMessage[]): LoggedMessage[][] {
  const groups = new Map<string, LoggedMessage[]>();
  for (const message of messages) {
    const group = groups.get(message.callId) ?? [];
    group.push(message);
    groups.set(message.callId, group);
  }
  return [...groups.values()];
}
