export type { AiSdkOptions, AiSdkSettings } from "./ai-sdk-options.js";
export { classifyError, type FailedCall } from "./errors/classify-error.js";
export * from "./from-ai-sdk.js";
export type {
  AiSdkModel,
  AiSdkPartReader,
  AiSdkPartStream,
  AiSdkUrls,
} from "./language-model.js";
