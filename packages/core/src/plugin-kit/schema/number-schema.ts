import { Schema } from "./schema.js";
import { addFailedCheck, addWrongType } from "./schema-issue.js";

/** Schema of finite numbers. */
export class NumberSchema extends Schema<number> {
  /** Refuses smaller numbers. */
  min(bound: number): this {
    return this.#bound("minimum", bound, (number) => number >= bound);
  }

  /** Refuses numbers that are not greater. */
  gt(bound: number): this {
    return this.#bound("exclusiveMinimum", bound, (number) => number > bound);
  }

  /** Refuses greater numbers. */
  max(bound: number): this {
    return this.#bound("maximum", bound, (number) => number <= bound);
  }

  /** Refuses numbers that are not less. */
  lt(bound: number): this {
    return this.#bound("exclusiveMaximum", bound, (number) => number < bound);
  }

  /** Refuses 0 and less. */
  positive(): this {
    return this.gt(0);
  }

  /** Refuses less than 0. */
  nonnegative(): this {
    return this.min(0);
  }

  /** Refuses numbers with a fraction, and those that are too large to be exact. */
  int(): this {
    const most = Number.MAX_SAFE_INTEGER;
    return this.with(
      (value, issues) => {
        const number = value as number;
        if (!Number.isInteger(number)) addWrongType(issues, "int", number);
        else if (number > most)
          addFailedCheck(issues, "too_big", `Too big: expected int to be <=${most}`, number);
        else if (number < -most)
          addFailedCheck(issues, "too_small", `Too small: expected int to be >=${-most}`, number);
        return number;
      },
      (json) => ({
        ...withBound(withBound(json, "minimum", -most), "maximum", most),
        type: "integer",
      }),
    );
  }

  #bound(kind: Bound, bound: number, isFine: (number: number) => boolean): this {
    const { code, words, sign } = bounds[kind];
    const message = `${words}: expected number to be ${sign}${bound}`;
    return this.with(
      (value, issues) => {
        if (!isFine(value as number)) addFailedCheck(issues, code, message, value);
        return value;
      },
      (json) => withBound(json, kind, bound),
    );
  }
}

type Bound = "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum";

const small = { code: "too_small", words: "Too small" } as const;
const big = { code: "too_big", words: "Too big" } as const;
const bounds = {
  minimum: { ...small, sign: ">=", other: "exclusiveMinimum" },
  exclusiveMinimum: { ...small, sign: ">", other: "minimum" },
  maximum: { ...big, sign: "<=", other: "exclusiveMaximum" },
  exclusiveMaximum: { ...big, sign: "<", other: "maximum" },
} as const;

/** Describes a bound as well, unless there is a tighter one on its side. */
function withBound(
  json: Record<string, unknown>,
  kind: Bound,
  bound: number,
): Record<string, unknown> {
  const { other, code } = bounds[kind];
  const { [kind]: same, [other]: opposite, ...rest } = json;
  const known = (same ?? opposite) as number | undefined;
  const isLooser = known !== undefined && (code === "too_small" ? bound < known : bound > known);
  const isRepeated = known === bound && kind.startsWith("m");
  return isLooser || isRepeated ? json : { ...rest, [kind]: bound };
}

/** Makes a schema of finite numbers. */
export function number(): NumberSchema {
  return new NumberSchema({
    read: (value, issues) =>
      typeof value === "number" && Number.isFinite(value)
        ? value
        : addWrongType(issues, "number", value),
    json: () => ({ type: "number" }),
  });
}

/** Makes a schema of whole numbers. */
export function int(): NumberSchema {
  return number().int();
}
