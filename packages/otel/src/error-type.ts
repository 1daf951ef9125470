import { HoldfastError, ModelError } from "@holdfast/core";
import { OTHER_ERROR } from "./names.js";
import { quietly } from "./quietly.js";

/**
 * Returns the `error.type` of an error: a model error's kind, a Holdfast error's code, any other error's code or name. Never
 * its message, which may quote contents.
 */
export function errorType(error: unknown): string {
  return quietly(() => readErrorType(error)) ?? OTHER_ERROR;
}

function readErrorType(error: unknown): string {
  if (ModelError.is(error) && (error.kind ?? "unknown") !== "unknown")
    return asErrorType(error.kind);
  if (HoldfastError.is(error)) return asErrorType(error.code);
  if (typeof error !== "object" || error === null) return OTHER_ERROR;
  const { code, name } = error as { code?: unknown; name?: unknown };
  return typeof code === "string" && isCode(code) ? code : asErrorType(name);
}

/** Returns `text` if it looks like a code or the name of a class: anything else may be a sentence with contents. */
export function asErrorType(text: unknown): string {
  return typeof text === "string" && isCode(text) ? text : OTHER_ERROR;
}

function isCode(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/.test(text);
}
