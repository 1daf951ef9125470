import { InvalidInputError } from "../errors/errors.js";

/**
 * How many entries a page may have: `limit`, or `otherwise` when none was given.
 *
 * @throws InvalidInputError unless it is a whole number of at least 1
 */
export function checkLimit(limit: number | undefined, otherwise: number): number {
  if (limit === undefined) return otherwise;
  if (!Number.isInteger(limit) || limit < 1)
    throw new InvalidInputError(`limit is ${limit}; it must be a whole number of at least 1`);
  return limit;
}
