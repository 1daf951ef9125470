import { isRecord } from "@holdfast/core/plugin-kit";
import type { ProcessIdentity } from "../process/process-identity.js";

/** A place in the line for a slot. The lowest number whose holder lives has the lease. */
export interface Ticket extends ProcessIdentity {
  readonly number: number;
  readonly callId: string;
  readonly token: string;
  /** Which gate object took it. */
  readonly gate: string;
  /** Without a sign of life for that long it counts no more. */
  readonly leaseMs: number;
  /** Given back. Kept while it is the highest, so that numbers never repeat. */
  readonly released: boolean;
}

const NAME = /^([1-9][0-9]{0,14})\.json$/;

/** File name of a ticket. */
export function ticketName(number: number): string {
  return `${number}.json`;
}

/** The number in a file name, or null when it is no ticket's. */
export function ticketNumber(name: string): number | null {
  const number = NAME.exec(name)?.[1];
  return number === undefined ? null : Number(number);
}

/** A ticket as file contents; a released one says no more than that. */
export function encodeTicket({ number: _, ...ticket }: Ticket): Buffer {
  return Buffer.from(`${JSON.stringify(ticket.released ? { released: true } : ticket)}\n`);
}

/** The ticket in a file; null when it was given back, or is none (a power loss may empty it: nobody holds it then). */
export function decodeTicket(number: number, text: string): Ticket | null {
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
  return { number, pid, start, host, callId, token, gate, leaseMs, released: false };
}
