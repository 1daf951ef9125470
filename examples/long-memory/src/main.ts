import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { say } from "./say.js";
import { tellStory } from "./story.js";
import { line } from "./terminal.js";

const usage = `node main.js                                            tells a story of two sessions and leaves nothing behind
node main.js --home <dir> --day <YYYY-MM-DD> "<text>"   says something to the assistant on that day
  --session <name>  @default "session-<day>"     --user <name>  @default "you"     --json`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    home: { type: "string" },
    day: { type: "string" },
    session: { type: "string" },
    user: { type: "string", default: "you" },
    json: { type: "boolean", default: false },
  },
});
const { home, day, user: userId } = values;
const [text] = positionals;

if (home === undefined && text === undefined) {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-long-memory-"));
  try {
    line(
      "Two sessions a week apart, each thing said to a process of its own. The models are scripts.",
    );
    const problems = tellStory(fileURLToPath(import.meta.url), directory);
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) process.exitCode = 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
} else if (home === undefined || text === undefined || !isDay(day)) {
  console.error(usage);
  process.exitCode = 2;
} else {
  const sessionId = values.session ?? `session-${day}`;
  const said = await say({ home, day, userId, sessionId, text });
  console.log(values.json ? JSON.stringify(said) : said.reply);
}

function isDay(value: string | undefined): value is string {
  return /^\d{4}-\d{2}-\d{2}$/.test(value ?? "") && !Number.isNaN(Date.parse(`${value}T00:00Z`));
}
