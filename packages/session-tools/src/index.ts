export {
  type ConversationFinds,
  type ConversationHit,
  type ConversationQuery,
  ConversationSearch,
  type ConversationSearchOptions,
} from "./ranked/conversation-search.js";
export type { Embed } from "./ranked/message-vectors.js";
export type { ConversationCoverage } from "./ranked/owner-index.js";
export { sessionTools } from "./session-tools.js";
export type { SessionToolsOptions } from "./session-tools-options.js";
