import { createHmac, timingSafeEqual } from "node:crypto";
import { StateCorruptError } from "../../errors/store-errors.js";
import { canonicalJson, isRecord, type JsonObject } from "../../json/json.js";
import { describeSlot, type Slot } from "../../slot/slot.js";
import { headBefore } from "../../state/head-undo.js";
import type { UnfinishedRun } from "../../state/sections.js";

/** Field of the head that holds the seal. */
const FIELD = "seal";

/** Options of {@link StateSeal}. */
export interface StateSealOptions {
  readonly key: string | Uint8Array;
  readonly acceptUnsealed?: boolean | undefined;
}

/**
 * Seals what decides which tools may run, so that a change made past the agent, in the store itself, is noticed.
 *
 * HMAC-SHA-256 over the ids of the session, `permissionContext` and `planModeContext`, and over both as they were before a run that
 * has not ended, to which a rollback goes back. It does not notice when the whole of them is put back to an earlier state of the
 * same session.
 */
export class StateSeal {
  readonly #key: string | Uint8Array;
  readonly #acceptsUnsealed: boolean;

  constructor({ key, acceptUnsealed = false }: StateSealOptions) {
    this.#key = key;
    this.#acceptsUnsealed = acceptUnsealed;
  }

  /** Returns a head with its seal. */
  seal(slot: Slot, head: JsonObject): JsonObject {
    return { ...head, [FIELD]: this.#mac(slot, head).toString("base64url") };
  }

  /** @throws StateCorruptError for a head whose seal does not fit, or that has none */
  check(slot: Slot, head: JsonObject): void {
    const { [FIELD]: stored } = head;
    if (stored === undefined && this.#acceptsUnsealed) return;
    const given = Buffer.from(typeof stored === "string" ? stored : "", "base64url");
    const wanted = this.#mac(slot, head);
    if (given.length === wanted.length && timingSafeEqual(given, wanted)) return;
    const found =
      stored === undefined
        ? "has no seal (integrity.acceptUnsealed takes sessions from before there was a key)"
        : "was changed outside of the agent, or sealed with another key";
    throw new StateCorruptError(
      `the permissions or the plan mode of ${describeSlot(slot)} cannot be trusted: its state ${found}. Look at it with getAgentState(…, { salvage: true }), and set both anew with updateAgentState(…, edit, { salvage: true })`,
    );
  }

  #mac({ agentId, userId, sessionId }: Slot, head: JsonObject): Buffer {
    const present = sealedOf(head);
    const before = sealedBefore(head) ?? present;
    const isSame = canonicalJson(before) === canonicalJson(present);
    const sealed = [agentId, userId, sessionId, ...present, ...(isSame ? [] : before)];
    return createHmac("sha256", this.#key).update(canonicalJson(sealed)).digest();
  }
}

function sealedOf({ permissionContext, planModeContext }: JsonObject): readonly unknown[] {
  return [permissionContext, planModeContext];
}

/** Returns what is sealed of the head before a run that has not ended; undefined where there is none. */
function sealedBefore(head: JsonObject): readonly unknown[] | undefined {
  const { unfinishedRun: run } = head;
  if (!isRecord(run)) return undefined;
  try {
    return sealedOf(headBefore(head, run as unknown as UnfinishedRun));
  } catch {
    // It was changed, and is no run.
    return ["unreadable"];
  }
}
