import { type Slot, StoreUnavailableError, UnknownOutcomeError } from "@holdfast/core";
import { KeyedQueue } from "@holdfast/core/plugin-kit";
import {
  type Claim,
  type EnterAnswer,
  type EnterTerms,
  type InboxEntry,
  inboxFull,
  type LeaseBackend,
  type LoadAnswer,
  type SeenCall,
  type SeenClaim,
} from "@holdfast/core/store-kit";
import type { Database } from "../connection/database.js";
import { removeExpired } from "../expiry/expired-sessions.js";
import { type PreparedEntry, prepareEntry, readInbox } from "../inbox/inbox-column.js";
import { MysqlInbox } from "../inbox/mysql-inbox.js";
import { loadWithInbox } from "../state/load-state.js";
import { Claims } from "./claims.js";
import { type Joined, joinQueue, QueueFull, SlotExpired } from "./join-queue.js";
import { LeaseRow } from "./lease-row.js";
import { LONGEST_PAUSE_MS, LocalClaim } from "./local-claim.js";
import { NodeRows } from "./node-rows.js";
import type { Taken } from "./take-slot.js";
import { WaitingQueue } from "./waiting-queue.js";

/** Terms of a claim, with its entry encoded and its deadline running. */
interface Entering extends Pick<EnterTerms, "mode" | "maxQueue" | "known" | "replaces"> {
  readonly put: PreparedEntry | undefined;
  readonly database: Database;
}

type Granted = Extract<EnterAnswer, { kind: "granted" }>;

/**
 * Leases in the slots' rows and a queue in a table of its own.
 *
 * - A free slot takes one statement, which also puts the inbox entry and says whether the known revision is current.
 * - Queued calls poll, of each process and slot only the first; it is woken when a call of its process gives the slot back.
 */
export class MysqlLeaseBackend implements LeaseBackend {
  readonly kind = "mysql";
  readonly reach = "distributed";
  readonly leaseMs: number;
  readonly commandTimeoutMs: number;
  readonly nodes: NodeRows | undefined;
  readonly claims: Claims = new Claims();
  readonly #database: Database;
  /** For what calls that run need: a node with more calls than connections must end some before it begins others. */
  readonly #renewing: Database;
  readonly #ending: Database;
  readonly #rows: LeaseRow;
  readonly #queue: WaitingQueue;
  readonly #inbox: MysqlInbox;
  readonly #locals = new WeakMap<Claim, LocalClaim>();
  /** Lets the calls of this process on a slot join in the order in which they came. */
  readonly #arrivals = new KeyedQueue();
  #sweptAt = 0;

