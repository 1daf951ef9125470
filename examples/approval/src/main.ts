import { createInterface } from "node:readline";
import { type AgentReply, type Confirmation, type PendingCall, tool } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { permissions } from "@holdfast/permissions";
import { scriptedModel } from "@holdfast/testing";
import { z } from "zod";
import { write } from "./write.js";

const session = { userId: "you", sessionId: "meeting" };

const listPeople = tool({
  name: "list_people",
  description: "Lists the addresses of those who come to the meeting.",
  input: z.object({}),
  readOnly: true,
  execute: () => "ann@example.com, bob@example.com, press@example.org",
});
const sendMail = tool({
  name: "send_mail",
  description: "Sends a mail.",
  input: z.object({ to: z.string(), text: z.string() }),
  // Rules such as send_mail(ann@example.com) are compared with the recipient.
  permission: { subject: ({ to }) => ({ kind: "text", value: to }) },
  execute({ to, text }) {
    console.log(`  * mail to ${to}: ${text}`);
    return `Sent to ${to}.`;
  },
});
const deleteMails = tool({
  name: "delete_mails",
  description: "Deletes mails that were sent.",
  input: z.object({}),
  execute: () => "Deleted.",
});

// list_people only reads and runs at once, delete_mails is denied, and send_mail asks.
const agent = HarnessAgent.builder()
  .name("secretary")
  .model(scriptedModel(write))
  .tools(listPeople, sendMail, deleteMails)
  .use(permissions({ rules: { deny: ["delete_mails"] } }))
  .build();

const input = createInterface({ input: process.stdin });
const lines = input[Symbol.asyncIterator]();
try {
  if (process.argv[2] === "forget") await forget();
  else await work();
} finally {
  input.close();
  await agent.close();
}

/** Gives the agent its task, or goes on where an earlier run stopped, until nothing asks any more. */
async function work(): Promise<void> {
  let pending = await agent.pending(session);
  let text = "";
  const take = (reply: AgentReply): void => {
    pending = reply.reason === "permission_asking" ? reply.pending : [];
    text = reply.text;
  };
  if (pending.length > 0) console.log("Calls of an earlier run still wait for you.");
  else take(await agent.call("Tell everybody that the meeting is on Friday.", session));
  for (let [call] = pending; call; [call] = pending) {
    const confirmation = await decide(call);
    if (confirmation === null) {
      console.log("\nStart again: the calls that you did not answer still wait for you.");
      return;
    }
    // One answer at a time: what is approved runs now, whatever becomes of the others.
    take(await agent.call({ confirm: [confirmation] }, session));
  }
  console.log(`\n${text}`);
}

/** Asks the person about a call; null when there is no more input. */
async function decide(call: PendingCall): Promise<Confirmation | null> {
  const { toolCallId, name, input: wanted, reason, suggestions = [] } = call;
  const always = suggestions.map(({ text }) => text).join(", ");
  console.log(`\n${name} ${JSON.stringify(wanted)}\n  ${reason}`);
  const menu = `[y]es, [e]dit, [n]o${always && `, [a] ${always}`}`;
  for (;;) {
    const answer = await ask(`  ${menu} > `);
    if (answer === null) return null;
    if (answer === "y") return { toolCallId, approve: true };
    if (answer === "a" && always) return { toolCallId, approve: true, remember: "user" };
    if (answer !== "e" && answer !== "n") continue;
    const words = await ask(answer === "e" ? "  new text > " : "  why? > ");
    if (words === null) return null;
    if (answer === "n") return { toolCallId, approve: false, reason: words };
    return { toolCallId, approve: true, input: { ...Object(wanted), text: words } };
  }
}

/** Takes back what was remembered. */
async function forget(): Promise<void> {
  for (const { tool: name, pattern } of await agent.rememberedRules(session))
    console.log(`forgotten: ${name}(${pattern})`);
  await agent.forgetRules(session, { scope: "user" });
}

async function ask(question: string): Promise<string | null> {
  process.stdout.write(question);
  const { value, done } = await lines.next();
  if (!process.stdin.isTTY) console.log(done ? "" : value);
  return done ? null : value.trim();
}
