import { InvalidInputError } from "../../errors/errors.js";
import { LeaseLostError } from "../../errors/store-errors.js";
import type { Message } from "../../message/message.js";
import type { CompactionResult } from "../../ports/compactor.js";
import type { Lease } from "../../ports/session-gate.js";
import { checkId, describeSlot, type Slot, slotText } from "../../slot/slot.js";
import { uuidv7 } from "../../slot/uuid.js";
import type { AgentState } from "../../state/agent-state.js";
import { kindOf } from "../../state/section-checks.js";
import { loadWhole } from "../../store-kit/load-whole.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import { readInputBody } from "../call-input.js";
import { compactContext } from "../loop/compact-context.js";
import { promptOf } from "../loop/reasoning.js";
import { type compactOptions, forkOptions } from "../method-options.js";
import { closeCalls, UNKNOWN_OUTCOME_TEXT } from "../tools/close-calls.js";
import { openCallsOf } from "../tools/open-calls.js";
import { editState, type StateEdit, theEdit } from "./edit-state.js";
import { withLease } from "./enter-session.js";
import { forkSession } from "./fork/fork-session.js";
import { stillHolds } from "./open-session.js";
import { deleteUserRules } from "./remembered-rules.js";
import type { NamedSession } from "./session-arguments.js";
import { type SessionWork, visitSession, visitSlot } from "./visit-session.js";

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
      await editState(scope, edit);
      // Copied while the session is still ours: the next call may run as soon as it is saved.
      const copy = session.state.copy();
      await save(theEdit);
      return copy;
    };
    return visitSession(this.#parts, slot, work, { salvage, acceptsRollback: true });
  }

  /** Makes a new session of the same user that begins with the turns of another, up to a position. */
  async fork({ slot: from, rest }: NamedSession): Promise<Slot> {
    const { at, as = uuidv7() } = forkOptions(rest[0]);
    const slot: Slot = { ...from, sessionId: as };
    await visitSession(this.#parts, slot, (_, __, scope) => forkSession(scope, from, at));
    return slot;
  }

  async compact(
    slot: Slot,
    { force, overrides }: ReturnType<typeof compactOptions>,
  ): Promise<CompactionResult> {
    return visitSession(this.#parts, slot, async (_, save, scope) => {
      const prompt = await promptOf(scope, []);
      const result = await compactContext(scope, { cause: "manual", force, prompt, overrides });
      if (result.compacted) await save();
      return result;
    });
  }

  /** Adds a message behind the call that was to take it in, unless that call did. Returns whether it was missing. */
  async addMissing(slot: Slot, message: Message): Promise<boolean> {
    return visitSession(this.#parts, slot, async (session, save) => {
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
    return visitSession(this.#parts, slot, async (session, save) => {
      if (openCallsOf(session.state).length === 0) return false;
      // A process that died may have run what a person had approved: its answer is still in the inbox then.
      const entries = (await this.#parts.stateStore.inbox?.read(slot)) ?? [];
      const kinds = entries.map((entry) => readInputBody(entry)?.input.kind);
      const isAnswered = kinds.includes("confirm") || kinds.includes("answers");
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
    return visitSlot(parts, slot, (visit) =>
      withLease(parts, slot, visit, async ({ lease }) => {
        // Past the lease another process may have gone on with the session, or begun it anew: what is left is its own.
        const mustHold = async (soFar: string): Promise<void> => {
          if (!(await stillHolds(lease))) throw lostWhileDeleting(slot, lease, soFar);
        };
        await mustHold("nothing of it was deleted");
        parts.cache.take(slotText(slot));
        // The log goes after the state: while it is there, a half-deleted session can still be explained.
        const existed = await parts.stateStore.delete(slot);
        await mustHold("its state is gone, its log is not");
        const logged = await parts.log.delete(slot);
        const rest = parts.onDelete.map((run) => () => run(slot));
        for (const run of [async () => parts.feeds?.delete(slot), ...rest]) {
          await mustHold("its state and its log are gone, what plugins keep of it is not");
          await run();
        }
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
}

function lostWhileDeleting(slot: Slot, { lost }: Lease, soFar: string): LeaseLostError {
  return new LeaseLostError(
    `the lease of ${describeSlot(slot)} was lost while it was deleted; ${soFar}. Repeat deleteSession`,
    { cause: lost.reason },
  );
}
