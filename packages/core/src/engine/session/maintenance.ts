import { RuntimeContext } from "../../context/runtime-context.js";
import { InvalidInputError, ShuttingDownError } from "../../errors/errors.js";
import type { JsonObject } from "../../json/json.js";
import type { Message } from "../../message/message.js";
import type { CompactionResult } from "../../ports/compactor.js";
import { checkId, describeSlot, type Slot, slotText } from "../../slot/slot.js";
import { uuidv7 } from "../../slot/uuid.js";
import type { AgentState } from "../../state/agent-state.js";
import { type AgentParts, backgroundEvent } from "../assemble/agent-parts.js";
import { type CallScope, UsageMeter } from "../call-scope.js";
import { compactContext } from "../loop/compact-context.js";
import { promptOf } from "../loop/reasoning.js";
import { saveSession } from "../save/save-session.js";
import { closeCalls, openCallsOf } from "../tools/close-calls.js";
import { type EntryOptions, withLease, withSession } from "./enter-session.js";
import type { OpenSession } from "./open-session.js";
import { CallStopped, StopSwitch } from "./stop-switch.js";

/** Edits a state in place; when it returns an `AgentState`, that one is stored instead. */
export type StateEdit = (state: AgentState) => unknown;

/** Work on sessions that is not a turn; it waits for its turn at the gate like any call. */
export class Maintenance {
  readonly #parts: AgentParts;

  constructor(parts: AgentParts) {
    this.#parts = parts;
  }

  /** Lets `edit` change a state, or return another one, and saves the result. */
  async update(slot: Slot, edit: StateEdit): Promise<AgentState> {
    return this.#inSession(slot, async (session, save) => {
      const returned = await edit(session.state);
      if (isState(returned)) {
        if (returned.sessionId !== slot.sessionId || returned.userId !== slot.userId)
          throw new InvalidInputError(
            "the state returned belongs to another session; its userId and sessionId must be those of the one updated",
          );
        const { state } = session;
        state.restoreHead(returned.head());
        // By id: it may have been through JSON.
        const known = new Set(state.context.map(({ id }) => id));
        session.log.add(returned.context.filter(({ id }) => !known.has(id)));
        state.contextMutable().replaceAll(returned.context);
      }
      // Copied while the session is still ours: the next call may run as soon as it is saved.
      const copy = session.state.copy();
      await save();
      return copy;
    });
  }

  async compact(slot: Slot, force: boolean, overrides: JsonObject): Promise<CompactionResult> {
    return this.#inSession(slot, async (_, save, scope) => {
      const prompt = await promptOf(scope, []);
      const result = await compactContext(scope, { cause: "manual", force, prompt, overrides });
      if (result.compacted) await save();
      return result;
    });
  }

  /** Answers tool calls that wait for somebody as interrupted; false when none waits. */
  async closeOpenCalls(slot: Slot, message: Message | undefined): Promise<boolean> {
    const stored = await this.#parts.stateStore.load(slot);
    const open = stored === null || stored === "unchanged" ? {} : stored.head["openCalls"];
    if (Object.keys(open ?? {}).length === 0) return false;
    return this.#inSession(slot, async (session, save) => {
      if (openCallsOf(session.state).length === 0) return false;
      closeCalls(session);
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
    for (const run of parts.onDeleteUser) await run(userId);
    return deleted;
  }

  /** Runs `work` on the open session, behind the calls that were made before. */
  async #inSession<T>(
    slot: Slot,
    work: (session: OpenSession, save: () => Promise<void>, scope: CallScope) => Promise<T>,
  ): Promise<T> {
    const parts = this.#parts;
    return this.#visit(slot, (visit) =>
      withSession(parts, slot, visit, (session) => {
        const scope = scopeOf(parts, session, visit);
        const save = async () => {
          visit.stop.check();
          await saveSession(scope, { final: true, outcome: "committed" });
        };
        return visit.stop.race(work(session, save, scope));
      }),
    );
  }

  /** A piece of work that a shutdown waits for, as long as it waits for calls. */
  async #visit<T>(slot: Slot, work: (visit: Visit) => Promise<T>): Promise<T> {
    const parts = this.#parts;
    const { lifecycle } = parts;
    const callId = uuidv7();
    const stop = new StopSwitch();
    const leave = new AbortController();
    const shuttingDown = () =>
      new ShuttingDownError(
        `agent "${parts.settings.name}" is shutting down; the work on ${describeSlot(slot)} was not finished. Send it to another process`,
      );
    const left = lifecycle.enter({
      callId,
      drain: () => leave.abort(shuttingDown()),
      cut: () => stop.stop("shutdown"),
    });
    try {
      await lifecycle.start();
      return await work({
        callId,
        stop,
        signal: leave.signal,
        emit: (event) => parts.observe(backgroundEvent(slot, callId, event)),
      });
    } catch (error) {
      throw error instanceof CallStopped ? shuttingDown() : error;
    } finally {
      left();
    }
  }
}

/** What a piece of work at a slot goes by. */
interface Visit extends EntryOptions {
  readonly stop: StopSwitch;
}

function scopeOf(parts: AgentParts, session: OpenSession, visit: Visit): CallScope {
  const { slot } = session;
  const { callId, stop, emit } = visit;
  const ctx = RuntimeContext.of({ ...slot, callId, signal: stop.signal });
  ctx.agentState = session.state;
  return {
    parts,
    session,
    slot,
    ctx,
    callId,
    idempotencyKey: undefined,
    stop,
    usage: new UsageMeter(),
    newInput: [],
    emit,
    checkpoint: () => undefined,
  };
}

/** By form: the state may come from another copy of this package. */
function isState(value: unknown): value is AgentState {
  return typeof value === "object" && value !== null && "contextMutable" in value;
}
