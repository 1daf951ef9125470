import { type ModelRequest, textOf, tool, toolResultsOf } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { z } from "zod";
import type { Directories } from "./directories.js";
import { heading, line } from "./print.js";

/** Answers two users at the same time with one agent instance, each in a session of their own. */
export async function serveTwoUsers(directories: Directories): Promise<void> {
  heading("1. One agent instance, two users at once");
  let inside = 0;
  let together: () => void = () => {};
  const bothInside = new Promise<void>((resolve) => {
    together = resolve;
  });

  const weather = tool({
    name: "weather",
    description: "Tells the weather in a city.",
    input: z.object({ city: z.string() }),
    async execute({ city }, ctx) {
      line(ctx.userId ?? "", `weather({ city: "${city}" }) is running`);
      if (++inside === 2) {
        line("", "(both calls are inside the tool now: one instance, neither waits for the other)");
        together();
      }
      await bothInside;
      return city === "Oslo" ? "4 degrees and rain" : "31 degrees and sun";
    },
  });

  const agent = HarnessAgent.builder()
    .name("guide")
    .model(scriptedModel(guide))
    .systemPrompt("You answer questions about the weather.")
    .workspace(directories.workspace)
    .tools(weather)
    .build();

  async function ask(userId: string, question: string): Promise<void> {
    line(userId, `> ${question}`);
    const reply = await agent.call(question, { userId, sessionId: directories.session("trip") });
    line(userId, `< ${reply.text}`);
  }

  await Promise.all([
    ask("alice", "Do I need an umbrella in Oslo?"),
    ask("bob", "Do I need an umbrella in Cairo?"),
  ]);
  await ask("alice", "What do you know about me?");
  await ask("bob", "What do you know about me?");
  await agent.close();
}

/** Stands in for a model: decides by the request alone. */
function guide(request: ModelRequest): ScriptedReply {
  const last = request.messages.at(-1);
  const result = last && toolResultsOf(last)[0]?.output[0];
  if (result?.type === "text")
    return `${result.text}: ${result.text.includes("rain") ? "yes, take one." : "no, leave it at home."}`;
  const city = last && /in (\w+)\?$/.exec(textOf(last))?.[1];
  if (city) return { toolCalls: [{ name: "weather", input: { city } }] };
  const questions = request.messages.filter(({ role }) => role === "user").map(textOf);
  return `I was shown ${request.messages.length} messages, and you began with "${questions[0]}".`;
}
