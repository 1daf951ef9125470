import { InvalidInputError } from "../errors/errors.js";
import { showValue, unfitFields } from "./show-value.js";

/**
 * Returns a sentence about each key of `value` that is not among `known`, with the nearest one that is.
 *
 * @param what - what the keys name, for example `option`
 */
export function unknownNames(
  value: object,
  known: readonly string[],
  what: string,
): readonly string[] {
  return fieldNames(value)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const nearest = nearestName(key, known);
      const all = known.length === 0 ? "" : `; there are ${known.join(", ")}`;
      const advice = nearest === undefined ? all : `; did you mean ${nearest}?`;
      return `unknown ${what} ${showValue(key)}${advice}`;
    });
}

/** Returns the keys of an object and the names of its getters, which its classes hold. */
export function fieldNames(value: object): readonly string[] {
  const names = Object.keys(value);
  const above = Object.getPrototypeOf;
  // The last level is that of all objects, of whichever realm.
  for (let level = above(value); level && above(level); level = above(level))
    for (const [name, field] of Object.entries(Object.getOwnPropertyDescriptors(level)))
      if ((field as PropertyDescriptor).get) names.push(name);
  return names;
}

/** Returns the unknown key of `value` that was probably meant to be `name`; undefined when there is none. */
export function misspellingOf(
  name: string,
  value: object,
  known: readonly string[],
): string | undefined {
  return Object.keys(value).find((key) => !known.includes(key) && nearestName(key, known) === name);
}

/**
 * Returns the options that a caller passed to a method; an empty object for none.
 *
 * @param known - every option there is
 * @throws InvalidInputError when it is not an object, or an option is unknown
 */
export function checkOptions<T extends object>(
  value: unknown,
  known: readonly (keyof T & string)[],
  method: string,
): T {
  if (value === undefined) return {} as T;
  const unfit = unfitFields(value);
  if (unfit !== null)
    throw new InvalidInputError(`the options of ${method} must be an object: ${unfit}`);
  const [problem] = unknownNames(value as object, known, "option");
  if (problem !== undefined) throw new InvalidInputError(`${method}: ${problem}`);
  return value as T;
}

/** Returns the name that `name` was probably meant to be; undefined when none is near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name);
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, plain(candidate), least);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

/** Upper and lower case, `_` and `-` are the usual mistakes. */
function plain(name: string): string {
  return name.slice(0, 64).toLowerCase().replaceAll(/[_-]/g, "");
}

/** Edit distance in which two neighbours that changed places count once; at least `limit` when it is not smaller than that. */
export function editDistance(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) >= limit) return limit;
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      next.push(
        Math.min(
          (row[j] as number) + 1,
          (next[j - 1] as number) + 1,
          (row[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1),
          isSwapped && i > 1 && j > 1 ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    before = row;
    row = next;
  }
  return row[other.length] as number;
}
