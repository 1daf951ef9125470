import { RuntimeContext } from "../../context/runtime-context.js";
import { InvalidInputError, ShuttingDownError } from "../../errors/errors.js";
import { HoldfastError } from "../../errors/holdfast-error.js";
import type { EventBody } from "../../events/agent-event.js";
import { isRecord, type JsonObject } from "../../json/json.js";
import { adoptMessage } from "../../message/create-message.js";
import type { Message } from "../../message/message.js";
import type { CompactionResult } from "../../ports/compactor.js";
import { checkId, describeSlot, type Slot, slotText } from "../../slot/slot.js";
import { uuidv7 } from "../../slot/uuid.js";
import type { AgentState } from "../../state/agent-state.js";
import { STATE_FORMAT } from "../../state/migrate-document.js";
import { kindOf } from "../../state/section-checks.js";
import { loadWhole } from "../../store-kit/load-whole.js";
import { type AgentParts, backgroundEvent } from "../assemble/agent-parts.js";
import { readInputBody } from "../call-input.js";
import { type CallScope, UsageMeter } from "../call-scope.js";
import { compactContext } from "../loop/compact-context.js";
import { promptOf } from "../loop/reasoning.js";
import { badState, checkState } from "../save/check-state.js";
import { saveSession } from "../save/save-session.js";
import { closeCalls, openCallsOf, UNKNOWN_OUTCOME_TEXT } from "../tools/close-calls.js";
import { type EntryOptions, withLease, withSession } from "./enter-session.js";
import { forkSession } from "./fork/fork-session.js";
import type { ActiveCall } from "./lifecycle.js";
import type { OpenSession } from "./open-session.js";
import { Prefetch } from "./prefetch.js";
import { receiveAdded, receivePushed } from "./receive-added.js";
import { deleteUserRules } from "./remembered-rules.js";
import { CallStopped, orAborted, StopSwitch } from "./stop-switch.js";
import { Steering } from "./take-steered.js";

/** Edits a state in place; when it returns an `AgentState`, that one is stored instead. */
export type StateEdit = (state: AgentState) => unknown;

/** Work on an open session, with the function that saves it. */
type SessionWork<T> = (
  session: OpenSession,
  save: (writer?: string) => Promise<void>,
  scope: CallScope,
) => Promise<T>;

/** Begins the call id of work that is not a call, which cannot be interrupted. */
const MAINTENANCE = "maintenance:";

/** Tells whether a call id at the gate is a call's; other work on sessions has ids of its own. */
export function isCallId(callId: string): boolean {
  return !callId.startsWith(MAINTENANCE);
}

/** Work on sessions that is not a turn; it waits for its turn at the gate like any call. */
export class Maintenance {
  readonly #parts: AgentParts;

  constructor(parts: AgentParts) {
    this.#parts = parts;
  }

