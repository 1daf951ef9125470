export { chatHandler } from "./chat-handler.js";
export type { ChatAnswer, ChatApproval } from "./chat-request.js";
export type { ChatHandlerOptions } from "./chat-settings.js";
export type { AiSdkVersion, UiChunk, UiFinishReason } from "./ui-chunk.js";
export {
  type ContinuedMessage,
  UiChunkEncoder,
  type UiChunkEncoderOptions,
} from "./ui-chunk-encoder.js";
