import type { DoneOperation } from "../operation.js";
import type { Check, History, Violation } from "./check.js";

/** Fencing: once a holder has saved, those before it cannot; and a holder whose lease lasts is not refused. */
export const oneHolderAtATime: Check = (history) => [
  ...history.sessions.flatMap(({ session, saves }) => {
    const granted = new Map<string, number>();
    for (const { token, t } of history.trace.of("granted", session)) granted.set(token, t);
    let newest = 0;
    return saves.flatMap((save): Violation[] => {
      const at = granted.get(save.token ?? "");
      if (at === undefined) return [];
      if (at >= newest) {
        newest = at;
        return [];
      }
      return [
        {
          check: "a holder past its lease cannot save",
          session,
          message: `${save.node} saved ${save.revision} after a later holder had`,
          evidence: [{ ...save, messages: undefined }],
        },
      ];
    });
  }),
  ...history.done.flatMap((done) => refusedHolder(history, done)),
];

function refusedHolder({ trace }: History, done: DoneOperation): Violation[] {
  const { operation, told, end } = done;
  if (told.error?.code !== "CONFLICT" || (told.leftMs ?? -1) <= 0) return [];
  const { session } = operation;
  const grants = trace.of("granted", session);
  const own = grants.findLast(({ op }) => op === operation.op);
  if (own === undefined || grants.some(({ t }) => t > own.t && t < end)) return [];
  return [
    {
      check: "a holder whose lease lasts can save",
      session,
      message: `${operation.op} held the session and got ${told.error.message}`,
      evidence: [own, done],
    },
  ];
}
