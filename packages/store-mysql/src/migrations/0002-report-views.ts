import type { Tables } from "../keys.js";
import type { Migration } from "./migration.js";

/** Creates the views for audit and reports; this package does not read them. */
export const reports: Migration = {
  number: 2,
  name: "report views",
  minReader: 1,
  statements: reportViews,
  optional:
    "the views session_report and usage_report; have a user who may CREATE VIEW and DROP run the CREATE VIEW statements of migrationStatements(), or call migrate() as that user",
};

/** Ids are stored as bytes; reports show them as text but still compare them byte by byte. */
const text = (column: string): string => `CONVERT(${column} USING utf8mb4) COLLATE utf8mb4_bin`;

/** `at` is the writer's time; anything but an ISO 8601 time becomes NULL. */
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
 * Returns the statements that create the views. They read columns only, never the JSON of a record, so encrypted or malformed
 * records do not affect them.
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
