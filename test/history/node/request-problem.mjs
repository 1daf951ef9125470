// Checks of a model request, written without looking at the engine's own repair.

/**
 * Says what is wrong with the messages of a request, or returns null: right behind a message with tool calls come tool
 * messages with exactly one result for each of them; results stand nowhere else; the last word is not the model's own.
 *
 * @param {readonly import("@holdfast/core").Message[]} messages
 */
export function requestProblem(messages) {
  let waiting = new Set();
  const seen = new Set();
  for (const [index, { role, content }] of messages.entries()) {
    const at = `message ${index} (${role})`;
    const results = content.flatMap((block) =>
      block.type === "tool_result" ? [block.toolCallId] : [],
    );
    const calls = content.flatMap((block) => (block.type === "tool_call" ? [block.id] : []));
    if (role !== "tool" && results.length > 0) return `${at} has results`;
    if (role !== "tool" && waiting.size > 0) return `${at} stands before ${waiting.size} results`;
    for (const id of results)
      if (!waiting.delete(id)) return `${at} answers ${id}, which does not wait for an answer`;
    for (const id of calls) {
      if (seen.has(id)) return `${at} has call ${id} a second time`;
      seen.add(id);
    }
    if (role === "assistant") waiting = new Set(calls);
  }
  if (waiting.size > 0) return `${waiting.size} calls have no result at the end`;
  if (messages.at(-1)?.role === "assistant") return "the last message is the model's own";
  return null;
}
