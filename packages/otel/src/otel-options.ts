import type { RuntimeContext, Slot } from "@holdfast/core";
import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import type { Attributes, MeterProvider, TracerProvider } from "@opentelemetry/api";
import { type ModelDescription, modelDescription } from "./model-description.js";
import { quietly } from "./quietly.js";

/** Kind of work that a span covers. */
export type SpanSubject =
  | "call"
  | "model_call"
  | "tool_call"
  | "queue_wait"
  | "state_load"
  | "state_save"
  | "compaction"
  | "memory_flush"
  | "consolidation";

/** Argument of {@link OtelOptions.attributes}: a span that is about to start. */
export interface SpanInfo {
  readonly subject: SpanSubject;
  readonly agent: { readonly name: string; readonly agentId: string };
  readonly slot: Slot;
  readonly callId: string;
  /** Context of the call; absent for work outside calls. */
  readonly ctx?: RuntimeContext | undefined;
  /** Id of the model; only for a model call. */
  readonly model?: string | undefined;
  /** Purpose of a model call: "reasoning", "summary", …; only for a model call. */
  readonly purpose?: string | undefined;
  /** Name of the tool; only for a tool call. */
  readonly tool?: string | undefined;
}

/** Ids that spans carry; metrics never do. */
export interface RecordIds {
  /** The session as `gen_ai.conversation.id`, the call as `holdfast.call.id`. @default true */
  readonly session?: boolean | undefined;
  /** The user as `user.id`. @default false */
  readonly user?: boolean | undefined;
}

/** Options of {@link otel}. */
export interface OtelOptions {
  /** Record contents in spans: messages, system prompts, inputs and outputs of tools. @default false */
  readonly content?: boolean | undefined;
  /** Maximum characters of one attribute with contents. @default 16_384 */
  readonly maxContentChars?: number | undefined;
  /** Ids that spans carry. @default the session, not the user */
  readonly recordIds?: RecordIds | undefined;
  /** Returns attributes of your own for a span, which override the built-in ones. Errors it throws are ignored. */
  readonly attributes?: ((info: SpanInfo) => Attributes) | undefined;
  /** Returns provider and name of a model by its id. @default reads `provider/model` */
  readonly describeModel?: ((id: string) => Partial<ModelDescription>) | undefined;
  /** Provider of tracers. @default the global one, whenever it is registered */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Provider of meters. @default the global one, whenever it is registered */
  readonly meterProvider?: MeterProvider | undefined;
}

/** {@link OtelOptions} with defaults filled in. */
export interface OtelSettings {
  readonly content: boolean;
  readonly maxContentChars: number;
  readonly recordIds: { readonly session: boolean; readonly user: boolean };
  readonly attributes: ((info: SpanInfo) => Attributes) | undefined;
  readonly describeModel: (id: string) => ModelDescription;
  readonly tracerProvider: TracerProvider | undefined;
  readonly meterProvider: MeterProvider | undefined;
}

const having = <T>(method: string): s.Schema<T> =>
  s.custom<T>(
    (value) => typeof (value as Record<string, unknown> | null)?.[method] === "function",
    `must have a method ${method}`,
  );
const callable = <T>(): s.Schema<T> =>
  s.custom<T>((value) => typeof value === "function", "must be a function");

const optionsSchema = s.strictObject({
  content: s.boolean().default(false),
  maxContentChars: s.int().min(256).default(16_384),
  recordIds: s
    .strictObject({ session: s.boolean().default(true), user: s.boolean().default(false) })
    .prefault({}),
  attributes: callable<(info: SpanInfo) => Attributes>().optional(),
  describeModel: callable<(id: string) => Partial<ModelDescription>>().optional(),
  tracerProvider: having<TracerProvider>("getTracer").optional(),
  meterProvider: having<MeterProvider>("getMeter").optional(),
});

/**
 * Checks options and fills in defaults.
 *
 * @throws ConfigurationError
 */
export function readOptions(options: OtelOptions): OtelSettings {
  const { attributes, describeModel, tracerProvider, meterProvider, ...rest } = parseOptions(
    optionsSchema,
    options,
    "otel",
  );
  return {
    ...rest,
    attributes,
    tracerProvider,
    meterProvider,
    describeModel: describeModel ? withDefaults(describeModel) : modelDescription,
  };
}

function withDefaults(
  describe: (id: string) => Partial<ModelDescription>,
): (id: string) => ModelDescription {
  return (id) => {
    const usual = modelDescription(id);
    const { provider = usual.provider, name = usual.name } = quietly(() => describe(id)) ?? {};
    return { provider, name };
  };
}
