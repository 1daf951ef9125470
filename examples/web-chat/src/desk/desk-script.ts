import type { JsonObject, ModelRequest } from "@holdfast/core";
import { bookings } from "./bookings.js";
import { mooringGuide } from "./mooring-guide.js";
import { type Result, type Turn, turnOf } from "./turn.js";

/** Reply of the script: words, and the tools that it calls. */
export interface DeskReply {
  readonly thinking?: string;
  readonly text?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly input: JsonObject }[];
}

const late = bookings.filter(({ daysLate }) => daysLate > 0);

const plan = `## Autumn haul-out

1. List every boat that is still in the water.
2. Book the crane for two mornings.
3. Tell the owners their slot.`;

const steps = ["List the boats in the water", "Book the crane", "Tell the owners"];

/** In order: the first that matches answers. */
const phrases: readonly (readonly [RegExp, (turn: Turn) => DeskReply])[] = [
  [/remind|mail/i, remind],
  [/plan|haul/i, haulOut],
  [/overdue|late|booking/i, overdue],
  [/guide|mooring|long/i, () => ({ text: mooringGuide })],
];

/** Decides by the request alone what the desk does next. */
export function deskReply(request: ModelRequest): DeskReply {
  const turn = turnOf(request);
  const answer = phrases.find(([pattern]) => pattern.test(turn.request))?.[1] ?? introduce;
  const reply = answer(turn);
  if (turn.added.length === 0 || reply.toolCalls) return reply;
  const noted = turn.added.map((words) => `> ${words}`).join("\n>\n");
  return { ...reply, text: `You added:\n\n${noted}\n\n${reply.text ?? ""}` };
}

function introduce(): DeskReply {
  return {
    text: `I am the harbour desk: a script that runs offline and really uses its tools, not a language model. Ask me

- **which bookings are overdue**, a tool that shows how far it is;
- to **remind the late guests by mail**, which asks you first;
- to **plan the autumn haul-out**, with a plan for you to approve and a todo list;
- to **write the guide to mooring**, long enough to stop it, to reload the page, or to add something while I write.`,
  };
}

function overdue({ results }: Turn): DeskReply {
  if (!results.some(named("find_bookings")))
    return {
      thinking: "Bookings are listed by pier, so I have to look at each of them.",
      text: "I look along the piers.",
      toolCalls: [{ name: "find_bookings", input: { status: "overdue" } }],
    };
  const rows = late.map(
    ({ boat, pier, guest, daysLate }) => `| ${boat} | ${pier} | ${guest} | ${daysLate} |`,
  );
  return {
    text: `**${late.length} boats** are overdue:\n\n| boat | pier | guest | days |\n| --- | --- | --- | --: |\n${rows.join("\n")}\n\nShall I remind them by mail?`,
  };
}

function remind({ results }: Turn): DeskReply {
  const mails = results.filter(named("send_mail"));
  if (mails.length === 0)
    return {
      text: "I write to both of them.",
      toolCalls: late.map(({ boat, guest, mail, daysLate }) => ({
        name: "send_mail",
        input: {
          to: mail,
          subject: `The ${boat} is late`,
          text: `Dear ${guest},\nthe ${boat} was due ${daysLate} days ago. Please bring it back.`,
        },
      })),
    };
  const sent = mails.filter(({ state }) => state === "success");
  const others = mails.filter(({ state }) => state !== "success");
  const why = others.map(({ text }) => `> ${text.split("\n")[0]}`).join("\n>\n");
  return {
    text: `${sent.length} of ${mails.length} mails went out.${why && `\n\nNot sent:\n\n${why}`}`,
  };
}

function haulOut({ results }: Turn): DeskReply {
  const did = (name: string): Result | undefined => results.findLast(named(name));
  const lists = results.filter(named("todo_write")).length;
  if (!did("plan_enter")) return call("plan_enter", {}, "First a plan, then the work.");
  if (!did("plan_write")) return call("plan_write", { content: plan });
  const approval = did("plan_exit");
  if (!approval) return call("plan_exit", { rationale: "Three steps, two mornings." });
  if (approval.state !== "success")
    return { text: "Then I leave it at the plan, and change nothing." };
  if (lists === 0) return todos(0);
  if (!did("find_bookings")) return call("find_bookings", { status: "all" });
  if (lists === 1) return todos(2);
  return {
    text: `${bookings.length} boats are in the water, and the crane is booked. The owners are next.`,
  };
}

function todos(done: number): DeskReply {
  const list = steps.map((content, index) => {
    const status = index < done ? "completed" : index === done ? "in_progress" : "pending";
    return { content, status };
  });
  return call("todo_write", { todos: list });
}

function call(name: string, input: JsonObject, text?: string): DeskReply {
  return { ...(text !== undefined && { text }), toolCalls: [{ name, input }] };
}

function named(name: string): (result: Result) => boolean {
  return (result) => result.name === name;
}
