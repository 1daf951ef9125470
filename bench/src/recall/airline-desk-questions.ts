import {
  assistantMessage,
  type JsonValue,
  type Message,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import {
  type Conversation,
  type RecordedMessage,
  readConversations,
} from "../replay/conversation.js";
import type { Corpus, CorpusQuestion, TurnPlace } from "./corpus.js";

/** Questions about a customer, by the tool call that has the answer. */
const templates: readonly (readonly [tool: string, question: (name: string) => string])[] = [
  ["send_certificate", (name) => `How much compensation was ${name} given?`],
  ["update_reservation_baggages", (name) => `How much luggage is ${name} taking along in the end?`],
  ["update_reservation_passengers", (name) => `Who travels instead, for ${name}?`],
  ["update_reservation_flights", (name) => `Onto which flights did we move ${name}?`],
  ["cancel_reservation", (name) => `Which trip did ${name} call off?`],
  ["book_reservation", (name) => `What new trip has ${name} reserved?`],
  ["transfer_to_human_agents", (name) => `Why was ${name} handed over to a colleague?`],
  ["get_reservation_details", (name) => `Which existing trip did ${name} ask about?`],
  ["get_user_details", (name) => `Where does ${name} live?`],
  ["get_user_details", (name) => `On which day was ${name} born?`],
  ["get_user_details", (name) => `How does ${name} like to pay?`],
];
const MAX_QUESTIONS = 100;

/**
 * Makes questions about the recorded conversations of an airline's desk: about each customer, in words other than those of the
 * tools. Answers are the call, its result, and messages that repeat the reservation or amount it is about, in all
 * conversations with the customer.
 */
export function airlineQuestions(): Corpus {
  const conversations = readConversations();
  const customers = [...new Set(conversations.map(customerOf))].filter(
    (name) => name !== undefined,
  );
  const questions = templates.flatMap(([tool, question]) =>
    customers.flatMap((name): CorpusQuestion[] => {
      const theirs = conversations.filter((each) => customerOf(each) === name);
      const answers = theirs.flatMap((each) => answersIn(each, tool));
      return answers.length === 0 ? [] : [{ text: question(name), answers }];
    }),
  );
  const sessions = conversations.map(({ id, messages }, index) => ({
    id,
    startedAt: new Date(Date.UTC(2024, 0, 1 + index, 9)),
    turns: messages.map(messageOf),
  }));
  return { name: "airline desk", sessions, questions: questions.slice(0, MAX_QUESTIONS) };
}

function customerOf({ messages }: Conversation): string | undefined {
  for (const { content } of messages) {
    const [, first, last] =
      /"first_name": "(\w+)", "last_name": "(\w+)"\}, "address"/.exec(content ?? "") ?? [];
    if (first !== undefined) return `${first} ${last}`;
  }
  return undefined;
}

interface NumberedCall {
  readonly turn: number;
  readonly id: string;
  /** Reservation or amount that the call is about. */
  readonly subject: string | undefined;
}

function callsOf({ messages }: Conversation, tool: string): NumberedCall[] {
  return messages.flatMap((message, turn) =>
    message.role === "assistant"
      ? (message.tool_calls ?? [])
          .filter(({ name }) => name === tool)
          .map((call) => ({ turn, id: call.id, subject: subjectOf(call.arguments) }))
      : [],
  );
}

function subjectOf(args: string): string | undefined {
  const input = JSON.parse(args) as Record<string, JsonValue>;
  const subject = input["reservation_id"] ?? input["amount"];
  return subject === undefined ? undefined : String(subject);
}

function answersIn(conversation: Conversation, tool: string): TurnPlace[] {
  const calls = callsOf(conversation, tool);
  return conversation.messages.flatMap((message, turn): TurnPlace[] => {
    const isAnswer = calls.some(
      ({ turn: called, id, subject }) =>
        turn === called ||
        (message.role === "tool" && message.tool_call_id === id) ||
        (turn > called && subject !== undefined && (message.content ?? "").includes(subject)),
    );
    return isAnswer ? [{ sessionId: conversation.id, turn }] : [];
  });
}

function messageOf(message: RecordedMessage): Message {
  if (message.role === "user") return userMessage(message.content);
  if (message.role === "tool")
    return toolResultMessage({
      type: "tool_result",
      toolCallId: message.tool_call_id,
      name: "desk",
      state: "success",
      output: [{ type: "text", text: message.content }],
    });
  return assistantMessage([
    ...(message.content ? [{ type: "text" as const, text: message.content }] : []),
    ...(message.tool_calls ?? []).map((call) => ({
      type: "tool_call" as const,
      id: call.id,
      name: call.name,
      input: JSON.parse(call.arguments) as JsonValue,
    })),
  ]);
}
