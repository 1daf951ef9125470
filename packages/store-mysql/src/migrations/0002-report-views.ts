import type { Tables } from "../keys.js";
import type { Migration } from "./migration.js";

/** Views for audit and reports; nothing of this package reads them. */
export const reports: Migration = {
  number: 2,
  name: "report views",
  minReader: 1,
  statements: reportViews,
  optional:
    "the views session_report and usage_report; have a user who may CREATE VIEW and DROP run the CREATE VIEW statements of migrationStatements(), or call migrate() as that user",
};

/** Ids are kept as bytes; reports show them as text, and compare them byte by byte all the same. */
const text = (column: string): string => `CONVERT(${column} USING utf8mb4) COLLATE utf8mb4_bin`;

/** `at` is what the writer said; what is no ISO 8601 time counts as none. */
const time = (column: string): string =>
  `STR_TO_DATE(LEFT(CONVERT(${column} USING utf8mb4), 23), '%Y-%m-%dT%H:%i:%s.%f')`;
const day = (column: string): string =>
  `DATE(STR_TO_DATE(LEFT(CONVERT(${column} USING utf8mb4), 10), '%Y-%m-%d'))`;

/** Names of the views, quoted for use in a statement. */
function reportNames({ prefix }: Tables): {
  readonly session: string;
  readonly usage: string;
} {
  return { session: `\`${prefix}session_report\``, usage: `\`${prefix}usage_report\`` };
}

/**
 * Statements that make the views for audit and reports. They look at columns only, never into a record: what is encrypted,
 * odd or nested deeply does not disturb them.
 */
function reportViews(tables: Tables): readonly string[] {
  const { slots, log } = tables;
  const names = reportNames(tables);
  return [
    `CREATE OR REPLACE VIEW ${names.session} AS
SELECT ${text("s.agent_id")} AS agent, ${text("s.user_id")} AS \`user\`, ${text("s.session_id")} AS session,
  s.n AS messages_in_context, COALESCE(l.log_records, 0) AS log_records, l.first_at, l.last_at,
  COALESCE(l.input_tokens, 0) AS input_tokens, COALESCE(l.output_tokens, 0) AS output_tokens
FROM ${slots} s LEFT JOIN (
  SELECT k, COUNT(*) AS log_records, MIN(${time("at")}) AS first_at, MAX(${time("at")}) AS last_at,
    SUM(input_tokens) AS input_tokens, SUM(output_tokens) AS output_tokens
  FROM ${log} GROUP BY k
) l ON l.k = s.k
WHERE s.rev IS NOT NULL OR s.log_seq > 0`,
    `CREATE OR REPLACE VIEW ${names.usage} AS
SELECT ${text("s.agent_id")} AS agent, ${text("s.user_id")} AS \`user\`, l.day,
  COUNT(DISTINCT l.k, l.call_id) AS calls, COUNT(*) AS model_calls,
  COALESCE(SUM(l.input_tokens), 0) AS input_tokens, COALESCE(SUM(l.output_tokens), 0) AS output_tokens,
  COALESCE(SUM(l.cached_tokens), 0) AS cached_tokens
FROM (
  SELECT k, call_id, ${day("at")} AS day, input_tokens, output_tokens, cached_tokens
  FROM ${log} WHERE input_tokens IS NOT NULL OR output_tokens IS NOT NULL
) l JOIN ${slots} s ON s.k = l.k
GROUP BY s.agent_id, s.user_id, l.day`,
  ];
}
