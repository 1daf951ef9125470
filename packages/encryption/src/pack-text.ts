import { constants, deflateRawSync, inflateRawSync } from "node:zlib";

/** Shorter texts gain little. */
const COMPRESSED_FROM_BYTES = 1_024;
const PLAIN = 0;
const DEFLATED = 1;

/**
 * The bytes of a text as they are encrypted: one that says how, then the text in UTF-8, deflated where that makes it
 * shorter. It makes up for the third that base64 adds, so that what fits a store's limits fits them encrypted too.
 *
 * A length tells a little more about a compressed text than about a plain one. What makes that dangerous in a connection
 * is an attacker who has his own text compressed together with a secret, over and over; here every record is compressed
 * by itself and holds the text of one session.
 */
export function packText(text: string, compress: boolean = true): Buffer {
  const bytes = Buffer.from(text, "utf8");
  if (compress && bytes.length >= COMPRESSED_FROM_BYTES) {
    // Nobody else runs meanwhile: time counts more than the last few bytes.
    const deflated = deflateRawSync(bytes, { level: constants.Z_BEST_SPEED });
    if (deflated.length < bytes.length) return Buffer.concat([Buffer.of(DEFLATED), deflated]);
  }
  return Buffer.concat([Buffer.of(PLAIN), bytes]);
}

/** The inverse of {@link packText}; throws for anything else. */
export function unpackText(bytes: Buffer): string {
  const rest = bytes.subarray(1);
  switch (bytes[0]) {
    case PLAIN:
      return rest.toString("utf8");
    case DEFLATED:
      return inflateRawSync(rest).toString("utf8");
    default:
      throw new TypeError("not packed by packText");
  }
}
