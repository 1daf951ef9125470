// Prints how long a chat takes until its input is there, and the share of a core that it uses while a model streams 100 tokens a
// second. Figures of a busy machine say little; the CPU time of the start depends less on what else runs than the time does.
//
//   node scripts/measure-chat.mjs
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCommand } from "./pty-screen.mjs";

const STARTS = 7;
const STREAM_MS = 10_000;

const config = `
const text = "Some **words** of a paragraph that goes on, with \`code\` in it.\\n\\n- a list\\n- of things\\n\\n\`\`\`ts\\nconst x = 1;\\n\`\`\`\\n\\n";
const pieces = text.match(/\\s*\\S{1,5}/gu);
async function* stream({ tools }) {
  const began = Date.now();
  for (let count = 0; tools.length > 0 && count < 2_000; count++) {
    const wait = began + count * 10 - Date.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    yield { type: "text_delta", text: pieces[count % pieces.length] };
  }
  yield { type: "finish", reason: "stop", usage: { inputTokens: 1000, outputTokens: 100 } };
}
export default { model: { id: "measured", contextWindow: 100_000, stream }, workspace: "./workspace" };
`;

const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** CPU time of a process so far, in milliseconds. */
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /su, "")
    .split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
}

const median = (numbers) => numbers.toSorted((one, other) => one - other)[numbers.length >> 1];

const cwd = mkdtempSync(join(tmpdir(), "holdfast-measure-"));
try {
  const args = ["chat", "--store", `json:${join(cwd, "store")}`, "--user", "ada"];
  const starts = [];
  for (let count = 0; count < STARTS; count++) {
    const began = performance.now();
    const chat = startCommand([...args, "--model", "offline"], { cwd });
    await chat.until((text) => /─\n› *\n/u.test(text));
    starts.push({ ms: performance.now() - began, cpu: cpuMs(chat.pid) });
    chat.kill();
    await chat.exited;
  }
  const line = (name, numbers) =>
    console.log(
      `${name}: median ${median(numbers).toFixed(0)} ms, best ${Math.min(...numbers).toFixed(0)} ms`,
    );
  line(
    "start until the input is there",
    starts.map(({ ms }) => ms),
  );
  line(
    "CPU time of the start",
    starts.map(({ cpu }) => cpu),
  );

  writeFileSync(join(cwd, "holdfast.config.mjs"), config);
  const chat = startCommand(args, { cwd, columns: 100, rows: 40 });
  await chat.until((text) => /─\n› *\n/u.test(text));
  chat.type("go\r");
  await chat.until((text) => text.includes("Writing"));
  const [before, began] = [cpuMs(chat.pid), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, STREAM_MS));
  const share = (cpuMs(chat.pid) - before) / (performance.now() - began);
  console.log(`CPU while 100 tokens a second arrive: ${(100 * share).toFixed(1)} % of a core`);
  chat.kill();
  await chat.exited;
} finally {
  rmSync(cwd, { recursive: true, force: true });
}
