import { failure, type Phrase, type Reply, say, useTool } from "./answer.js";
import type { ParsedRequest } from "./parsed-request.js";

const askedBack = /^what did (?:we|i|you) (?:say|decide|agree|note|write)(?: on)? about (.+)$/is;

/** Phrases about earlier conversations, in this session and others. */
export const sessionAnswers: readonly Phrase[] = [
  [askedBack, (request, [, topic = ""]) => recall(request, topic.replace(/[\s?!.]+$/, ""))],
  [/^(?:which|what|list|show)(?: me)?(?: the| my)? (?:sessions|conversations)\b/i, listSessions],
];

/** Result of `session_search`. */
interface Found {
  readonly role: string;
  readonly snippet: string;
  readonly at: number;
  readonly sessionId: string | undefined;
}

/** Searches the log, then reads the whole message: a snippet may be cut. */
function recall(request: ParsedRequest, topic: string): Reply {
  const [searched, read] = request.steps;
  if (searched === undefined)
    return useTool(request, "session_search", { query: topic, exact: true, maxResults: 50 });
  if (searched.state !== "success") return failure(searched);
  const found = originOf(foundIn(searched.text));
  if (found === undefined)
    return say(`Nothing was said about ${topic}, as far as the log goes back.`);
  const { at, sessionId } = found;
  if (read === undefined)
    return useTool(request, "session_history", {
      at,
      ...(sessionId !== undefined && { sessionId }),
    });
  if (read.state !== "success") return failure(read);
  const who = found.role === "user" ? "You said" : "I said";
  const words = read.page.split("\n[message] ")[0]?.trim() ?? "";
  return say(`${who}, word for word: "${words}"`);
}

function foundIn(answer: string): Found[] {
  return answer
    .split(/\n(?=\[\d+\] )/)
    .map((row) => {
      const [, role = ""] = /^\[\d+\] (\w+)/.exec(row) ?? [];
      const [, snippet = ""] = /\n {2}(.*)/.exec(row) ?? [];
      const [, args = ""] = /\n {2}read it: session_history with (.*)/.exec(row) ?? [];
      const at = Number(/\bat: (\d+)/.exec(args)?.[1] ?? Number.NaN);
      const [, session] = /\bsessionId: ("(?:[^"\\]|\\.)*")/.exec(args) ?? [];
      const sessionId = session === undefined ? undefined : (JSON.parse(session) as string);
      return { role, snippet, at, sessionId };
    })
    .filter(({ at }) => Number.isInteger(at));
}

/** Returns the earliest statement, preferably of the user, that is not a question. Rows come newest first. */
function originOf(rows: readonly Found[]): Found | undefined {
  const isQuestion = (text: string): boolean =>
    askedBack.test(text.trim()) || /^[^.!]*\?\s*$/.test(text);
  const statements = rows.filter(({ snippet }) => !isQuestion(snippet));
  return statements.findLast(({ role }) => role === "user") ?? statements.at(-1);
}

function listSessions(request: ParsedRequest): Reply {
  const [listed] = request.steps;
  if (listed === undefined) return useTool(request, "session_list", {});
  return listed.state === "success" ? say(listed.text) : failure(listed);
}
