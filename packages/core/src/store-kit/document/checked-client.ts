import { ConfigurationError } from "../../errors/errors.js";
import { isRecord } from "../../json/json.js";
import { showKind } from "../../plugin-kit/show-value.js";
import type { DocumentClient, DocumentKeys, StoredDocument } from "../state-document.js";

/**
 * Returns a client that checks what another one answers, so that a mistake in it is reported as one, and not as a store that is
 * damaged or out of reach. A command may also answer, or throw, at once.
 *
 * @throws ConfigurationError when a command is missing; from a command, when its answer has another form
 */
export function checkedClient(client: DocumentClient): DocumentClient {
  const missing = Object.keys(answers).filter(
    (command) => !isRecord(client) || typeof client[command] !== "function",
  );
  if (missing.length > 0)
    throw new ConfigurationError(
      `documentStore: the client has no ${missing.join(", ")}; it needs ${Object.keys(answers).join(", ")}`,
    );
  return {
    get: async (key) => checked("get", await client.get(key), isFound),
    compareAndSet: async (key, value, version) =>
      checked("compareAndSet", await client.compareAndSet(key, value, version), isBoolean),
    delete: async (key) => checked("delete", await client.delete(key), isBoolean),
    list: async (cursor) => checked("list", await client.list(cursor), isPage),
  };
}

/** Result of each command, in words for errors. */
const answers: { readonly [C in keyof DocumentClient]: string } = {
  get: "null, or { value, version }, both strings",
  compareAndSet: "true if it wrote, or false",
  delete: "true if there was something to delete, or false",
  list: "{ keys, cursor }: a list of strings, and a string that the last page does not have",
};

/** Fields of answers: of no others are the names shown, which may be contents. */
const fields = ["value", "version", "keys", "cursor"];

function checked<T>(
  command: keyof DocumentClient,
  answer: unknown,
  isAnswer: (value: unknown) => value is T,
): T {
  if (isAnswer(answer)) return answer;
  throw new ConfigurationError(
    `documentStore: ${command} of the client must resolve to ${answers[command]}; it resolved to ${shown(answer)}`,
  );
}

function shown(answer: unknown): string {
  if (!isRecord(answer)) return showKind(answer);
  const present = fields.filter((name) => name in answer);
  if (present.length === 0) return "an object without these";
  return `{ ${present.map((name) => `${name}: ${showKind(answer[name])}`).join(", ")} }`;
}

function isFound(value: unknown): value is StoredDocument | null {
  if (value === null) return true;
  return isRecord(value) && isString(value["value"]) && isString(value["version"]);
}

function isPage(value: unknown): value is DocumentKeys {
  if (!isRecord(value)) return false;
  const { keys, cursor } = value;
  return Array.isArray(keys) && keys.every(isString) && (cursor === undefined || isString(cursor));
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}