  /**
   * Lets `edit` change a state, or return another one, and saves the result.
   *
   * @param salvage - reads a damaged state as far as it goes
   * @throws InvalidInputError when the edit leaves something that cannot be stored
   */
  async update(slot: Slot, edit: StateEdit, salvage = false): Promise<AgentState> {
    if (typeof edit !== "function")
      throw new InvalidInputError(
        `updateAgentState needs a function that edits the state, got ${kindOf(edit)}`,
      );
    const work: SessionWork<AgentState> = async (session, save, scope) => {
      const before = new Set(session.state.messages.map(({ id }) => id));
      const returned = await edit(session.state);
      await receivePushed(scope, before);
      await replaceState(scope, returned);
      checkState(this.#parts, session, theEdit);
      // Copied while the session is still ours: the next call may run as soon as it is saved.
      const copy = session.state.copy();
      await save(theEdit);
      return copy;
    };
    return this.#inSession(slot, work, { salvage, acceptsRollback: true });
  }

  /** Makes `slot` a new session that begins with the turns of another, up to a position. */
  async fork(slot: Slot, from: Slot, at: number | string | undefined): Promise<void> {
    await this.#inSession(slot, (_, __, scope) => forkSession(scope, from, at));
  }

  async compact(slot: Slot, force: boolean, overrides: JsonObject): Promise<CompactionResult> {
    return this.#inSession(slot, async (_, save, scope) => {
      const prompt = await promptOf(scope, []);
      const result = await compactContext(scope, { cause: "manual", force, prompt, overrides });
      if (result.compacted) await save();
      return result;
    });
  }

  /** Adds a message behind the call that was to take it in, unless that call did. Returns whether it was missing. */
  async addMissing(slot: Slot, message: Message): Promise<boolean> {
    return this.#inSession(slot, async (session, save) => {
      if (session.state.messages.some(({ id }) => id === message.id)) return false;
      session.say(message);
      await save();
      return true;
    });
  }

  /** Answers tool calls that wait for an answer as interrupted; false when none waits. */
  async closeOpenCalls(slot: Slot, message: Message | undefined): Promise<boolean> {
    const stored = await loadWhole(this.#parts.stateStore, slot);
    if (Object.keys(stored?.head["openCalls"] ?? {}).length === 0) return false;
    return this.#inSession(slot, async (session, save) => {
      if (openCallsOf(session.state).length === 0) return false;
      // A process that died may have run what a person had approved: its answer is still in the inbox then.
      const entries = (await this.#parts.stateStore.inbox?.read(slot)) ?? [];
      const isAnswered = entries.some((entry) => readInputBody(entry)?.input.kind === "confirm");
      closeCalls(session, { ...(isAnswered && { text: UNKNOWN_OUTCOME_TEXT }) });
      session.state.shutdownInterrupted = false;
      if (message) session.say(message);
      await save();
      return true;
    });
  }

  /** The state is not read: what cannot be read can be deleted all the same. */
  async delete(slot: Slot): Promise<boolean> {
    const parts = this.#parts;
    return this.#visit(slot, (visit) =>
      withLease(parts, slot, visit, async () => {
        parts.cache.take(slotText(slot));
        // The log goes last but one: while it is there, a half-deleted session can still be explained.
        const existed = await parts.stateStore.delete(slot);
        const logged = await parts.log.delete(slot);
        await parts.feeds?.delete(slot);
        for (const run of parts.onDelete) await run(slot);
        return existed || logged;
      }),
    );
  }

  async deleteUser(userId: string): Promise<number> {
    const parts = this.#parts;
    checkId(userId, "userId");
    const { agentId } = parts.settings;
    let deleted = 0;
    const deleteAll = async (
      page: (
        cursor: string | undefined,
      ) => Promise<{ slots: readonly Slot[]; cursor?: string | undefined }>,
    ): Promise<void> => {
      // From the beginning again until nothing is found: what is deleted moves the pages.
      for (let before = -1; before !== deleted; ) {
        before = deleted;
        let cursor: string | undefined;
        do {
          const { slots, cursor: next } = await page(cursor);
          for (const slot of slots) if (await this.delete(slot)) deleted++;
          cursor = next;
        } while (cursor !== undefined);
      }
    };
    await deleteAll(async (cursor) => {
      const page = await parts.stateStore.list({ agentId, userId, cursor });
      return { ...page, slots: page.slots.map(({ slot }) => slot) };
    });
    // A call that never got as far as a save may have left a log.
    await deleteAll(async (cursor) => {
      const page = await parts.log.sessions({ agentId, userId, cursor });
      return { ...page, slots: page.sessions.map(({ slot }) => slot) };
    });
    await deleteUserRules(parts, userId);
    for (const run of parts.onDeleteUser) await run(userId);
    return deleted;
  }

  /** Runs `work` on the open session, behind the calls that were made before. */
  async #inSession<T>(
    slot: Slot,
    work: SessionWork<T>,
    reading: Pick<EntryOptions, "salvage" | "acceptsRollback"> = {},
  ): Promise<T> {
    const parts = this.#parts;
    return this.#visit(slot, (visit) =>
      withSession(parts, slot, { ...visit, ...reading }, (session) => {
        const scope = scopeOf(parts, session, visit);
        const save = async (writer?: string) => {
          visit.stop.check();
          await saveSession(scope, { final: true, outcome: "committed", writer });
        };
        return visit.stop.race(work(session, save, scope));
      }),
    );
  }

  /** A piece of work that a shutdown waits for, as long as it waits for calls. */
  async #visit<T>(slot: Slot, work: (visit: Visit) => Promise<T>): Promise<T> {
    const parts = this.#parts;
    const { lifecycle } = parts;
    const run = { runId: uuidv7(), callId: `${MAINTENANCE}${uuidv7()}` };
    const { callId } = run;
    const stop = new StopSwitch();
    const leave = new AbortController();
    const shuttingDown = () =>
      new ShuttingDownError(
        `agent "${parts.settings.name}" is shutting down; the work on ${describeSlot(slot)} was not finished. Send it to another process`,
      );
    const abandon = new AbortController();
    const active: ActiveCall & { isRunning: boolean } = {
      callId,
      isRunning: false,
      drain: () => leave.abort(shuttingDown()),
      cut: () => stop.stop("shutdown"),
      abandon: () => abandon.abort(shuttingDown()),
    };
    const left = lifecycle.enter(active);
    try {
      await lifecycle.ready(leave.signal);
      const emit = (event: EventBody) => parts.observe(backgroundEvent(slot, callId, event));
      const onEnter = () => {
        active.isRunning = true;
      };
      const working = work({ ...run, stop, signal: leave.signal, emit, onEnter });
      return await orAborted(working, abandon.signal);
    } catch (error) {
      throw error instanceof CallStopped ? shuttingDown() : error;
    } finally {
      left();
    }
  }
}