  /** @param nodeTimeoutMs - undefined for claims without heartbeats of their process */
  constructor(database: Database, leaseMs: number, nodeTimeoutMs: number | undefined) {
    this.leaseMs = leaseMs;
    this.commandTimeoutMs = database.commandTimeoutMs;
    this.#database = database;
    this.#renewing = database.going("renewing");
    this.#ending = database.going("ending");
    this.nodes =
      nodeTimeoutMs === undefined ? undefined : new NodeRows(this.#renewing, nodeTimeoutMs);
    this.#rows = new LeaseRow(leaseMs);
    this.#queue = new WaitingQueue(leaseMs);
    this.#inbox = new MysqlInbox(database);
  }

  async enter(claim: Claim, terms: EnterTerms): Promise<EnterAnswer> {
    const local = this.#local(claim);
    // Once: a call that waits asks often.
    local.put ??= terms.put && prepareEntry(claim.slot, terms.put);
    const { put } = local;
    const entering = { ...terms, put, database: this.#database.within(terms.deadlineMs) };
    const isQueued = local.ticket !== undefined && terms.mode === "again";
    const answer = isQueued ? await this.#ask(local, entering) : null;
    return answer ?? this.#arrivals.run(local.key, () => this.#come(local, entering));
  }

  renew(claim: Claim, deadlineMs: number): Promise<boolean> {
    return this.#rows.renew(this.#renewing.within(deadlineMs), this.#local(claim));
  }

  async leave(claim: Claim, drop: readonly string[]): Promise<void> {
    const local = this.#local(claim);
    try {
      // One that certainly has neither costs nothing: an overloaded node refuses many.
      if (local.mayWait) await this.#queue.leave(this.#database, local);
      if (local.mayHold) await this.#rows.release(this.#ending, local, drop);
    } finally {
      // Also when it was no longer watched while it joined.
      this.claims.remove(local);
      this.claims.wakeNext(local.key);
    }
  }

  calls(slot: Slot): Promise<readonly SeenCall[]> {
    return this.#queue.calls(this.#database, slot);
  }

  async watch(claim: Claim, wake: () => void): Promise<() => void> {
    const local = this.#local(claim);
    this.claims.add(local, wake);
    return () => this.claims.remove(local);
  }

  async close(): Promise<void> {}

  #local(claim: Claim): LocalClaim {
    const known = this.#locals.get(claim);
    if (known !== undefined) return known;
    const local = new LocalClaim(claim);
    this.#locals.set(claim, local);
    return local;
  }

  /** Takes the slot or joins the queue. */
  async #come(claim: LocalClaim, entering: Entering): Promise<EnterAnswer> {
    const { database, mode, maxQueue } = entering;
    // Only the first statement: were the others to wait as well, many calls would begin at once and none get in before its deadline.
    const beginning = database.going("beginning");
    for (;;) {
      // Where another call of this process is ahead, the statement would be in vain.
      const isAhead = this.claims.isTaken(claim.key) && !claim.mayHold;
      const taken = isAhead
        ? null
        : await this.#take(claim, () => this.#rows.takeFree(beginning, claim, entering));
      if (taken !== null) return this.#grant(claim, entering, taken);
      try {
        const mayWait = mode === "refuse" ? 0 : maxQueue;
        const joined = await this.#join(database, claim, mayWait);
        const answer = joined && (await this.#joined(claim, entering, joined));
        if (answer !== null) return answer;
        if (joined !== null) continue;
      } catch (error) {
        if (error instanceof QueueFull) {
          const { waiting, before } = error;
          return { kind: "busy", waiting, before };
        }
        if (!(error instanceof SlotExpired)) throw error;
        await removeExpired(database, claim.slot);
        continue;
      }
      const isNew = await this.#take(claim, async () =>
        (await this.#rows.takeNew(database, claim, entering)) ? NOTHING_THERE : null,
      );
      if (isNew !== null) return this.#grant(claim, entering, isNew);
    }
  }

  /** Remembers that the claim may have a place when the answer is lost. */
  async #join(database: Database, claim: LocalClaim, mayWait: number): Promise<Joined | null> {
    const before = claim.mayWait;
    claim.mayWait = true;
    try {
      const aliveMicros = this.leaseMs * 1_000;
      const joined = await joinQueue(database, claim, { mayWait, aliveMicros });
      claim.mayWait = joined !== null || before;
      return joined;
    } catch (error) {
      if (!UnknownOutcomeError.is(error)) claim.mayWait = before;
      throw error;
    }
  }

