export { settledParts } from "./settled-parts.js";
export type {
  ChatMetadata,
  DynamicToolPart,
  ToolApproval,
  TurnStatus,
  UiMessage,
  UiPart,
} from "./ui-message.js";
