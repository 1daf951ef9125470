import { setTimeout as sleep } from "node:timers/promises";
import { type Tool, tool } from "@holdfast/core";
import { z } from "zod";
import { bookings, piers } from "./bookings.js";

/** Time that a look at one pier takes. */
const PIER_MS = 250;

/** Reads only, and so runs without asking; tells how far it is. */
const findBookings = tool({
  name: "find_bookings",
  description: "Lists bookings of boats, pier by pier.",
  input: z.object({ status: z.enum(["overdue", "all"]) }),
  readOnly: true,
  async execute({ status }, { progress, signal }) {
    for (const [done, pier] of piers.entries()) {
      progress({ done, total: piers.length, note: `looks at ${pier}` });
      await sleep(PIER_MS, undefined, { signal });
    }
    return bookings.filter(({ daysLate }) => status === "all" || daysLate > 0);
  },
});

/** Acts on the world, and so asks. */
const sendMail = tool({
  name: "send_mail",
  description: "Sends a mail to a guest.",
  input: z.object({ to: z.string(), subject: z.string(), text: z.string() }),
  // Rules such as send_mail(ann@example.com) are compared with the recipient.
  permission: { subject: ({ to }) => ({ kind: "text", value: to }) },
  execute: ({ to }) => `Sent to ${to}.`,
});

/** Tools of the desk. */
export const deskTools: readonly Tool[] = [findBookings, sendMail];
