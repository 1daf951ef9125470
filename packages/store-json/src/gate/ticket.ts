import { isRecord } from "@holdfast/core/plugin-kit";
import type { ProcessIdentity } from "../process/process-identity.js";

/** A place in the queue for a slot. The lowest number that counts has the lease. */
export interface TicketFile extends ProcessIdentity {
  readonly number: number;
  readonly callId: string;
  readonly token: string;
  /** Id of the gate object that took it. */
  readonly gate: string;
  /** Time without a renewal after which it counts no more. */
  readonly leaseMs: number;
}

/** First byte of every ticket. */
export const TICKET_START = "{";

/** Contents of a ticket that was given back. */
export const RELEASED_TICKET: Buffer = Buffer.from('{"released":true}\n');

const NAME = /^([1-9][0-9]{0,14})\.json$/;

/** Returns the file name of a ticket. */
export function ticketName(number: number): string {
  return `${number}.json`;
}

/** Returns the number in a file name; null when it is not a ticket's. */
export function ticketNumber(name: string): number | null {
  const number = NAME.exec(name)?.[1];
  return number === undefined ? null : Number(number);
}

/** Encodes a ticket; its number is the name of the file. */
export function encodeTicket(ticket: Omit<TicketFile, "number">): Buffer {
  return Buffer.from(`${JSON.stringify({ ...ticket, released: false })}\n`);
}

/** Decodes a ticket; null when it was given back, or is empty, as a power loss may leave it. */
export function decodeTicket(number: number, text: string): TicketFile | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(value) || value["released"] === true) return null;
  const { pid, start, host, callId, token, gate, leaseMs } = value;
  if (typeof pid !== "number" || (start !== null && typeof start !== "string")) return null;
  if (typeof host !== "string" || typeof callId !== "string" || typeof token !== "string")
    return null;
  if (typeof gate !== "string" || typeof leaseMs !== "number") return null;
  return { number, pid, start, host, callId, token, gate, leaseMs };
}