  async #joined(
    claim: LocalClaim,
    entering: Entering,
    { ticket, ahead }: Joined,
  ): Promise<EnterAnswer | null> {
    this.claims.joined(claim, ticket);
    this.#sweep();
    if (ahead > 0) return { kind: "wait", ahead, dueMs: claim.pauses.next(ahead - 1) };
    const answer = await this.#ask(claim, entering);
    if (answer?.kind !== "wait" || entering.mode !== "refuse") return answer;
    await this.#queue.leave(entering.database, claim);
    return { kind: "busy", waiting: answer.ahead };
  }

  /** Keeps the place of a claim that waits, and takes the slot if its turn has come; null when the place is gone. */
  async #ask(claim: LocalClaim, entering: Entering): Promise<EnterAnswer | null> {
    const { database } = entering;
    const isFirst = this.claims.isFirst(claim);
    const isKept = await this.#keepPlace(database, claim);
    if (isKept && !isFirst) return { kind: "wait", ahead: 1, dueMs: this.leaseMs / 3 };
    const standing = await this.#queue.look(database, claim);
    if (standing === null) {
      // Removed while this process stood still: to the end of the queue.
      this.claims.leftQueue(claim);
      return null;
    }
    if (standing.hasTurn) {
      // The answer with which it got its turn was lost. The lease counts from this command on, and others must see another version.
      if (await this.#rows.renew(database, claim)) return this.#grant(claim, entering, undefined);
      this.claims.leftQueue(claim);
      return null;
    }
    const { isHeld, ahead, behind, joins, before } = standing;
    const dead = isSame(before, entering.replaces) ? before : undefined;
    if (dead !== undefined && ahead > 0) {
      await this.#queue.remove(database, claim, dead);
      return { kind: "wait", ahead, dueMs: 0 };
    }
    if (ahead === 0 && (!isHeld || dead !== undefined)) {
      const terms = { ...entering, replaces: dead };
      const taken = await this.#take(claim, () =>
        this.#rows.takeTurn(database, claim, terms, behind === 0 ? joins : null),
      );
      if (taken?.signals !== undefined) this.claims.onSignals?.(claim, taken.signals);
      if (taken !== null) return this.#grant(claim, entering, taken);
    }
    // A holder of this process wakes the next when it gives the slot back.
    const isWoken = ahead === 0 && before?.token === this.claims.holderOf(claim.key)?.token;
    const dueMs = isWoken ? LONGEST_PAUSE_MS : claim.pauses.next(ahead);
    return { kind: "wait", ahead: ahead + 1, dueMs, before };
  }

  /** Renews a place when that is due; false when it is gone. */
  async #keepPlace(database: Database, claim: LocalClaim): Promise<boolean> {
    const now = performance.now();
    if (now - claim.renewedAt < this.leaseMs / 4) return true;
    const isKept = await this.#queue.renew(database, claim);
    if (isKept) claim.renewedAt = now;
    return isKept;
  }

  /** Remembers that the slot may have been taken when the answer is lost. */
  async #take<T>(claim: LocalClaim, run: () => Promise<T | null>): Promise<T | null> {
    const before = claim.mayHold;
    claim.mayHold = true;
    try {
      const taken = await run();
      claim.mayHold = taken !== null;
      return taken;
    } catch (error) {
      if (StoreUnavailableError.is(error)) claim.mayHold = before;
      throw error;
    }
  }

  /** @param taken - undefined when the slot was taken and the answer was lost */
  async #grant(claim: LocalClaim, entering: Entering, taken: Taken | undefined): Promise<Granted> {
    const { database, put } = entering;
    claim.mayHold = true;
    this.claims.held(claim);
    const { loaded, inbox } = await this.#read(database.going("ending"), claim, entering, taken);
    claim.mayBeEmpty = loaded === null;
    if (put !== undefined && !inbox.some(({ id }) => id === put.id)) throw inboxFull(claim.slot);
    return { kind: "granted", loaded, inbox };
  }

  /** Reads what the statement that took the slot did not say: usually nothing. */
  async #read(
    database: Database,
    { slot }: LocalClaim,
    { put, known }: Pick<Entering, "put" | "known">,
    taken: Taken | undefined,
  ): Promise<{ loaded: LoadAnswer; inbox: readonly InboxEntry[] }> {
    if (taken === undefined || (taken.hasState && !taken.isCurrent)) {
      const { state, inbox } = await loadWithInbox(database, slot, known);
      if (state !== null) return { loaded: state, inbox: readInbox(slot, inbox) };
    }
    const loaded = taken?.isCurrent ? "unchanged" : null;
    if (taken === undefined || taken.hadInbox)
      return { loaded, inbox: await this.#inbox.read(slot) };
    return { loaded, inbox: put === undefined ? [] : readInbox(slot, put.bytes) };
  }

  /** Now and then, beside the call's own work. */
  #sweep(): void {
    const now = performance.now();
    if (this.#sweptAt > 0 && now - this.#sweptAt < this.leaseMs) return;
    this.#sweptAt = now;
    this.#queue.sweep(this.#database).catch(() => undefined);
    this.nodes?.sweep().catch(() => undefined);
  }
}

function isSame(seen: SeenClaim | undefined, other: SeenClaim | undefined): boolean {
  return seen?.token === other?.token && seen?.version === other?.version;
}

/** Report on a slot that had no row. */
const NOTHING_THERE: Taken = { isCurrent: false, hasState: false, hadInbox: false };
