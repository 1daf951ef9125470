import { InvalidInputError, type Revision } from "@holdfast/core";
import { REMEMBERED_OPS } from "@holdfast/core/store-kit";
import { digest } from "../keys.js";

/** Bytes of the hash of an op, and of an entry: the hash, the number of the revision, its 128 random bits. */
const OP_BYTES = 16;
const OP_ENTRY_BYTES: number = OP_BYTES + 8 + 16;

/** Bytes of a full ring, to which `ops` is truncated. */
export const RING_BYTES: number = OP_ENTRY_BYTES * REMEMBERED_OPS;

const form = /^(0|[1-9]\d{0,15})\.([0-9a-f]{32})$/;

/** Returns the number of a revision and its random bits in hexadecimal; undefined for one not made by `nextRevision`. */
export function revisionParts(revision: Revision): { seq: bigint; token: string } | undefined {
  const [, seq = "", token = ""] = form.exec(revision) ?? [];
  return seq === "" ? undefined : { seq: BigInt(seq), token };
}

/** Hash of an op in the ring: entries have a fixed width, so that one statement can add and search them. */
export function opHash(op: string): Buffer {
  return digest(op).subarray(0, OP_BYTES);
}

/**
 * Encodes the entry of a save, to be put in front of the others.
 *
 * @throws InvalidInputError for a revision that was not made by `nextRevision`
 */
export function opEntry(op: string, revision: Revision): Buffer {
  const parts = revisionParts(revision);
  if (parts === undefined)
    throw new InvalidInputError("the revision of a save must be made with nextRevision()");
  const entry = Buffer.alloc(OP_ENTRY_BYTES);
  opHash(op).copy(entry);
  entry.writeBigUInt64BE(parts.seq, OP_BYTES);
  entry.write(parts.token, OP_BYTES + 8, "hex");
  return entry;
}

/** Returns the revisions of all ops that the ring remembers. */
export function revisionsInRing(ring: Buffer): Revision[] {
  const revisions: Revision[] = [];
  for (let at = 0; at + OP_ENTRY_BYTES <= ring.length; at += OP_ENTRY_BYTES)
    revisions.push(revisionAt(ring, at));
  return revisions;
}

/** Returns the revision that `op` produced, if the ring remembers it. */
export function revisionInRing(ring: Buffer, op: string): Revision | undefined {
  const hash = opHash(op);
  for (let at = 0; at + OP_ENTRY_BYTES <= ring.length; at += OP_ENTRY_BYTES) {
    if (!ring.subarray(at, at + OP_BYTES).equals(hash)) continue;
    return revisionAt(ring, at);
  }
  return undefined;
}

function revisionAt(ring: Buffer, at: number): Revision {
  const seq = ring.readBigUInt64BE(at + OP_BYTES);
  return `${seq}.${ring.subarray(at + OP_BYTES + 8, at + OP_ENTRY_BYTES).toString("hex")}`;
}
