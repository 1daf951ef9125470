import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Said } from "./say.js";
import { aside, heading, line } from "./terminal.js";

const allergy = "My daughter Mia is allergic to peanuts.";

/** Words of the user, and their day; every line is a process of its own. */
const sayings = [
  { day: "2026-03-02", session: "dinner", text: `I am planning a dinner for Saturday. ${allergy}` },
  { day: "2026-03-02", session: "dinner", text: "The oven is broken until the end of March." },
  { day: "2026-03-09", session: "birthday", text: "What do I have to know when I bake for Mia?" },
  { day: "2026-03-09", session: "birthday", text: "Is there anything wrong with the oven?" },
] as const;

/** Two sessions a week apart. Returns what went otherwise than it should. */
export function tellStory(program: string, home: string): string[] {
  const replies: string[] = [];
  let day = "";
  for (const saying of sayings) {
    if (saying.day !== day) heading(`${saying.day}, session "${saying.session}"`);
    day = saying.day;
    const args = ["--home", home, "--day", saying.day, "--session", saying.session, "--json"];
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [program, ...args, saying.text],
      {
        encoding: "utf8",
        timeout: 60_000,
      },
    );
    if (status !== 0) return [`a process ended with ${status}: ${stderr}`];
    const said = JSON.parse(stdout) as Said;
    replies.push(said.reply);
    line(`> ${saying.text}`);
    line(`< ${said.reply}`);
    aside(
      `  shown to the model: ${said.messagesShown} ${said.messagesShown === 1 ? "message" : "messages"}; afterwards, in the background: ${said.factsNoted} ${said.factsNoted === 1 ? "fact" : "facts"} noted${said.memoryPutInOrder ? ", memory put in order" : ""}`,
    );
  }
  showFiles(join(home, "workspace"));
  const [, , cake = "", oven = ""] = replies;
  return [
    ...(cake.includes(allergy) ? [] : ["the allergy was not remembered"]),
    ...(oven.includes("broken until the end of March") ? [] : ["the oven was not remembered"]),
  ];
}

function showFiles(workspace: string): void {
  const files = readdirSync(workspace, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith("MEMORY.md") || /memory\/[\d-]+\.md$/.test(path))
    .sort();
  for (const path of files) {
    heading(path);
    for (const text of readFileSync(join(workspace, path), "utf8").trim().split("\n")) line(text);
  }
}
