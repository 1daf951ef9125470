import { type Message, type ModelRequest, textOf, toolResultsOf } from "@holdfast/core";
import type { ScriptedReply } from "@holdfast/testing";
import { closingReport } from "./closing-report.js";
import { summaryIn, textIn } from "./request-text.js";
import { isSummaryRequest, writeSummary } from "./summary-script.js";

/** Facts that the script has to go on: the request, and nothing else. It keeps no memory of its own. */
interface Situation {
  readonly messages: readonly Message[];
  readonly question: string;
  /** Answers of tools since the question, oldest first. */
  readonly results: readonly string[];
}

/** Stands for a model: decides by what it is shown. */
export function bookkeeperScript(request: ModelRequest): Exclude<ScriptedReply, string> {
  const { messages } = request;
  if (isSummaryRequest(messages)) return { text: writeSummary(messages) };
  const asked = messages.findLastIndex(({ role, content }) => role === "user" && hasText(content));
  const situation: Situation = {
    messages,
    question: textOf(messages[asked] as Message),
    results: messages
      .slice(asked + 1)
      .flatMap(toolResultsOf)
      .map((result) => outputOf(result.output)),
  };
  for (const [topic, answer] of answers)
    if (topic.test(situation.question)) return answer(situation);
  return { text: "I only do the books." };
}

type Answer = (situation: Situation) => Exclude<ScriptedReply, string>;

const answers: readonly (readonly [RegExp, Answer])[] = [
  [/^Please book invoice/, bookInvoice],
  [/^Remember: /, () => ({ text: "I will." })],
  [/^Fetch the old ledger/, fetchLedger],
  [/^What does the old ledger say about/, lookUpLedger],
  [/^Write the closing report/, writeReport],
  [/^Who is the auditor/, rememberAuditor],
  [/^Quote word for word/, quoteFromHistory],
];

function bookInvoice({ question, results: [booked] }: Situation): ReturnType<Answer> {
  if (booked !== undefined) return { text: `Done. ${booked}` };
  const [, invoice = ""] = /invoice (\d+)/.exec(question) ?? [];
  const prices = [...question.matchAll(/([\d.]+) EUR/g)].map(([, price]) => Number(price));
  const amount = prices.reduce((sum, price) => sum + price, 0);
  const memo = `Office supplies, ${prices.length} items, invoice checked against the delivery note.`;
  return call("book_entry", { invoice, account: "4930 office supplies", amount, memo });
}

function fetchLedger({ results: [preview] }: Situation): ReturnType<Answer> {
  if (preview === undefined) return call("fetch_ledger", {});
  return { text: `The old ledger is here: ${ledgerPathIn(preview)}` };
}

/** The ledger itself is not in the context: its path is, or is in the summary. */
function lookUpLedger({ messages, question, results }: Situation): ReturnType<Answer> {
  const [found, page] = results;
  const [number = ""] = /L-\d+/.exec(question) ?? [];
  const path = ledgerPathIn(textIn(messages));
  if (found === undefined) return call("grep_files", { pattern: number, path });
  const [, at] = /\.txt:(\d+): /.exec(found) ?? [];
  if (at === undefined) return { text: `I do not find ${number}.` };
  if (page === undefined) return call("read_file", { path, offset: Number(at) - 2, limit: 5 });
  const row = page.split("\n").find((text) => text.includes(number)) ?? "";
  return { text: `Line ${row.replace("\t", ": ")}` };
}

function writeReport({ results: [written] }: Situation): ReturnType<Answer> {
  if (written !== undefined) return { text: "The report is in closing-report.md." };
  return call("write_file", { path: "closing-report.md", content: closingReport() });
}

/** Said in turn 3 and long gone from the messages: only the summary can tell. */
function rememberAuditor({ messages }: Situation): ReturnType<Answer> {
  const [, fact] = /Remember: (.+)/.exec(summaryIn(messages)) ?? [];
  return { text: fact === undefined ? "I do not know." : `My summary says: ${fact}` };
}

/** The summary names the directory in which everything that left is kept. */
function quoteFromHistory({ messages, results: [found] }: Situation): ReturnType<Answer> {
  const [path] = /conversation_history\/[^"/]+\/[^"/]+/.exec(summaryIn(messages)) ?? [];
  if (path === undefined) return { text: "I do not know." };
  if (found === undefined) return call("grep_files", { pattern: "Remember: the auditor", path });
  return { text: `You said: ${found.slice(found.indexOf("Remember: ")).split("\n")[0]}` };
}

function ledgerPathIn(text: string): string {
  return /large_tool_results\/[^\s"]+\.txt/.exec(text)?.[0] ?? "";
}

function call(name: string, input: Record<string, string | number>): ReturnType<Answer> {
  return { toolCalls: [{ name, input }] };
}

function hasText(content: Message["content"]): boolean {
  return content.some(({ type }) => type === "text");
}

function outputOf(output: ReturnType<typeof toolResultsOf>[number]["output"]): string {
  return output.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}
