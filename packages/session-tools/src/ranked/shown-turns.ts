import type { ConversationLog, Slot } from "@holdfast/core";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import { type CallRemarks, UNFINISHED } from "../call-remarks.js";
import { isMessage, type MessageRecord } from "../log-records.js";
import { BlobReader } from "../render/blob-reader.js";
import { briefText } from "./brief-text.js";
import { excerptOf } from "./marked-snippet.js";

/** A message that is shown: a hit, or the one before or after a hit. */
export interface ShownTurn {
  readonly record: MessageRecord;
  /** Remark about its call. */
  readonly remark: string;
  /** The part of its text with the most matches; all of a short one. */
  readonly text: string;
  /** True when the message goes on before or after the text. */
  readonly isCut: boolean;
  /** Offset in the rendering of an index of the text. */
  offsetOf(index: number): number;
}

/** A hit with the messages around it, in order. */
export interface ShownHit {
  readonly slot: Slot;
  readonly turns: readonly ShownTurn[];
  /** Position of the hit among them. */
  readonly seq: number;
}

/** Parts that are needed to read hits. */
export interface TurnReading {
  readonly log: ConversationLog;
  readonly remarks: CallRemarks;
  readonly clock: YieldingClock;
  /** Tells whether a word was looked for. */
  isMatch(word: string): boolean;
}

/** Records read on either side of a hit; marks and discarded calls are among them. */
const NEAR = 6;

/** Reads a hit with the message before it and the one after it; null when it is gone or must not be shown. */
export async function readHit(
  reading: TurnReading,
  slot: Slot,
  seq: number,
): Promise<ShownHit | null> {
  const { log } = reading;
  const [[hit, ...later], earlier] = await Promise.all([
    log.read(slot, { after: seq - 1, limit: NEAR + 1 }),
    log.read(slot, { before: seq, limit: NEAR }),
  ]);
  if (hit?.seq !== seq || !isMessage(hit)) return null;
  const turn = await readTurn(reading, slot, hit);
  if (turn === null) return null;
  const before = await firstTurn(reading, slot, earlier.toReversed().filter(isMessage));
  const after = await firstTurn(reading, slot, later.filter(isMessage));
  return { slot, seq, turns: [before, turn, after].filter((each) => each !== null) };
}

async function firstTurn(
  reading: TurnReading,
  slot: Slot,
  records: readonly MessageRecord[],
): Promise<ShownTurn | null> {
  for (const record of records) {
    const turn = await readTurn(reading, slot, record);
    if (turn !== null && turn.text.trim() !== "") return turn;
  }
  return null;
}

async function readTurn(
  { log, remarks, clock, isMatch }: TurnReading,
  slot: Slot,
  record: MessageRecord,
): Promise<ShownTurn | null> {
  const remark = await remarks.remark(slot, record);
  if (remark === null) return null;
  const brief = await briefText(new BlobReader(log, slot, clock), record);
  const { text, start } = await excerptOf(brief.text, isMatch, clock);
  return {
    record,
    // That a call has no end yet says nothing about what was said in it.
    remark: remark === UNFINISHED ? "" : remark,
    text,
    isCut: text.length < brief.text.length,
    offsetOf: (index) => brief.offsetOf(start + index),
  };
}
