import { StateTooLargeError } from "@holdfast/core";
import { asNumber } from "./cells.js";
import type { Session, Value } from "./session.js";

/** Largest value of a MEDIUMBLOB column; a server that is not strict would cut a longer one silently. */
const MAX_VALUE_BYTES = 16_777_215;
/** Upper bounds of the bytes of a statement besides its values, and of a value besides its content. */
const STATEMENT_OVERHEAD = 1_024;
const VALUE_OVERHEAD = 16;
/** Statements up to this size fit every server, so its limit need not be queried. */
const ALWAYS_FITS = 65_536;

/** Refuses oversized statements before they are sent: a server may answer one by just closing the connection. */
export class PacketLimit {
  #maxBytes: number | undefined;

  /**
   * Returns when a statement with these values may be sent.
   *
   * @throws StateTooLargeError
   */
  async check(session: Session, what: string, values: readonly Value[]): Promise<void> {
    const sizes = values.map(sizeOf);
    const bytes = sizes.reduce((sum, size) => sum + size + VALUE_OVERHEAD, STATEMENT_OVERHEAD);
    if (bytes <= ALWAYS_FITS) return;
    const largest = Math.max(...sizes);
    if (largest > MAX_VALUE_BYTES)
      throw new StateTooLargeError(
        `${what} has a part of ${largest} bytes; at most ${MAX_VALUE_BYTES} can be stored in one piece`,
      );
    if (this.#maxBytes === undefined) {
      const [row] = await session.read("SELECT @@max_allowed_packet", []);
      this.#maxBytes = asNumber(row?.[0]);
    }
    if (bytes > this.#maxBytes)
      throw new StateTooLargeError(
        `${what} takes ${bytes} bytes in one statement; the server's max_allowed_packet is ${this.#maxBytes}, raise it or store less at once`,
      );
  }
}

function sizeOf(value: Value): number {
  if (Buffer.isBuffer(value)) return value.length;
  return typeof value === "string" ? value.length * 3 : 8;
}
