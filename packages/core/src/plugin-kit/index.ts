export { agentOptionNames, type RememberCallsOptions } from "../engine/assemble/agent-options.js";
export { collectHooks, type Hooks } from "../engine/assemble/compose.js";
export type { DerivedAgent, DerivedAgentOptions } from "../engine/assemble/derive-agent.js";
export { reachExtent } from "../engine/assemble/local-part-problems.js";
export { type PartName, partProblem } from "../engine/assemble/part-problems.js";
export { pluginState } from "../engine/assemble/plugin-state.js";
export { soundOptions } from "../engine/assemble/sound-options.js";
export type { QuestionAnswer } from "../engine/call-input.js";
export { asContextOverflow, isContextOverflow } from "../errors/context-overflow.js";
export type { EventEnvelope } from "../events/agent-event.js";
export { checkEvent } from "../events/check-event.js";
export type { InMemoryFilesystemOptions } from "../in-memory/in-memory-filesystem.js";
export type { KeepLastOptions } from "../in-memory/keep-last-compactor.js";
export type { ListGuardOptions } from "../in-memory/list-guard.js";
export { isRecord, isWellFormed, toJsonValue } from "../json/json.js";
export { adoptMessage, createMessage, type MessageOptions } from "../message/create-message.js";
export { contentChars, messageBytes } from "../message/read-message.js";
export type { Repair, RepairedMessages } from "../message/repair-tool-pairs.js";
export type { IncomingStep } from "../middleware/middleware.js";
export type { PortName, Ports } from "../middleware/plugin.js";
export type { PluginQuestion, QuestionOrigin } from "../middleware/plugin-question.js";
export type { CompactionCause, CompactionRequest, RequestPrompt } from "../ports/compactor.js";
export type {
  CommandResult,
  FileInfo,
  FileNamespace,
  FilesystemParts,
  FileVisit,
  SharedFiles,
  ShellCommand,
} from "../ports/filesystem.js";
export type { DeltaChunk } from "../ports/model.js";
export type { OffloadOptions, OffloadReference } from "../ports/offloader.js";
export type { GuardedCall } from "../ports/tool-guard.js";
export type { MessageMeasure } from "../state/context-editor.js";
export { type TextTokenCounter, tokenCounterOf } from "../tokens/token-counter-of.js";
export { jsonSchemaOf, type Validation, validateInput } from "../tool/input-schema.js";
export type { ToolAnswer, ToolQuestion } from "../tool/question.js";
export { isExplicitToolResult, isSuspended } from "../tool/tool.js";
export type { ToolDelegation } from "../tool/tool-delegation.js";
export { addUsage, askModel, type ModelAnswer, type ModelQuestion, noUsage } from "./ask-model.js";
export { BoundedMap } from "./bounded-map.js";
export { checkDirectoryPath, checkFilePath, showPath } from "./check-path.js";
export { compileRegex, type SizedPattern } from "./compile-regex.js";
export { cutIndex, cutText } from "./cut-text.js";
export { type Delegation, delegatedContext, delegationOf } from "./delegation.js";
export { FileCache } from "./file-cache.js";
export { KeyedQueue } from "./keyed-queue.js";
export { markQuoter } from "./mark-quoter.js";
export { offloadReference } from "./offload-reference.js";
export { parseOptions } from "./parse-options.js";
export { callSlot, failedResult, reasonOf, type SafeToolOptions, safeTool } from "./safe-tool.js";
export { showValue } from "./show-value.js";
export { stopKindOf } from "./stop-kind.js";
export { characterStart, countLines, lineStart } from "./text-lines.js";
export { type TimeLimit, timeLimit } from "./time-limit.js";
export { nearestName, unknownNames } from "./unknown-names.js";
export { YieldingClock } from "./yielding-clock.js";
