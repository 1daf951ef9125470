import type { Message, ToolCallBlock } from "../../message/message.js";
import { headBefore } from "../../state/head-undo.js";
import type { OpenCallState, OpenCalls, RunRecord, UnfinishedRun } from "../../state/sections.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import type { RunName } from "../save/log-batch.js";
import { closeCalls, UNKNOWN_OUTCOME_TEXT } from "../tools/close-calls.js";
import { isSuspended, type OpenCall, openCallsOf } from "../tools/open-calls.js";
import type { OpenSession, TakeoverOptions } from "./open-session.js";
import { remember } from "./run-records.js";
import { takeDeadInput } from "./take-in.js";

/** Puts right what a crash left, and returns the session. None of it is part of the call that finds it. */
export function tidySession(
  parts: AgentParts,
  session: OpenSession,
  entry: TakeoverOptions,
): OpenSession {
  const run = session.state.unfinishedRun;
  if (run) settle(parts, session, run, entry);
  repair(session, run ?? session.run, entry);
  session.rebase();
  return session;
}

/** The step saves of a run that died are taken back, or kept like those of a call that failed. */
function settle(
  parts: AgentParts,
  session: OpenSession,
  run: UnfinishedRun,
  entry: TakeoverOptions,
): void {
  const { state, log } = session;
  const { messageIds } = run;
  session.reportTakeover(run, entry);
  if (entry.takeBackUnfinished) {
    session.remove(new Set(messageIds));
    state.restoreHead(headBefore(state.head(), run));
    log.endOf(run, "rolled_back", messageIds.length);
  } else {
    // Nothing was asked about its own calls yet, so that no answer will come. What a person approved, only the same call runs.
    const isRepeated = run.callId === session.run.callId;
    const before = headBefore(state.head(), run)["openCalls"] as OpenCalls;
    const waited = ({ call, state: now }: OpenCall) =>
      before[call.id] === now && (now === "asking" || isSuspended(state, { call, state: now }));
    const closing = close(
      session,
      run,
      (now, call) => !waited({ call, state: now }) && !(isRepeated && now === "allowed"),
    );
    session.goesOn = Object.values(state.openCalls).includes("allowed");
    log.endOf(run, "error", messageIds.length);
    if (!run.inputUnsaid) {
      const record = recordOfDead(run, closing.at(-1)?.id, log.now());
      state.resumableRun = record;
      if (run.named ?? true) remember(parts, session, record);
    }
  }
  state.unfinishedRun = null;
  if (run.input) takeDeadInput(parts, session, run, entry);
}

/** Answers open calls of an earlier run, and returns the answers; the log has them under that run. */
function close(
  session: OpenSession,
  run: RunName | UnfinishedRun,
  which: (state: OpenCallState, call: ToolCallBlock) => boolean,
): readonly Message[] {
  session.gather();
  // Its process may have gone on after its last save.
  closeCalls(session, { which, text: UNKNOWN_OUTCOME_TEXT });
  const answers = session.state.takePushed();
  session.log.addRepairs(run, answers);
  for (const { id } of answers) session.closingIds.add(id);
  return answers;
}

/** Calls that were running have an unknown outcome; everything else unpaired that is not listed is repaired. */
function repair(session: OpenSession, run: RunName | UnfinishedRun, entry: TakeoverOptions): void {
  const { state } = session;
  close(session, run, (callState) => callState === "started");
  const open = new Set(openCallsOf(state).map(({ call }) => call.id));
  for (const id of Object.keys(state.openCalls)) if (!open.has(id)) delete state.openCalls[id];
  const { messages, repairs } = state.pairedMessages(open);
  if (repairs.length === 0) return;
  state.contextMutable().replaceAll(messages);
  entry.emit({ type: "repaired", repairs });
}

function recordOfDead(run: UnfinishedRun, closingId: string | undefined, now: Date): RunRecord {
  const { runId, callId, inputHash, inputIds, messageIds } = run;
  const lastId = closingId ?? run.lastId ?? messageIds.at(-1);
  return {
    ...{ callId, messageId: "", reason: "error", at: now.toISOString() },
    ...(runId !== undefined && { runId }),
    ...(inputHash !== undefined && { inputHash }),
    // A run of an earlier release named no input: what it said begins with it.
    inputIds: inputIds ?? messageIds.slice(0, 1),
    ...(lastId !== undefined && { lastId }),
  };
}
