import type { StandardSchemaV1 } from "@standard-schema/spec";
import { InvalidInputError } from "../../errors/errors.js";
import { isRecord } from "../../json/json.js";
import { addFailedCheck, type FoundIssue, isBroken, type SchemaIssue } from "./schema-issue.js";

/** Reads a value: returns it, perhaps changed, and adds what is wrong with it to `issues`. */
export type Reader = (value: unknown, issues: FoundIssue[]) => unknown;

/** Parts of a {@link Schema}. */
export interface SchemaDef {
  /** Reads a value of the type; checks follow. */
  readonly read: Reader;
  /** Checks of a value of the type, in order. */
  readonly checks?: readonly Reader[] | undefined;
  /** Describes what is accepted; throws when JSON Schema has no words for it. */
  readonly json: () => Record<string, unknown>;
  /** A key with this schema may be missing from an object. */
  readonly isOptional?: boolean | undefined;
  /** Schemas of the keys of an object. */
  readonly shape?: Readonly<Record<string, Schema>> | undefined;
  /** Schema of the items of a list. */
  readonly element?: Schema | undefined;
  /** Schema of the values of a record. */
  readonly valueType?: Schema | undefined;
  /** Schemas of a union. */
  readonly options?: readonly Schema[] | undefined;
  /** Schema that this one is made of. */
  readonly innerType?: Schema | undefined;
}

/** Type of the values that a schema returns. */
export type Infer<S> = S extends Schema<infer Output> ? Output : never;

/** Outcome of {@link Schema.safeParse}. */
export type Parsed<Output> =
  | { readonly success: true; readonly data: Output; readonly error?: undefined }
  | {
      readonly success: false;
      readonly data?: undefined;
      readonly error: { readonly issues: readonly SchemaIssue[] };
    };

/** Adds issues to those of a value, for {@link Schema.superRefine}. */
export interface RefineContext {
  /** `path` leads on from the value; `input` is the value unless it is given. */
  addIssue(issue: {
    readonly message: string;
    readonly path?: readonly PropertyKey[] | undefined;
    readonly input?: unknown;
  }): void;
}

/**
 * Describes the values that an option, a stored document or the input of a tool may have: a Standard Schema that also
 * describes itself as JSON Schema. It has the names and the words of zod, for the few kinds of values that Holdfast's own
 * packages check, and loads in a fraction of the time. It never changes: every method returns a new one.
 */
export class Schema<Output = unknown> implements StandardSchemaV1<unknown, Output> {
  readonly def: SchemaDef;

  constructor(def: SchemaDef) {
    this.def = def;
  }

  /** Standard Schema's view of this one. */
  get "~standard"(): StandardSchemaV1.Props<unknown, Output> & {
    readonly jsonSchema: { input(): Record<string, unknown> };
  } {
    return {
      version: 1,
      vendor: "holdfast",
      validate: (value) => {
        const { success, data, error } = this.safeParse(value);
        if (success) return { value: data };
        return { issues: error.issues.map(({ message, path }) => ({ message, path })) };
      },
      jsonSchema: { input: () => this.def.json() },
    };
  }

  /** Reads a value as part of another; see {@link Reader}. */
  read(value: unknown, issues: FoundIssue[]): unknown {
    const from = issues.length;
    let result = this.def.read(value, issues);
    for (const check of this.def.checks ?? []) {
      if (isBroken(issues, from)) break;
      result = check(result, issues);
    }
    return result;
  }

  /** Checks a value and fills in defaults. */
  safeParse(value: unknown): Parsed<Output> {
    const issues: FoundIssue[] = [];
    const data = this.read(value, issues) as Output;
    return issues.length === 0 ? { success: true, data } : { success: false, error: { issues } };
  }

  /**
   * Checks a value and fills in defaults.
   *
   * @throws InvalidInputError with every issue
   */
  parse(value: unknown): Output {
    const { success, data, error } = this.safeParse(value);
    if (success) return data;
    const problems = error.issues.map(({ path, message }) => [...path.map(String), message]);
    throw new InvalidInputError(problems.map((words) => words.join(": ")).join("; "));
  }

  /** Accepts undefined too; in an object, a key with this schema may be missing. */
  optional(): Schema<Output | undefined> {
    return new Schema({
      ...this.#inner(),
      isOptional: true,
      read: (value, issues) => {
        if (value !== undefined) return this.read(value, issues);
        // A schema that has a default goes on to fill it in.
        return this.def.isOptional ? this.safeParse(value).data : undefined;
      },
    });
  }

