// A program with one call in flight and signal handlers; tells on stdout how far it is.
import { writeSync } from "node:fs";
import { InMemoryAgentStateStore, installSignalHandlers, ReActAgent, tool } from "@holdfast/core";
import { z } from "zod";

const say = (line) => writeSync(1, `${line}\n`);
const stubborn = process.argv[2] === "stubborn";
class TalkingStore extends InMemoryAgentStateStore {
  async save(slot, write) {
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
      if (!stubborn) finishTool();
      return shutdown;
    },
  },
  { timeoutMs: 600_000 },
);
// Something that would keep the program running: it must end by the signal.
setInterval(() => {}, 1_000);
await agent.call("go", { sessionId: "s" });
