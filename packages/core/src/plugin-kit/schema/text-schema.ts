import { Schema } from "./schema.js";
import { addFailedCheck, addWrongType } from "./schema-issue.js";

/** Schema of texts. */
export class TextSchema extends Schema<string> {
  /** Refuses texts of fewer characters. */
  min(least: number): this {
    return this.#check((text) => text.length >= least, {
      code: "too_small",
      message: `Too small: expected string to have >=${least} characters`,
      json: ({ minLength = 0 }) => ({ minLength: Math.max(Number(minLength), least) }),
    });
  }

  /** Refuses texts of more characters. */
  max(most: number): this {
    return this.#check((text) => text.length <= most, {
      code: "too_big",
      message: `Too big: expected string to have <=${most} characters`,
      json: ({ maxLength = most }) => ({ maxLength: Math.min(Number(maxLength), most) }),
    });
  }

  /** Refuses texts that do not match a pattern. */
  regex(pattern: RegExp, message = `Invalid string: must match pattern ${pattern}`): this {
    // A pattern with the flag g would go on where it stopped at the last text.
    const matches = (text: string): boolean => new RegExp(pattern).test(text);
    const own = { pattern: pattern.source };
    return this.#check(matches, {
      code: "invalid_format",
      message,
      json: ({ pattern: first, allOf = [] }) =>
        first === undefined ? own : { allOf: [...(allOf as object[]), own] },
    });
  }

  /** Removes white space at both ends, before the checks that follow. */
  trim(): this {
    return this.with((text) => (text as string).trim());
  }

  /** Writes the text in lower case, before the checks that follow. */
  toLowerCase(): this {
    return this.with((text) => (text as string).toLowerCase());
  }

  #check(
    isFine: (text: string) => boolean,
    failure: {
      readonly code: "too_small" | "too_big" | "invalid_format";
      readonly message: string;
      readonly json?: (known: Record<string, unknown>) => Record<string, unknown>;
    },
  ): this {
    const { code, message, json } = failure;
    return this.with(
      (text, issues) => {
        if (!isFine(text as string)) addFailedCheck(issues, code, message, text);
        return text;
      },
      (known) => ({ ...known, ...json?.(known) }),
    );
  }
}

/** Makes a schema of texts. */
export function string(): TextSchema {
  return new TextSchema({
    read: (value, issues) =>
      typeof value === "string" ? value : addWrongType(issues, "string", value),
    json: () => ({ type: "string" }),
  });
}
