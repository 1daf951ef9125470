// A program with one call in flight and signal handlers; tells on stdout how far it is. Its first argument is a mode:
// `gentle` ends its tool when it is told to, `stubborn` does not, and in `dead` the store answers no save either and a plugin
// does not close.
import { writeSync } from "node:fs";
import { InMemoryAgentStateStore, installSignalHandlers, ReActAgent, tool } from "@holdfast/core";
import { z } from "zod";

const say = (line) => writeSync(1, `${line}\n`);
const mode = process.argv[2];
const never = () => new Promise(() => {});
class TalkingStore extends InMemoryAgentStateStore {
  async save(slot, write) {
    if (mode === "dead") await never();
    const revision = await super.save(slot, write);
    say(
      `saved shutdownInterrupted=${write.head.shutdownInterrupted} messages=${write.append.length}`,
    );
    return revision;
  }
}
let finishTool = () => {};
const work = tool({
  name: "work",
  description: "Works until the program is told to end.",
  input: z.object({}),
  execute: () =>
    new Promise((resolve) => {
      finishTool = () => resolve("finished");
      say("running");
    }),
});
const agent = new ReActAgent({
  name: "a",
  stateStore: new TalkingStore(),
  onEvent: (event) => event.type === "call_end" && say(`ended ${event.reason}`),
  tools: [work],
  plugins:
    mode === "dead" ? [{ name: "p", contract: 1, setup: (host) => host.onClose(never) }] : [],
  saveDeadlineMs: 500,
  model: {
    id: "m",
    async *stream() {
      yield { type: "tool_call", id: "call_0", name: "work", input: {} };
      yield { type: "finish", reason: "tool_calls", usage: { inputTokens: 1, outputTokens: 1 } };
    },
  },
});
installSignalHandlers(
  {
    shutdown: (options) => {
      say("draining");
      const shutdown = agent.shutdown(options);
      if (mode === "gentle") finishTool();
      return shutdown;
    },
  },
  { timeoutMs: mode === "dead" ? 100 : 600_000 },
);
// Something that would keep the program running: it must end by the signal.
setInterval(() => {}, 1_000);
await agent.call("go", { sessionId: "s" }).catch((error) => say(`failed ${error.code}`));
