import { asBytes, asNumber, asNumberOrZero, type Row } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import { rowBatches } from "../connection/row-batches.js";
import type { Value } from "../connection/session.js";
import { LIKE_ESCAPE } from "./like-pattern.js";
import { RECORD_COLUMNS } from "./read-log.js";
import {
  type SearchedSession,
  type SearchWindow,
  WINDOWS_PER_STATEMENT,
} from "./search-windows.js";

/** A record that may match. */
export interface SearchCandidate {
  readonly session: SearchedSession;
  readonly seq: number;
  readonly bytes: number;
}

/** A candidate and its row, without its slot. */
export interface CandidateRow extends SearchCandidate {
  readonly row: Row;
}

const what = "searching the log";
const IN_WINDOW = "(k = ? AND record_seq > ? AND record_seq <= ?)";

/** Finds the messages in the windows that may match, newest first in each. Records with long texts always may. */
export async function scanWindows(
  database: Database,
  windows: readonly SearchWindow[],
  pattern: string | null,
): Promise<SearchCandidate[]> {
  const places = windows.length === 1 ? 1 : WINDOWS_PER_STATEMENT;
  const values: Value[] = Array.from({ length: places }, (_, at) => windows[at]).flatMap(
    // Empty windows fill up the statement.
    (window) => [
      window?.session.k ?? windows[0]?.session.k ?? null,
      window?.after ?? 0,
      window?.last ?? 0,
    ],
  );
  const like = `CONVERT(body USING utf8mb4) LIKE CONVERT(? USING utf8mb4) COLLATE utf8mb4_general_ci ESCAPE '${LIKE_ESCAPE}'`;
  const rows = await database.read(
    what,
    `SELECT k, record_seq, LENGTH(body) FROM ${database.tables.log} WHERE (${Array(places).fill(IN_WINDOW).join(" OR ")}) AND kind = 'message'${pattern === null ? "" : ` AND (has_blobs = 1 OR ${like})`}`,
    pattern === null ? values : [...values, Buffer.from(pattern, "utf8")],
  );
  return windows.flatMap(({ session, after, last }) =>
    rows
      .filter(
        ([k, seq]) =>
          session.k.equals(asBytes(k)) && asNumber(seq) > after && asNumber(seq) <= last,
      )
      .map(([, seq, bytes]) => ({ session, seq: asNumber(seq), bytes: asNumberOrZero(bytes) }))
      .sort((one, other) => other.seq - one.seq),
  );
}

/** Reads the candidates' rows in order, in batches; those deleted meanwhile are left out. */
export async function* candidateRows(
  database: Database,
  candidates: readonly SearchCandidate[],
): AsyncGenerator<readonly CandidateRow[]> {
  for (const batch of rowBatches(candidates, ({ bytes }) => bytes)) {
    const rows = await database.read(
      what,
      `SELECT k, ${RECORD_COLUMNS} FROM ${database.tables.log} WHERE ${batch.map(() => "(k = ? AND record_seq = ?)").join(" OR ")}`,
      batch.flatMap(({ session, seq }) => [session.k, seq]),
    );
    yield batch.flatMap((candidate) => {
      const row = rows.find(
        ([k, seq]) => candidate.session.k.equals(asBytes(k)) && asNumber(seq) === candidate.seq,
      );
      return row === undefined ? [] : { ...candidate, row: row.slice(1) };
    });
  }
}
