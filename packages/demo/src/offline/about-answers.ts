import type { JsonObject } from "@holdfast/core";
import { cutIndex } from "@holdfast/core/plugin-kit";
import { failure, type Phrase, type Reply, say, useTool } from "./answer.js";
import { evictedPathsIn } from "./extract.js";
import type { ParsedRequest } from "./parsed-request.js";

/** Characters of a tool result that are repeated in a reply. */
const SHOWN_CHARS = 300;

/** Put before the first reply of the script. */
export const introduction: string =
  "(I am a script that comes with Holdfast, not a language model: I run offline, know a few phrases, and really use the tools.)";

const phrases = [
  "what files are there in src",
  "read <file>",
  "outline <file>",
  "find <text> in <file>",
  "rename <name> to <name> in <file>",
  "document <file> in <file>",
  "note that <something>",
  "what do you know about <something>",
  "what did we say about <something>",
  "call <tool> with <JSON>",
];

const realModel =
  "For a real model, name one in holdfast.config.ts, if you have that file; else set ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY.";

/** Phrases about the script itself, and for calling any tool. */
export const aboutAnswers: readonly Phrase[] = [
  [
    /^(?:call|use|run) (?:the tool )?([\w-]+)(?: with (\{.*\}))?\s*$/is,
    (request, [, name = "", json = "{}"]) => callTool(request, name, json),
  ],
  [
    /^(?:hello|hi|hey|good (?:morning|day|evening)|help|who are you|what can you do)\b/i,
    () => say(`Hello. ${whatIKnow()} ${realModel}`),
  ],
  [/^(?:thanks|thank you|bye|goodbye)\b/i, () => say("You are welcome.")],
];

/** Answers a phrase the script does not know. */
export function unknownPhrase(): Reply {
  return say(`That is beyond me: I am a script, not a model. ${whatIKnow()} ${realModel}`);
}

function whatIKnow(): string {
  return `I understand: ${phrases.map((phrase) => `"${phrase}"`).join(", ")}.`;
}

function callTool(request: ParsedRequest, name: string, json: string): Reply {
  const [answered] = request.steps;
  if (answered === undefined) {
    const input = objectIn(json);
    return input === undefined
      ? say(`What stands behind "with" must be a JSON object.`)
      : useTool(request, name, input);
  }
  if (answered.state !== "success") return failure(answered);
  const [path] = answered.text.startsWith("[This result has") ? evictedPathsIn(answered.text) : [];
  if (path !== undefined)
    return say(
      `${name} answered more than fits into a conversation: it was moved to ${path}. "find <text> in the large result" searches it.`,
    );
  const { text } = answered;
  return say(
    `${name} answered: ${text.length > SHOWN_CHARS ? `${text.slice(0, cutIndex(text, SHOWN_CHARS))} …` : text}`,
  );
}

function objectIn(json: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}
