import type { Revision } from "@holdfast/core";
import { revisionSeq } from "@holdfast/core/store-kit";
import { revisionParts } from "./op-ring.js";

/*
 * Short names of revisions in ledgers: 2 bytes of the number and 6 of the random bits. They are short because the server logs them
 * with every turn.
 */

const SEQ_BYTES = 2;
/** Distance up to which numbers of revisions are told apart. */
const SEQS = 2 ** (8 * SEQ_BYTES);

/** Bytes of a mark. */
export const MARK_BYTES: number = SEQ_BYTES + 6;

/** Returns the mark of a revision; undefined for one not made by `nextRevision`. */
export function markOf(revision: Revision): Buffer | undefined {
  const parts = revisionParts(revision);
  if (parts === undefined) return undefined;
  const mark = Buffer.alloc(MARK_BYTES);
  mark.writeUIntBE(Number(parts.seq % BigInt(SEQS)), 0, SEQ_BYTES);
  mark.write(parts.token, SEQ_BYTES, "hex");
  return mark;
}

/**
 * Returns the revision of a mark as {@link shortRevision} names it.
 *
 * @param newest - number of a later revision, from which that of the mark is completed
 */
export function markedRevision(mark: Buffer, newest: number): Revision {
  const seq = newest - ((SEQS + (newest % SEQS) - mark.readUIntBE(0, SEQ_BYTES)) % SEQS);
  return nameOf(seq, mark);
}

/** Returns a revision as ledgers name it. */
export function shortRevision(revision: Revision): Revision {
  const mark = markOf(revision);
  return mark === undefined ? "" : nameOf(revisionSeq(revision), mark);
}

function nameOf(seq: number, mark: Buffer): Revision {
  return `${seq}.${mark.toString("hex", SEQ_BYTES)}`;
}
