import { ConfigurationError, type JsonObject, type ToolInputSchema } from "@holdfast/core";
import { isRecord, jsonSchemaOf, validateInput } from "@holdfast/core/plugin-kit";
import type { SummaryFormat } from "../compaction-options.js";
import { defaultSummaryPrompt, structuredSummaryPrompt } from "./default-prompt.js";

/** Instruction and parser of summaries, derived from the options once. */
export interface ReadSummaryFormat {
  /** Instruction to the summariser; `{messages}` in it stands for the conversation. */
  readonly instruction: string;
  /** For models with structured output. */
  readonly jsonSchema: JsonObject | undefined;
  /** Makes the text for the context out of a reply. */
  render(reply: string): Promise<RenderedSummary>;
}

/** Text of a summary. */
export interface RenderedSummary {
  /** "" for an empty reply. */
  readonly text: string;
  /** Names of fields in the template for which the reply has no value. */
  readonly missing: readonly string[];
}

/**
 * Reads the options about the summary.
 *
 * @throws ConfigurationError for a schema that cannot be converted to JSON Schema, and for a template with a field that the
 * schema does not have
 */
export function readSummaryFormat(
  format: SummaryFormat & { readonly instructions?: string | undefined },
): ReadSummaryFormat {
  const { summarySchema, summaryTemplate, instructions } = format;
  const structured = summarySchema === undefined ? undefined : readSchema(summarySchema);
  const stranger =
    structured && summaryTemplate && unknownField(structured.jsonSchema, summaryTemplate);
  if (stranger)
    throw new ConfigurationError(
      `compaction: summaryTemplate has {${stranger}}, which is not a field of summarySchema`,
    );
  const prompt =
    format.summaryPrompt ?? (structured ? structuredSummaryPrompt : defaultSummaryPrompt);
  const asked = [
    prompt,
    structured &&
      `Answer with one JSON object that satisfies this JSON Schema, and nothing else:\n${JSON.stringify(structured.jsonSchema)}`,
    instructions && `Further instructions:\n${instructions}`,
  ];
  return {
    instruction: asked.filter(Boolean).join("\n\n"),
    jsonSchema: structured?.jsonSchema,
    async render(reply) {
      const text = reply.trim();
      const fields = text === "" ? null : await structured?.parse(text);
      if (fields) return renderFields(fields, summaryTemplate);
      const isPlain = summaryTemplate === undefined || structured || text === "";
      return { text: isPlain ? text : fill(summaryTemplate, { summary: text }), missing: [] };
    },
  };
}

interface ReadSchema {
  readonly jsonSchema: JsonObject;
  /** Returns the object in the reply; null if there is none, and the reply is plain text. */
  parse(reply: string): Promise<Record<string, unknown> | null>;
}

function readSchema(schema: ToolInputSchema | JsonObject): ReadSchema {
  const isPlain = isRecord(schema) && !("~standard" in schema) && !("schema" in schema);
  const jsonSchema = isPlain
    ? (schema as JsonObject)
    : jsonSchemaOf(schema as ToolInputSchema, "summarySchema");
  const required = Array.isArray(jsonSchema["required"]) ? jsonSchema["required"].map(String) : [];
  return {
    jsonSchema,
    async parse(reply) {
      const value = jsonIn(reply);
      if (!isRecord(value)) return null;
      if (isPlain) return required.every((name) => name in value) ? value : null;
      const checked = await validateInput(schema as ToolInputSchema, value);
      return checked.problem === undefined && isRecord(checked.value) ? checked.value : null;
    },
  };
}

/** Returns the JSON in a reply, which models like to wrap in a code fence or a sentence. */
function jsonIn(reply: string): unknown {
  const start = reply.indexOf("{");
  const end = reply.lastIndexOf("}");
  if (start < 0 || end < start) return undefined;
  try {
    return JSON.parse(reply.slice(start, end + 1));
  } catch {
    return undefined;
  }
}

/** Returns a field of the template that the schema does not describe; null when it describes all, or none by name. */
function unknownField({ properties }: JsonObject, template: string): string | null {
  if (!isRecord(properties)) return null;
  const isKnown = (name: string) => name === "summary" || Object.hasOwn(properties, name);
  return fieldsIn(template).find((name) => !isKnown(name)) ?? null;
}

function fieldsIn(template: string): string[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

function renderFields(
  fields: Record<string, unknown>,
  template: string | undefined,
): RenderedSummary {
  const texts: Record<string, string> = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, inWords(value)]),
  );
  const listed = Object.entries(texts)
    .map(([name, text]) => `## ${name}\n${text}`)
    .join("\n\n");
  if (template === undefined) return { text: listed.trim(), missing: [] };
  const values = { summary: listed, ...texts };
  const missing = [...new Set(fieldsIn(template))].filter((name) => !Object.hasOwn(values, name));
  const empty = Object.fromEntries(missing.map((name) => [name, ""]));
  return { text: fill(template, { ...values, ...empty }).trim(), missing };
}

function inWords(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map((one) => `- ${inWords(one)}`).join("\n");
  return JSON.stringify(value) ?? "";
}

/** Replaces each `{name}` in a template by its value. Values are data: a `{name}` in one stays. */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] as string) : whole,
  );
}
