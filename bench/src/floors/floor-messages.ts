import { answerText, questionText } from "../stores/sample-turn.js";

/** Returns the messages that one turn adds to a session, as the text that a floor stores. */
export function floorTurn(): [question: string, answer: string] {
  return [floorMessage("user"), floorMessage("assistant")];
}

/** A history of as many messages. */
export function floorHistory(messages: number): string[] {
  return Array.from({ length: messages }, (_, n) =>
    floorMessage(n % 2 === 0 ? "user" : "assistant"),
  );
}

function floorMessage(role: "user" | "assistant"): string {
  return JSON.stringify({ role, content: role === "user" ? questionText : answerText });
}

/** Parses what was loaded, as everybody must who shows it to a model. */
export function parseAll(messages: readonly string[]): unknown[] {
  return messages.map((message) => JSON.parse(message) as unknown);
}
