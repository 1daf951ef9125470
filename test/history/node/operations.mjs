// The operations that a node carries out for the clients of a history.
const userId = "u";

/**
 * @param {import("@holdfast/core").ReActAgent} agent
 * @param {import("../operation.js").Operation} operation
 */
export async function carryOut(agent, operation) {
  const { session: sessionId } = operation;
  switch (operation.kind) {
    case "call":
      return call(agent, operation.input, operation);
    case "settle":
      return settle(agent, operation);
    case "interrupt":
      return { interrupted: await interrupt(agent, operation) };
    case "resume":
      return resume(agent, operation);
    case "update":
      await agent.updateAgentState(userId, sessionId, (state) => {
        const task = { content: operation.note, status: "pending" };
        state.tasksContext = { tasks: [...state.tasksContext.tasks, task] };
      });
      return {};
    case "compact":
      return { compacted: (await agent.compact(userId, sessionId, { force: true })).compacted };
    case "delete":
      return { deleted: await agent.deleteSession(userId, sessionId) };
    case "unfinished":
      return { unfinished: await unfinished(agent) };
  }
}

/** Releases before runs had an identity have no `resume`, and their interrupts cannot name a call. */
function knowsRuns(agent) {
  return typeof agent.resume === "function";
}

async function call(agent, input, { session, callId, onBusy, abortAfterMs, streamed }) {
  const abort = new AbortController();
  const timer =
    abortAfterMs === undefined
      ? undefined
      : setTimeout(() => abort.abort(new Error("the client went away")), abortAfterMs);
  const ctx = {
    userId,
    sessionId: session,
    callId,
    onBusy,
    queueTimeoutMs: 20_000,
    signal: abort.signal,
  };
  try {
    if (streamed !== true) return replyOf(await agent.call(input, ctx));
    return await streamedReply(agent.stream(input, ctx));
  } finally {
    clearTimeout(timer);
  }
}

/** The reply of a streamed call, and the text that was streamed. */
async function streamedReply(run) {
  let text = "";
  for await (const event of run) if (event.type === "text_delta") text += event.text;
  return { ...replyOf(await run.result), streamed: text };
}

function interrupt(agent, { session, message, callId }) {
  const named = callId === undefined || !knowsRuns(agent) ? [] : [{ callId }];
  return agent.interrupt(userId, session, message, ...named);
}

async function resume(agent, { session, callId }) {
  if (!knowsRuns(agent)) return { reply: null, unsupported: true };
  const reply = await agent.resume(userId, session, { callId });
  return reply === null ? { reply: null } : replyOf(reply);
}

/** Answers what the session's tool calls wait for. */
async function settle(agent, operation) {
  const state = await agent.getAgentState(userId, operation.session);
  const open = Object.entries(state?.openCalls ?? {});
  const asking = open.filter(([, call]) => call === "asking");
  const pending = open.filter(([, call]) => call === "pending");
  if (asking.length > 0) {
    const confirm = asking.map(([toolCallId]) => ({ toolCallId, approve: operation.approve }));
    return call(agent, { confirm }, operation);
  }
  if (pending.length > 0) {
    const output = operation.result;
    const results = pending.map(([toolCallId]) => ({ toolCallId, output }));
    return call(agent, { results }, operation);
  }
  return { nothingOpen: true };
}

async function unfinished(agent) {
  if (!knowsRuns(agent)) return [];
  const { slots } = await agent.sessions({ userId, unfinished: true });
  return slots.map(({ slot }) => slot.sessionId);
}

function replyOf(reply) {
  const { reason, text, callId, pending } = reply;
  return { reply: { reason, text, callId, pending } };
}
