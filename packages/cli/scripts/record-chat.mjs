// Records a chat with the offline model as an animated picture, chat.svg, for the README.
//
//   node scripts/record-chat.mjs
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startCommand } from "./pty-screen.mjs";

const [COLUMNS, ROWS, CELL_WIDTH, CELL_HEIGHT, PADDING] = [84, 26, 8.4, 18, 16];
const FRAME_SECONDS = 2.5;

/** Colours of the picture; those of a terminal are its own. */
const palette = [
  "#2e3440",
  "#bf616a",
  "#a3be8c",
  "#ebcb8b",
  "#81a1c1",
  "#b48ead",
  "#88c0d0",
  "#e5e9f0",
];
const [BACKGROUND, TEXT] = ["#20242c", "#d8dee9"];

const file = `export interface Price {
  readonly item: string;
  readonly cents: number;
}

/** Sums up what a basket costs. */
export function total(prices: readonly Price[]): number {
  let sum = 0;
  for (const { cents } of prices) sum += cents;
  return sum;
}
`;

const cwd = mkdtempSync(join(tmpdir(), "holdfast-record-"));
const files = join(cwd, ".holdfast", "workspace", "users", "ada", "src");
mkdirSync(files, { recursive: true });
writeFileSync(join(files, "prices.ts"), file);
const frames = [];
const chat = startCommand(
  [
    "chat",
    "--model",
    "offline",
    "--user",
    "ada",
    "--session",
    "prices",
    "--store",
    "json:.holdfast/state",
  ],
  { cwd, columns: COLUMNS, rows: ROWS },
);
const idle = (text) => !text.includes("Esc interrupts\n─") && /─\n› *\n/u.test(text);
const settled = () => chat.until(idle);
const pause = () => new Promise((resolve) => setTimeout(resolve, 400));
/** Takes a picture of the screen as it is. */
async function shoot() {
  await pause();
  frames.push(drawScreen(chat.screen));
}
/** Sends a message, with a picture of it being typed. */
async function say(text) {
  for (const key of text) chat.type(key);
  await chat.until((shown) => shown.includes(`› ${text.split("\n")[0]}`));
  await shoot();
  chat.type("\r");
}

try {
  await settled();
  await say("list files in src");
  await chat.until((text) => text.includes("prices.ts") && idle(text));
  await shoot();
  chat.type("read @pri");
  await chat.until((text) => text.includes("→ src/prices.ts"));
  await shoot();
  chat.type("\t\r");
  await pause();
  await settled();
  await say("rename total to basketTotal in src/prices.ts");
  await chat.until((text) => text.includes("asks for your approval"));
  await shoot();
  chat.type("y");
  await chat.until((text) => text.includes("+ basketTotal") && idle(text));
  await shoot();
  await say("/tokens");
  await chat.until((text) => text.includes("since the start") && idle(text));
  await shoot();
} finally {
  chat.kill();
  await chat.exited;
  rmSync(cwd, { recursive: true, force: true });
}
const out = fileURLToPath(new URL("../chat.svg", import.meta.url));
writeFileSync(out, picture(frames));
console.log(`${out}: ${frames.length} frames`);

/** Draws the cells of a screen, runs of one style as one text. */
function drawScreen({ buffer: { active } }) {
  const rows = [];
  for (let row = 0; row < ROWS; row++) {
    const line = active.getLine(active.viewportY + row);
    let [run, style, start] = ["", "", 0];
    const end = () => {
      if (run.trim() !== "" || style.includes("inverse"))
        rows.push(drawRun(run, style, start, row));
    };
    for (let column = 0; column < COLUMNS; column++) {
      const cell = line?.getCell(column);
      if (cell === undefined || cell.getWidth() === 0) continue;
      const now = [
        cell.isFgPalette() ? `color${cell.getFgColor() % 8}` : "",
        cell.isBold() ? "bold" : "",
        cell.isDim() ? "dim" : "",
        cell.isItalic() ? "italic" : "",
        cell.isInverse() ? "inverse" : "",
      ].join(" ");
      if (now !== style) {
        end();
        [run, style, start] = ["", now, column];
      }
      run += cell.getChars() || " ";
    }
    end();
  }
  return rows.join("\n");
}

function drawRun(text, style, column, row) {
  const [x, y] = [PADDING + column * CELL_WIDTH, PADDING + row * CELL_HEIGHT];
  if (style.includes("inverse"))
    return `<rect x="${x.toFixed(1)}" y="${y}" width="${CELL_WIDTH}" height="${CELL_HEIGHT}" fill="${TEXT}"/>`;
  const [, color] = /color(\d)/u.exec(style) ?? [];
  const attributes = [
    color === undefined ? "" : ` fill="${palette[Number(color)]}"`,
    style.includes("bold") ? ' font-weight="bold"' : "",
    style.includes("dim") ? ' opacity="0.6"' : "",
    style.includes("italic") ? ' font-style="italic"' : "",
  ].join("");
  const shown = text.trimEnd();
  const safe = shown.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(" ", "\u00a0");
  const width = ([...shown].length * CELL_WIDTH).toFixed(1);
  return `<text x="${x.toFixed(1)}" y="${y + 13}" textLength="${width}"${attributes}>${safe}</text>`;
}

/** Shows one frame after another; the last one where pictures do not move. */
function picture(all) {
  const [width, height] = [COLUMNS * CELL_WIDTH + 2 * PADDING, ROWS * CELL_HEIGHT + 2 * PADDING];
  const seconds = all.length * FRAME_SECONDS;
  const share = 100 / all.length;
  const groups = all.map((frame, index) => {
    const delay = (index - all.length) * FRAME_SECONDS;
    return `<g class="frame" style="animation-delay:${delay}s">\n${frame}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 ${width.toFixed(0)} ${height}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${TEXT}">
<title>A chat with the offline model: it lists files, reads one, asks before it edits it, and counts its tokens</title>
<style>.frame{visibility:hidden;animation:show ${seconds}s steps(1) infinite}@keyframes show{0%{visibility:visible}${share.toFixed(3)}%{visibility:hidden}}</style>
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
${groups.join("\n")}
</svg>
`;
}
