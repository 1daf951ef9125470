export { anthropicServer } from "./anthropic/anthropic-server.js";
export { googleServer } from "./google/google-server.js";
export { openAiChatServer } from "./openai/openai-chat-server.js";
export { openAiServer } from "./openai/openai-server.js";
export { type RealErrors, realErrors } from "./real-errors.js";
export type { WireRequest } from "./wire-protocol.js";
export type {
  WireFailure,
  WireFault,
  WireFile,
  WireFinish,
  WireReply,
  WireThinking,
  WireToolCall,
  WireUsage,
} from "./wire-reply.js";
export type { WireScript, WireServer, WireServerOptions } from "./wire-server.js";
