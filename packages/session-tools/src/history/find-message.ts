import { InvalidInputError } from "@holdfast/core";
import { isMessage, type MessageRecord } from "../message-record.js";
import type { Reading } from "./reading.js";

/** A message that may be shown, and what is said about its call. */
export interface FoundMessage {
  readonly record: MessageRecord;
  readonly remark: string;
}

/**
 * The message at a position.
 *
 * @throws InvalidInputError when there is none to be shown
 */
export async function findMessage(
  { log, slot, states }: Reading,
  at: number,
): Promise<FoundMessage> {
  const [record] = await log.read(slot, { before: at + 1, limit: 1 });
  if (record === undefined || record.seq !== at || !isMessage(record))
    throw new InvalidInputError(
      `there is no message at position ${at}; without \`at\` you see which positions there are`,
    );
  const remark = await states.remark(slot, record);
  if (remark === null)
    throw new InvalidInputError(
      `the message at position ${at} was discarded with its call; includeDiscarded: true shows it`,
    );
  return { record, remark };
}
