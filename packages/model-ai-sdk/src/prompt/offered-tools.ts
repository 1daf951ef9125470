import type { JsonObject, ModelRequest, ToolChoice } from "@holdfast/core";
import type { PromptMessage } from "./prompt.js";
import type { PromptScope } from "./prompt-scope.js";

/** A tool in the form that all generations share. */
export interface FunctionTool {
  readonly type: "function";
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** Call options about tools. */
export interface OfferedTools {
  readonly tools?: readonly FunctionTool[];
  readonly toolChoice?:
    | { readonly type: "auto" | "none" | "required" }
    | { readonly type: "tool"; readonly toolName: string };
}

/** Returns the tools of a request and the tool choice. */
export function offeredTools(
  request: ModelRequest,
  prompt: readonly PromptMessage[],
  scope: PromptScope,
): OfferedTools {
  const isStrict = scope.dialect === "anthropic" || scope.dialect === "bedrock";
  const used = isStrict ? namesUsed(prompt) : new Set<string>();
  if (request.tools.length === 0) {
    if (used.size === 0) return {};
    // A history with tool calls is refused if no tools are defined, even if none may be called.
    return { tools: [...used].map(formerTool), toolChoice: { type: none(scope) } };
  }
  const tools = request.tools.map(
    ({ name, description, inputSchema }): FunctionTool => ({
      type: "function",
      name,
      description,
      inputSchema,
    }),
  );
  const choice = request.toolChoice ?? "auto";
  if (choice === "none" && used.size > 0) return { tools, toolChoice: { type: none(scope) } };
  return { tools, toolChoice: toolChoice(choice) };
}

/** The V2 package defines no tools at all for "none". */
function none({ version }: PromptScope): "auto" | "none" {
  return version === "v2" ? "auto" : "none";
}

function toolChoice(choice: ToolChoice): NonNullable<OfferedTools["toolChoice"]> {
  return typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.tool };
}

function namesUsed(prompt: readonly PromptMessage[]): Set<string> {
  const names = new Set<string>();
  for (const { content } of prompt)
    if (typeof content !== "string")
      for (const part of content) if (part.type === "tool-call") names.add(part.toolName);
  return names;
}

function formerTool(name: string): FunctionTool {
  return {
    type: "function",
    name,
    description: "No longer available. Do not call it.",
    inputSchema: { type: "object", properties: {} },
  };
}
