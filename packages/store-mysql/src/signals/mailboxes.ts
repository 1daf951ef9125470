import type { Slot } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import { asBytesOrNone, asNumber, asNumberOrZero, asText } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import type { Value } from "../connection/session.js";
import type { LocalClaim } from "../gate/local-claim.js";
import { slotHash } from "../keys.js";
import { LEASE_END } from "../state/state-row.js";

/** Place for signals to a call: beside its lease (no ticket), or beside its ticket. */
export interface Address {
  readonly ticket: number | undefined;
  readonly token: string;
}

/** Signals that lie beside a claim of this process. */
export interface Mail {
  readonly claim: LocalClaim;
  readonly bytes: number;
}

/** Numbers of claims that one statement looks at. */
const BATCH_SIZES: readonly number[] = [1, 8, 64];
/** Beside one token; a call that does not listen must not be filled up. */
const MAX_BYTES = 1_048_576;

/** Signals as they lie beside leases and tickets. They go with the token they lie beside. */
export class Mailboxes {
  readonly #database: Database;
  readonly #aliveMicros: number;

  constructor(database: Database, leaseMs: number) {
    this.#database = database;
    this.#aliveMicros = leaseMs * 1_000;
  }

  /** Finds the places of a call that holds, waits or listens. */
  async find(slot: Slot, callId: string): Promise<readonly Address[]> {
    const { slots, waiters } = this.#database.tables;
    const values = [slotHash(slot), Buffer.from(callId, "utf8")];
    const rows = await this.#database.read(
      signalling(slot),
      `SELECT 0, lease_holder FROM ${slots} WHERE k = ? AND lease_call = ? AND lease_until > UTC_TIMESTAMP(6)
UNION ALL SELECT id, token FROM ${waiters} WHERE k = ? AND call_id = ? AND alive_until > UTC_TIMESTAMP(6)`,
      [...values, ...values],
    );
    return rows.map(([id, token]) => ({
      ticket: asNumber(id) === 0 ? undefined : asNumber(id),
      token: asText(token),
    }));
  }

  /** Puts a signal there; false when the call ended meanwhile. */
  async put(slot: Slot, { ticket, token }: Address, entry: Buffer): Promise<boolean> {
    const { slots, waiters } = this.#database.tables;
    const tokenBytes = Buffer.from(token, "utf8");
    if (ticket !== undefined) {
      const { affectedRows } = await this.#database.write(
        signalling(slot),
        `UPDATE ${waiters} SET signals = CONCAT(COALESCE(signals, ''), ?) WHERE id = ? AND token = ? AND COALESCE(LENGTH(signals), 0) < ${MAX_BYTES}`,
        [entry, ticket, tokenBytes],
      );
      if (affectedRows > 0) return true;
    }
    // A ticket that is gone may have become the lease.
    const { affectedRows } = await this.#database.write(
      signalling(slot),
      `UPDATE ${slots} SET lease_signals = CONCAT(COALESCE(lease_signals, ''), ?) WHERE k = ? AND lease_holder = ? AND lease_until > ${LEASE_END} AND COALESCE(LENGTH(lease_signals), 0) < ${MAX_BYTES}`,
      [entry, slotHash(slot), tokenBytes],
    );
    return affectedRows > 0;
  }

  /** Returns the number of bytes beside each of these claims that has signals. */
  async look(claims: readonly LocalClaim[]): Promise<readonly Mail[]> {
    const { slots, waiters } = this.#database.tables;
    const waiting = new Map(claims.map((claim) => [claim.ticket, claim]));
    waiting.delete(undefined);
    const holding = new Map(
      claims
        .filter(({ ticket }) => ticket === undefined)
        .map((claim) => [claim.token, claim] as const),
    );
    const mail: Mail[] = [];
    for await (const [id, bytes] of this.#inShapes(
      [...waiting.keys()].map(Number),
      (marks) =>
        `SELECT id, LENGTH(signals) FROM ${waiters} WHERE id IN (${marks}) AND signals IS NOT NULL`,
    )) {
      const claim = waiting.get(asNumber(id));
      if (claim !== undefined) mail.push({ claim, bytes: asNumberOrZero(bytes) });
    }
    for await (const [token, bytes] of this.#inShapes(
      [...holding.values()].map(({ k }) => k),
      (marks) =>
        `SELECT lease_holder, LENGTH(lease_signals) FROM ${slots} WHERE k IN (${marks}) AND lease_signals IS NOT NULL`,
    )) {
      const claim = holding.get(asText(token));
      if (claim !== undefined) mail.push({ claim, bytes: asNumberOrZero(bytes) });
    }
    return mail;
  }

  /** Returns the signals beside a claim. */
  async fetch(claim: LocalClaim): Promise<Buffer> {
    const { slots, waiters } = this.#database.tables;
    const [row] =
      claim.ticket === undefined
        ? await this.#database.read(
            signalling(claim.slot),
            `SELECT lease_signals FROM ${slots} WHERE k = ? AND lease_holder = ?`,
            [claim.k, claim.tokenBytes],
          )
        : await this.#database.read(
            signalling(claim.slot),
            `SELECT signals FROM ${waiters} WHERE id = ?`,
            [claim.ticket],
          );
    return asBytesOrNone(row?.[0]);
  }

  /** Makes a place for signals to a call that is in no queue of ours; returns its ticket. */
  async open(claim: LocalClaim): Promise<number> {
    const { insertId } = await this.#database.write(
      `listening for signals to a call of ${describeSlot(claim.slot)}`,
      `INSERT INTO ${this.#database.tables.waiters} (k, kind, token, call_id, alive_until) VALUES (?, 'listener', ?, ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)`,
      [claim.k, claim.tokenBytes, claim.callIdBytes, this.#aliveMicros],
    );
    return insertId;
  }

  /** Keeps a place; false when it is gone. */
  async renew(claim: LocalClaim): Promise<boolean> {
    const { affectedRows } = await this.#database.write(
      `listening for signals to a call of ${describeSlot(claim.slot)}`,
      `UPDATE ${this.#database.tables.waiters} SET alive_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE id = ?`,
      [this.#aliveMicros, claim.ticket ?? 0],
    );
    return affectedRows > 0;
  }

  /** Removes the place, with signals that came too late. */
  async remove(claim: LocalClaim): Promise<void> {
    await this.#database.write(
      `ending to listen for signals to a call of ${describeSlot(claim.slot)}`,
      `DELETE FROM ${this.#database.tables.waiters} WHERE id = ?`,
      [claim.ticket ?? 0],
    );
  }

  /** Rows of a statement over any number of values, in few shapes: the last value fills up a list. */
  async *#inShapes(values: readonly Value[], sql: (marks: string) => string) {
    for (let start = 0; start < values.length; ) {
      const left = values.length - start;
      const size = BATCH_SIZES.find((shape) => shape >= left) ?? 64;
      const list = Array.from(
        { length: size },
        (_, index) => values[Math.min(start + index, values.length - 1)] ?? null,
      );
      const marks = list.map(() => "?").join(", ");
      yield* await this.#database.read("looking for signals", sql(marks), list);
      start += size;
    }
  }
}

function signalling(slot: Slot): string {
  return `signalling a call of ${describeSlot(slot)}`;
}
