import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { PromptLine } from "../../../src/chat/plain/prompt-line.js";
import { createTerminal } from "../../../src/terminal/terminal.js";

test("what is written above a prompt of several rows leaves the prompt whole", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  Object.assign(output, { isTTY: true, columns: 20 });
  let written = "";
  output.on("data", (chunk) => {
    written += chunk;
  });
  const terminal = createTerminal({
    in: input,
    out: output,
    env: { TERM: "xterm", NO_COLOR: "1" },
    argv: [],
  });
  const nothing = (): void => undefined;
  const events = {
    onLine: nothing,
    onCtrlC: nothing,
    onEscape: nothing,
    onClose: nothing,
    onGone: nothing,
  };
  const prompt = new PromptLine(terminal, events);
  prompt.open();
  prompt.show();
  const typed = "three rows of text, all of it typed by hand";
  input.write(typed);
  while (prompt.typed !== typed) await new Promise((resolve) => setImmediate(resolve));
  written = "";
  prompt.above(() => terminal.line("something happened"));
  prompt.close();
  await new Promise((resolve) => setImmediate(resolve));
  // Up to the prompt's first row, everything below it away, then the line, then the prompt again.
  expect(written).toMatch(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal is told
    /^\u001b\[2A\u001b\[1G\u001b\[0Jsomething happened\n(?:\u001b\[1G\u001b\[0J)?› three rows of text, all of it typed by hand/,
  );
});
