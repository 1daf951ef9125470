import { randomUUID } from "node:crypto";
import type { Slot } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";
import { slotHash } from "../keys.js";
import { Alarm } from "./alarm.js";

/** A call's claim on a slot in this process, from asking for it until its lease has ended. */
export class Claim {
  /** Names the claim in the store: first beside its ticket, then as its lease. */
  readonly token: string = randomUUID();
  readonly tokenBytes: Buffer = Buffer.from(this.token, "utf8");
  readonly slot: Slot;
  readonly k: Buffer;
  /** Names the slot in maps. */
  readonly key: string;
  readonly callId: string;
  readonly callIdBytes: Buffer;
  /** Wakes the call while it waits. */
  readonly alarm: Alarm = new Alarm();
  /** Its number in the line, while it waits. */
  ticket: number | undefined;
  /** When the last sign of life the store acknowledged was sent, on the clock of `performance.now()`. */
  seenAt: number = performance.now();
  /** Signals that lay beside its ticket when its turn came. */
  signals: Buffer | undefined;
  /** How many bytes of signals were seen beside it. */
  signalBytes = 0;

  constructor(slot: Slot, callId: string) {
    this.slot = slot;
    this.k = slotHash(slot);
    this.key = slotText(slot);
    this.callId = callId;
    this.callIdBytes = Buffer.from(callId, "utf8");
  }
}
