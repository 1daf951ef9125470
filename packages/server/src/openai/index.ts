export {
  type CompletionDelta,
  CompletionEncoder,
} from "./completion-encoder.js";
export { type OpenAiHandlerOptions, openAiHandler } from "./open-ai-handler.js";
