import { isRecord } from "../../json/json.js";
import { isPlainObject } from "./is-plain-object.js";
import { Schema } from "./schema.js";
import { addFailedCheck, addWrongType, type FoundIssue, prefixPaths } from "./schema-issue.js";

/** Schema of lists. */
export class ListSchema<Item> extends Schema<Item[]> {
  /** Refuses lists of fewer items. */
  min(least: number): this {
    const message = `Too small: expected array to have >=${least} items`;
    return this.with(
      (list, issues) => {
        if ((list as Item[]).length < least) addFailedCheck(issues, "too_small", message, list);
        return list;
      },
      (json) => ({ ...json, minItems: least }),
    );
  }

  /** Refuses lists of more items, without a look at the items. */
  max(most: number): this {
    const message = `Too big: expected array to have <=${most} items`;
    return this.copy({
      read: (value, issues) => {
        if (!Array.isArray(value) || value.length <= most) return this.def.read(value, issues);
        issues.push({ code: "too_big", path: [], message, input: value, isFatal: true });
        return undefined;
      },
      json: () => ({ ...this.def.json(), maxItems: most }),
    });
  }
}

/** Makes a schema of lists; `message` says what a value must be that is no list. */
export function array<Item>(element: Schema<Item>, message?: string): ListSchema<Item> {
  return new ListSchema<Item>({
    element,
    read: (value, issues) =>
      Array.isArray(value)
        ? Array.from(value, (item, index) => readAt(element, item, index, issues))
        : addWrongType(issues, "array", value, message),
    json: () => ({ type: "array", items: element.def.json() }),
  });
}

/** Makes a schema of objects with any keys that fit one schema, and values that fit another. */
export function record<Value>(
  key: Schema<string>,
  valueType: Schema<Value>,
): Schema<Record<string, Value>> {
  return new Schema<Record<string, Value>>({
    valueType,
    read: (value, issues) => {
      if (!isPlainObject(value)) return addWrongType(issues, "record", value);
      const result: Record<string, unknown> = {};
      for (const [name, item] of entriesOf(value))
        if (key.safeParse(name).success) result[name] = readAt(valueType, item, name, issues);
        else {
          const message = "Invalid key in record";
          issues.push({ code: "invalid_key", path: [name], message, input: name, isFatal: true });
        }
      return result;
    },
    json: () => ({
      type: "object",
      propertyNames: key.def.json(),
      additionalProperties: valueType.def.json(),
    }),
  });
}

/** Schemas of the keys of an object. */
export type Shape = Readonly<Record<string, Schema>>;

/** Values of an object with a shape: keys whose values may be undefined may be missing. */
export type ShapeOutput<S extends Shape> = Flat<
  { -readonly [K in RequiredKey<S>]: OutputOf<S[K]> } & {
    -readonly [K in Exclude<keyof S, RequiredKey<S>>]?: OutputOf<S[K]>;
  }
>;

type OutputOf<S> = S extends Schema<infer Output> ? Output : never;
type RequiredKey<S extends Shape> = {
  [K in keyof S]: unknown extends OutputOf<S[K]> ? K : undefined extends OutputOf<S[K]> ? never : K;
}[keyof S];
type Flat<T> = { [K in keyof T]: T[K] };

/** Schema of objects. */
export class ObjectSchema<S extends Shape> extends Schema<ShapeOutput<S>> {
  /** Schemas of the keys. */
  get shape(): S {
    return this.def.shape as S;
  }
}

/** Makes a schema of objects that leaves out keys which the shape does not have. */
export function object<S extends Shape>(shape: S): ObjectSchema<S> {
  return objectOf(shape, {}, () => undefined);
}

/** Makes a schema of objects that refuses keys which the shape does not have. */
export function strictObject<S extends Shape>(shape: S): ObjectSchema<S> {
  return objectOf(shape, { additionalProperties: false }, (value, issues) => {
    const keys = Object.keys(value).filter((key) => !Object.hasOwn(shape, key));
    if (keys.length === 0) return;
    const names = keys.map((key) => JSON.stringify(key)).join(", ");
    const message = `Unrecognized key${keys.length > 1 ? "s" : ""}: ${names}`;
    const code = "unrecognized_keys";
    issues.push({ code, path: [], message, input: value, keys, isFatal: false });
  });
}

/** Makes a schema of objects that keeps keys which the shape does not have. */
export function looseObject<S extends Shape>(
  shape: S,
): Schema<ShapeOutput<S> & Record<string, unknown>> {
  const schema = objectOf(shape, { additionalProperties: {} }, (value, _, result) => {
    for (const [key, item] of entriesOf(value)) if (!Object.hasOwn(shape, key)) result[key] = item;
  });
  return schema as Schema<ShapeOutput<S> & Record<string, unknown>>;
}

function objectOf<S extends Shape>(
  shape: S,
  json: Record<string, unknown>,
  readOthers: (
    value: Record<string, unknown>,
    issues: FoundIssue[],
    result: Record<string, unknown>,
  ) => void,
): ObjectSchema<S> {
  const fields = Object.entries(shape);
  return new ObjectSchema<S>({
    shape,
    read: (value, issues) => {
      if (!isRecord(value)) return addWrongType(issues, "object", value);
      const result: Record<string, unknown> = {};
      for (const [key, field] of fields) readField(field, key, value, issues, result);
      readOthers(value, issues, result);
      return result;
    },
    json: () => {
      const required = fields.filter(([, { def }]) => !def.isOptional).map(([key]) => key);
      return {
        type: "object",
        properties: Object.fromEntries(fields.map(([key, { def }]) => [key, def.json()])),
        ...(required.length > 0 && { required }),
        ...json,
      };
    },
  });
}

function readField(
  field: Schema,
  key: string,
  value: Record<string, unknown>,
  issues: FoundIssue[],
  result: Record<string, unknown>,
): void {
  const from = issues.length;
  const item = readAt(field, value[key], key, issues);
  if (item !== undefined || key in value) result[key] = item;
  else if (!field.def.isOptional && issues.length === from) {
    addWrongType(issues, "nonoptional", undefined);
    prefixPaths(issues, from, key);
  }
}

function readAt(schema: Schema, value: unknown, key: PropertyKey, issues: FoundIssue[]): unknown {
  const from = issues.length;
  const result = schema.read(value, issues);
  if (issues.length > from) prefixPaths(issues, from, key);
  return result;
}

/** Returns the own entries of an object, without `__proto__`, which would change the prototype of a copy. */
function entriesOf(value: Record<string, unknown>): [string, unknown][] {
  return Object.entries(value).filter(([key]) => key !== "__proto__");
}
