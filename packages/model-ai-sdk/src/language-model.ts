/** Stream of parts that `doStream` of an AI SDK model returns; a web `ReadableStream` is one. */
export interface AiSdkPartStream {
  getReader(): AiSdkPartReader;
}

/** Reader of the parts of a reply. */
export interface AiSdkPartReader {
  read(): PromiseLike<{ readonly done: boolean; readonly value?: unknown }>;
  cancel(reason?: unknown): PromiseLike<void>;
}

/**
 * A model object of an AI SDK provider package, in one of the three generations of its specification.
 *
 * Described by its shape, so that no `@ai-sdk` package is needed to compile: every `LanguageModelV2`, `LanguageModelV3`
 * and `LanguageModelV4` is one.
 */
export interface AiSdkModel {
  readonly specificationVersion: "v2" | "v3" | "v4";
  readonly provider: string;
  readonly modelId: string;
  /** URLs the model fetches itself, by media type. */
  readonly supportedUrls: AiSdkUrls | PromiseLike<AiSdkUrls>;
  /** Takes the call options of its generation. */
  doStream(options: never): PromiseLike<{ readonly stream: AiSdkPartStream }>;
}

/** Patterns of URLs by media type or pattern of media types. */
export type AiSdkUrls = Readonly<Record<string, readonly RegExp[]>>;

/** A generation of the specification. */
export type SpecVersion = AiSdkModel["specificationVersion"];