  /** Accepts null too. */
  nullable(): Schema<Output | null> {
    return new Schema({
      ...this.#inner(),
      read: (value, issues) => (value === null ? null : this.read(value, issues)),
      json: () => anyOf([this.def.json(), { type: "null" }]),
    });
  }

  /** Accepts null and undefined too. */
  nullish(): Schema<Output | null | undefined> {
    return this.nullable().optional();
  }

  /** Returns a value, or what a function makes, in place of undefined. Lists and objects are copied. */
  default(
    value: Exclude<Output, undefined> | (() => Exclude<Output, undefined>),
  ): Schema<Exclude<Output, undefined>> {
    const make = typeof value === "function" ? (value as () => unknown) : () => copyOf(value);
    return new Schema({
      ...this.#inner(),
      isOptional: true,
      read: (given, issues) => (given === undefined ? make() : this.read(given, issues)),
      json: () => ({ default: make(), ...this.def.json() }),
    });
  }

  /** Reads a value in place of undefined: `{}` makes an object of its keys' defaults. */
  prefault(value: unknown): Schema<Output> {
    return new Schema({
      ...this.#inner(),
      isOptional: true,
      read: (given, issues) => this.read(given === undefined ? value : given, issues),
      json: () => ({ default: value, ...this.def.json() }),
    });
  }

  /** Returns a value in place of one that does not fit. */
  catch(value: Output): Schema<Output> {
    return new Schema({
      ...this.#inner(),
      read: (given) => {
        const { success, data } = this.safeParse(given);
        return success ? data : value;
      },
      json: () => ({ default: value, ...this.def.json() }),
    });
  }

  /** Checks a value further; `problem` says what it must be. */
  refine(
    isFine: (value: Output) => unknown,
    problem: string | { readonly message: string; readonly path?: readonly PropertyKey[] },
  ): this {
    const { message, path = [] } = typeof problem === "string" ? { message: problem } : problem;
    return this.with((value, issues) => {
      if (!isFine(value as Output)) addFailedCheck(issues, "custom", message, value, path);
      return value;
    });
  }

  /** Checks a value further, with as many issues as there are. */
  superRefine(check: (value: Output, context: RefineContext) => void): this {
    return this.with((value, issues) => {
      check(value as Output, {
        addIssue: ({ message, path, input = value }) =>
          addFailedCheck(issues, "custom", message, input, path),
      });
      return value;
    });
  }

  /** Changes a value that fits. */
  transform<Changed>(change: (value: Output) => Changed): Schema<Changed> {
    return new Schema({
      ...this.#inner(),
      read: (value, issues) => {
        const from = issues.length;
        const result = this.read(value, issues);
        if (issues.length === from) return change(result as Output);
        // There is no changed value that a check could look at.
        for (const issue of issues.slice(from)) issue.isFatal = true;
        return undefined;
      },
    });
  }

  /** Describes the value in the JSON Schema, for a model that has to make one. */
  describe(description: string): this {
    return this.copy({ json: () => ({ ...this.def.json(), description }) });
  }

  /** Returns this schema with a further check, which `describe` puts into the JSON Schema. */
  protected with(
    check: Reader,
    describe: (json: Record<string, unknown>) => Record<string, unknown> = (json) => json,
  ): this {
    return this.copy({
      checks: [...(this.def.checks ?? []), check],
      json: () => describe(this.def.json()),
    });
  }

  /** Returns this schema with other parts. */
  protected copy(changes: Partial<SchemaDef>): this {
    const Same = this.constructor as new (def: SchemaDef) => this;
    return new Same({ ...this.def, ...changes });
  }

  #inner(): Pick<SchemaDef, "innerType" | "isOptional" | "json"> {
    const { isOptional, json } = this.def;
    return { innerType: this, isOptional, json };
  }
}

/** Describes a value that fits one of several descriptions. */
export function anyOf(parts: readonly Record<string, unknown>[]): Record<string, unknown> {
  const isType = (part: Record<string, unknown>): boolean =>
    "type" in part && Object.keys(part).length === 1;
  if (!parts.every(isType)) return { anyOf: parts };
  const types = [...new Set(parts.flatMap(({ type }) => type))];
  return { type: types.length === 1 ? types[0] : types };
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...value];
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype
    ? { ...value }
    : value;
}