/** Entry of a piece of work that is not a call, and how to stop it. */
interface Visit extends EntryOptions {
  readonly stop: StopSwitch;
}

function scopeOf(parts: AgentParts, session: OpenSession, visit: Visit): CallScope {
  const { slot } = session;
  const { callId, runId, stop, emit } = visit;
  const ctx = RuntimeContext.of({ ...slot, callId, signal: stop.signal });
  ctx.agentState = session.state;
  return {
    parts,
    session,
    slot,
    ctx,
    callId,
    run: { runId, callId },
    named: false,
    inputHash: undefined,
    stop,
    steering: new Steering(),
    prefetch: new Prefetch(parts.prefetches, { slot, ctx }),
    usage: new UsageMeter(),
    newInput: [],
    inputIds: [],
    emit,
    checkpoint: () => undefined,
    settled: async () => undefined,
  };
}

/** Party to blame for a bad value in an edited state. */
const theEdit = "the edit of updateAgentState";

/** Puts the state that an edit returned in the place of the session's; any other value it returned means nothing. */
async function replaceState(scope: CallScope, returned: unknown): Promise<void> {
  const { session, slot } = scope;
  const { state } = session;
  if (!isState(returned)) {
    if (isRecord(returned) && returned["format"] === STATE_FORMAT)
      throw new InvalidInputError(
        "the edit of updateAgentState returned a document; return a state: AgentState.fromJson(document)",
      );
    return;
  }
  if (returned.sessionId !== slot.sessionId || returned.userId !== slot.userId)
    throw new InvalidInputError(
      "the state returned belongs to another session; its userId and sessionId must be those of the one updated",
    );
  // By id: it may have been through JSON.
  const known = new Set(state.messages.map(({ id }) => id));
  let checked: readonly Message[];
  try {
    checked = Array.from(returned.context, adoptMessage);
    state.restoreHead(returned.head());
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    throw badState(session, theEdit, error.message, error);
  }
  const context = await receiveAdded(scope, checked, known);
  session.log.add(context.filter(({ id }) => !known.has(id)));
  state.contextMutable().replaceAll(context);
}

/** By form: the state may come from another copy of this package. */
function isState(value: unknown): value is AgentState {
  return (
    isRecord(value) &&
    typeof value["contextMutable"] === "function" &&
    typeof value["head"] === "function" &&
    Array.isArray(value["context"])
  );
}
