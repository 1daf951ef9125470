// A pseudo-terminal with a screen that can be read, for the scripts beside this file.
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

/** Starts the command; `until` waits for a condition on the text of the screen. */
export function startCommand(args, { cwd, columns = 90, rows = 30, env = {} }) {
  const screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(CI|NO_COLOR|FORCE_COLOR|HOLDFAST_)/u.test(name),
    ),
  );
  const pty = spawn(process.execPath, [main, ...args], {
    cwd,
    cols: columns,
    rows,
    env: { ...inherited, TERM: "xterm-256color", ...env },
  });
  const watchers = new Set();
  pty.onData((data) => screen.write(data, () => watchers.forEach((look) => void look())));
  const exited = new Promise((resolve) => pty.onExit(resolve));
  const text = () => {
    const { active } = screen.buffer;
    const lines = Array.from({ length: rows }, (_, row) =>
      active.getLine(active.viewportY + row)?.translateToString(true),
    );
    return lines.join("\n");
  };
  const until = (isSo) =>
    new Promise((resolve) => {
      const look = () => {
        if (!isSo(text())) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
    });
  return {
    pid: pty.pid,
    screen,
    text,
    until,
    exited,
    type: (keys) => pty.write(keys),
    kill: () => pty.kill("SIGKILL"),
  };
}
