export type { OptionsIssue, OptionsSchema } from "../parse-options.js";
export {
  array,
  ListSchema,
  looseObject,
  ObjectSchema,
  object,
  record,
  type Shape,
  type ShapeOutput,
  strictObject,
} from "./container-schemas.js";
export { int, NumberSchema, number } from "./number-schema.js";
export {
  type Infer,
  type Parsed,
  type Reader,
  type RefineContext,
  Schema,
  type SchemaDef,
} from "./schema.js";
export type { FoundIssue, SchemaIssue } from "./schema-issue.js";
export { string, TextSchema } from "./text-schema.js";
export {
  boolean,
  choice as enum,
  custom,
  instanceOf,
  json,
  literal,
  preprocess,
  union,
  unknown,
} from "./value-schemas.js";
