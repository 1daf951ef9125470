import "./env.js";
import { anthropic } from "@ai-sdk/anthropic";
import type { Model } from "@holdfast/core";
import { fromAiSdk } from "@holdfast/model-ai-sdk";

/** Variable of the environment, or of the file .env, with the key. */
const KEY = "ANTHROPIC_API_KEY";

/** Returns the model of Anthropic; `offline` as long as there is no key. */
export function chooseModel(offline: Model): Model {
  if (!process.env[KEY]) return offline;
  return fromAiSdk(anthropic("claude-sonnet-5-5"), { contextWindow: 200_000 });
}

/** Says what to do for a real model; null when there is a key. */
export function missingKey(): string | null {
  if (process.env[KEY]) return null;
  return `A script answers, because ${KEY} is not set. For a real model, copy .env.example to .env and put your key there.`;
}
