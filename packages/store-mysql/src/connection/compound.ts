/** Statement that makes a compound statement fail, and so nothing is written. */
export const REFUSE = "SIGNAL SQLSTATE '45000'";

/**
 * Returns a statement of MariaDB that runs others in a transaction, with one round trip: the first, and the rest if it changed a
 * row. Otherwise it fails, and nothing is written. The rest can use `v_last_id`, the value that the first passed to `LAST_INSERT_ID`.
 */
export function compound(
  first: string,
  rest: readonly string[],
  variables: readonly string[] = [],
): string {
  return compoundBlock(
    ["v_last_id BIGINT UNSIGNED", ...variables],
    [
      first,
      `IF ROW_COUNT() = 0 THEN ${REFUSE}; END IF`,
      "SET v_last_id = LAST_INSERT_ID()",
      ...rest,
      "COMMIT",
    ],
  );
}

/**
 * Returns a statement of MariaDB that runs others, beginning a transaction that they have to end; one that fails is rolled
 * back. A variable hides columns of the same name, hence the `v_` in front of each. A query inside `IF` or `SET` locks what it reads,
 * and the gaps between; `SELECT … INTO` does not.
 */
export function compoundBlock(variables: readonly string[], statements: readonly string[]): string {
  return `BEGIN NOT ATOMIC
${variables.map((variable) => `DECLARE ${variable};\n`).join("")}DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
START TRANSACTION;
${statements.map((sql) => `${sql};\n`).join("")}END`;
}
