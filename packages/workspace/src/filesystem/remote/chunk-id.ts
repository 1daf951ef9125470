import { randomBytes } from "node:crypto";
import type { Manifest } from "./manifest.js";

/**
 * Makes ids for the chunks of one attempt to change a file. They say on which manifest the attempt is based, so that a
 * sweep can tell chunks that somebody is about to use from those that nobody can use any more.
 */
export function chunkIds({ life, seq }: Manifest): (index: number) => string {
  const attempt = randomBytes(6).toString("hex");
  return (index) => `${life}.${seq}.${attempt}.${index}`;
}

/**
 * Whether nobody can come to use a chunk any more, given a manifest that was read after the chunk was seen.
 *
 * An attempt ends in a compare-and-set on the manifest it is based on, and no manifest comes back: where a later one is
 * stored, or another life has begun, or none is left, the attempt has failed or is about to.
 */
export function isDeadChunk(id: string, current: Manifest | null): boolean {
  if (current === null) return true;
  const [life, seq] = id.split(".");
  if (life === current.life && Number(seq) >= current.seq) return false;
  return !current.chunks.some((chunk) => chunk.id === id);
}
