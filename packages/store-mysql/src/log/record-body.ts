/*
 * Column `body` of a record's row, in one of three forms that its start tells apart:
 *
 *   {"v":1,"seq":   the whole record, as earlier releases wrote all of them
 *   {               its message alone, byte by byte as a state would hold it
 *   "               its other fields
 *
 * The fields that the last two leave out are in columns of the row.
 */

const RECORD_START = '{"v":1,"seq":';
const MESSAGE_FIELD = '"message":';

/** Fields of a record that its row has in columns of their own. */
export interface RecordColumns {
  readonly id: string;
  readonly callId: string;
  readonly at: string;
  readonly kind: string;
}

/** Body of a record, but for the seq of a whole one. */
export interface RecordBody {
  /** Text in front of the seq; undefined when the body has no seq. */
  readonly start: string | undefined;
  readonly text: string;
  /** The body is the message of the record and nothing else. */
  readonly isMessage: boolean;
}

/**
 * Returns the body of a record.
 *
 * @param text - the record with the seq 0, as `logRecordText` writes it
 * @param columns - as they are stored, which may be shortened
 * @param hasMessageOnly - the record has no fields behind its message
 */
export function recordBody(
  text: string,
  columns: RecordColumns,
  hasMessageOnly: boolean,
): RecordBody {
  const start = fieldsBefore(0, columns);
  if (!text.startsWith(start))
    return { start: RECORD_START, text: text.slice(`${RECORD_START}0`.length), isMessage: false };
  const fields = text.slice(start.length, -1);
  const message = fields.slice(MESSAGE_FIELD.length);
  const isMessage = hasMessageOnly && !message.startsWith(RECORD_START);
  return { start: undefined, text: isMessage ? message : fields, isMessage };
}

/** Returns the whole text of a stored record, exactly as `logRecordText` writes it. */
export function wholeRecord(seq: number, columns: RecordColumns, body: string): string {
  if (body.startsWith(RECORD_START)) return body;
  const field = body.startsWith('"') ? "" : MESSAGE_FIELD;
  return `${fieldsBefore(seq, columns)}${field}${body}}`;
}

/** Returns the bytes of a body in a row with this seq. */
export function bodyBytes({ start, text }: RecordBody, seq: number): Buffer {
  return Buffer.from(start === undefined ? text : `${start}${seq}${text}`, "utf8");
}

function fieldsBefore(seq: number, { id, callId, at, kind }: RecordColumns): string {
  const texts = [id, callId, at, kind].map((field) => JSON.stringify(field));
  return `${RECORD_START}${seq},"id":${texts[0]},"callId":${texts[1]},"at":${texts[2]},"kind":${texts[3]},`;
}
