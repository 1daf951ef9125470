import { type Tool, tool } from "@holdfast/core";
import { z } from "zod";

/** A reply that calls both of them. */
export const twoCalls = { toolCalls: ["one", "two"].map((name) => ({ name, input: {} })) };

/** Two tools that count how often they ran. */
export function counting(): { tools: Tool[]; ran: string[] } {
  const ran: string[] = [];
  const tools = ["one", "two"].map((name) =>
    tool({
      name,
      description: "Counts.",
      input: z.object({}),
      execute: () => {
        ran.push(name);
        return `${name} done`;
      },
    }),
  );
  return { tools, ran };
}
