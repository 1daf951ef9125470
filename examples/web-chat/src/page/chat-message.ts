import type { UIMessage } from "ai";

/** Question of a tool: a form to fill in, or an address to open. */
export interface Question {
  readonly message: string;
  readonly schema?: { readonly [key: string]: unknown };
  readonly url?: string;
}

/** Tool call that waits for a person. */
export interface PendingCall {
  readonly toolCallId: string;
  readonly name: string;
  readonly input: unknown;
  readonly reason?: string;
  readonly question?: Question;
  readonly questionNumber?: number;
  /** Rules that the person may choose to remember. */
  readonly suggestions?: readonly { readonly tool: string; readonly pattern?: string }[];
}

/** Tokens of the context, and of the model's window. */
export interface WindowShare {
  readonly contextTokens?: number;
  readonly contextWindow?: number;
}

/** Data that the server sends besides text and tools. */
export type ChatData = {
  /** For the moment: progress of a tool that runs. */
  "tool-progress": { readonly toolCallId: string; readonly progress: unknown };
  /** For the moment: how full the window is. */
  context: WindowShare;
  compaction: {
    readonly status: "running" | "done" | "failed";
    readonly tokensBefore?: number;
    readonly tokensAfter?: number;
  };
  /** For the moment: the process that answered died, or another one goes on with its work. */
  run: { readonly status: "lost" | "resumed" };
  /** Steps before this part that were taken back. */
  discarded: { readonly steps: number };
  /** Words that came in while the agent worked. */
  steered: { readonly text: string };
};

/** Metadata of a message. */
export interface ChatMetadata {
  readonly status?: "complete" | "waiting" | "interrupted" | "error";
  readonly pending?: readonly PendingCall[];
  readonly context?: WindowShare;
  /** True when the model no longer sees the message. */
  readonly compacted?: boolean;
}

/** Message of the page. */
export type ChatMessage = UIMessage<ChatMetadata, ChatData>;

/** Part of a message. */
export type ChatPart = ChatMessage["parts"][number];

/** Part that is a tool call. */
export type ToolPart = Extract<ChatPart, { type: "dynamic-tool" }>;

/** Item of the todo list. */
export interface Todo {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
}

/** Plan of the agent. */
export interface Plan {
  readonly content: string;
  /** True once a person has approved it. */
  readonly approved: boolean;
}

/** Returns the text of a message. */
export function textOf({ parts }: ChatMessage): string {
  return parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
}

/** Returns the todo list as the agent last wrote it. */
export function todosOf(messages: readonly ChatMessage[]): readonly Todo[] {
  const written = toolParts(messages).findLast(wrote("todo_write"));
  const { todos = [] } = (written?.input ?? {}) as { todos?: readonly Partial<Todo>[] };
  return todos.map(({ content = "", status = "pending" }) => ({ content, status }));
}

/** Returns the plan as the agent last wrote it. */
export function planOf(messages: readonly ChatMessage[]): Plan | null {
  const calls = toolParts(messages);
  const written = calls.findLastIndex(wrote("plan_write"));
  if (written < 0) return null;
  const { content = "" } = (calls[written]?.input ?? {}) as { content?: string };
  return { content, approved: calls.slice(written).some(wrote("plan_exit")) };
}

/** Returns the calls that wait for the person. */
export function pendingOf(messages: readonly ChatMessage[]): readonly PendingCall[] {
  return messages.at(-1)?.metadata?.pending ?? [];
}

function toolParts(messages: readonly ChatMessage[]): ToolPart[] {
  return messages.flatMap(({ parts }) => parts.filter((part) => part.type === "dynamic-tool"));
}

function wrote(tool: string): (part: ToolPart) => boolean {
  return ({ toolName, state }) => toolName === tool && state === "output-available";
}
