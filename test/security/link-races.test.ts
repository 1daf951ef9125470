import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  InMemoryKeyValueStore,
  InvalidInputError,
  ReActAgent,
  type ToolCallBlock,
} from "@holdfast/core";
import { SandboxFilesystem } from "@holdfast/sandbox";
import { scaled, scriptedModel, spawnScript } from "@holdfast/testing";
import { LocalFilesystem, RemoteFilesystem, workspace } from "@holdfast/workspace";
import { expect, onTestFinished, test } from "vitest";
import { report, slow } from "./corpus.js";
import { directoryFor } from "./every-place.js";

const swapper = new URL(
  "../../packages/workspace/test/filesystem/children/swapper.mjs",
  import.meta.url,
);
const secret = "the secret outside";
const whose = { agentId: "a", userId: "user", sessionId: "s" };

/** A directory that nothing may touch, with names that exist inside, too. */
async function outsideOf(
  directory: string,
): Promise<{ path: string; expectUntouched(): Promise<void> }> {
  const path = join(directory, "outside");
  await mkdir(join(path, "deep"), { recursive: true });
  const names = ["file.txt", "deep/file.txt", "only-outside.txt"];
  for (const name of names) await writeFile(join(path, name), secret);
  return {
    path,
    async expectUntouched() {
      const found = await readdir(path, { recursive: true });
      expect(found.sort()).toEqual(["deep", ...names].sort());
      for (const name of names) expect(await readFile(join(path, name), "utf8")).toBe(secret);
    },
  };
}

/**
 * Swaps a directory for a link and back until there is a file "stop"; says how often. A directory that the other side has made in its
 * place may belong to another user: what cannot be removed stays, and the next one gets another name.
 */
const swapScript = `
  my ($n, $left) = (0, 0);
  mkdir "swap";
  until (-e "stop") {
    my $away = rename "swap", "aside$left";
    $n++ if symlink $ARGV[0], "swap";
    unlink "swap";
    next if !$away || rename "aside$left", "swap";
    system "rm", "-rf", "aside$left";
    $left++;
  }
  print $n;
`;

/** A round of uses of every file tool on a path that may be a link at any instant. */
function uses(round: number): Pick<ToolCallBlock, "name" | "input">[] {
  return ["swap/file.txt", "swap/deep/file.txt"].flatMap((path) => [
    { name: "write_file", input: { path, content: `inside ${round}` } },
    { name: "read_file", input: { path } },
    { name: "edit_file", input: { path, old_string: "inside", new_string: "changed" } },
    { name: "edit_file", input: { path, old_string: "secret", new_string: "changed" } },
    { name: "read_file", input: { path: "swap/only-outside.txt" } },
    { name: "write_file", input: { path: `swap/new-${round}.txt`, content: "inside" } },
    { name: "list_files", input: { path: "swap" } },
    { name: "glob_files", input: { pattern: "swap/**" } },
    { name: "grep_files", input: { pattern: "secret" } },
    { name: "grep_files", input: { pattern: "outside", path: "swap" } },
  ]);
}

test(
  "no file tool reads or writes a byte outside while another process swaps directories for links",
  slow,
  async (context) => {
    const directory = await directoryFor(".");
    const outside = await outsideOf(directory);
    const home = join(directory, "root/users/user");
    await mkdir(home, { recursive: true });
    const filesystem = new LocalFilesystem({ root: join(directory, "root") });
    let round = 0;
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === "tool"
        ? "done"
        : { toolCalls: uses(round++).map((use, index) => ({ ...use, id: `c${round}-${index}` })) },
    );
    const agent = new ReActAgent({ name: "a", model, plugins: [workspace({ filesystem })] });
    onTestFinished(() => agent.close());
    await using other = spawnScript(swapper, [home, outside.path]);
    await other.line("swapping");
    const states = new Map<string, number>();
    const wanted = scaled(400, 10_000);
    let count = 0;
    for (; count < wanted; ) {
      const sessionId = `s${round}`;
      await agent.call("go", { userId: "user", sessionId });
      const state = await agent.getAgentState("user", sessionId);
      for (const block of (state?.context ?? []).flatMap(({ content }) => content)) {
        if (block.type !== "tool_result") continue;
        count++;
        states.set(block.state, (states.get(block.state) ?? 0) + 1);
        const said = JSON.stringify(block.output);
        expect(said).not.toContain(secret);
        expect(said).not.toContain("only-outside.txt:");
      }
      await agent.deleteSession("user", sessionId);
    }
    other.send("stop");
    const swaps = Number((await other.line((line) => line.startsWith("swaps"))).split(" ")[1]);
    await outside.expectUntouched();
    // The race took place: tools met the directory and met the link.
    expect(swaps).toBeGreaterThan(wanted / 20);
    expect(states.get("success")).toBeGreaterThan(0);
    expect(states.get("error")).toBeGreaterThan(0);
    report(context, {
      "uses of a tool": count,
      "links put in the way": swaps,
      "bytes outside read or written": 0,
    });
  },
);

test(
  "no sandbox file reads or writes a byte outside while a command swaps directories for links",
  slow,
  async (context) => {
    const directory = await directoryFor(".");
    const outside = await outsideOf(directory);
    const kept = new RemoteFilesystem({ keyValue: new InMemoryKeyValueStore() });
    const scratch = join(directory, "scratch");
    await mkdir(scratch);
    // Commands run as another user when the tests run as root.
    await chmod(directory, 0o755);
    const files = new SandboxFilesystem({ files: kept, scratch });
    onTestFinished(() => files.close());
    const visit = await files.enter(whose);
    const swap = `perl -e '${swapScript}' ${outside.path}`;
    const swapping = files.run(whose, {
      command: swap,
      timeoutMs: slow.timeout,
      signal: new AbortController().signal,
    });
    const outcomes = { done: 0, refused: 0 };
    const attempt = async (work: () => Promise<unknown>): Promise<void> => {
      try {
        await work();
        outcomes.done++;
      } catch (error) {
        expect(error, String(error)).toSatisfy(InvalidInputError.is);
        outcomes.refused++;
      }
    };
    const wanted = scaled(400, 10_000);
    const isEnough = () =>
      outcomes.done + outcomes.refused >= wanted && outcomes.done > 0 && outcomes.refused > 0;
    for (let round = 0; !isEnough(); round++) {
      const path = round % 2 === 0 ? "swap/file.txt" : "swap/deep/file.txt";
      await attempt(() => files.write(whose, path, Buffer.from("inside")));
      await attempt(async () => {
        const bytes = await files.read(whose, path);
        expect(Buffer.from(bytes ?? []).toString()).toMatch(/^(inside)*$/);
      });
      await attempt(() => files.append(whose, path, Buffer.from("inside")));
      await attempt(async () => {
        const listed = await files.list(whose, "swap");
        expect(listed.map(({ path: name }) => name)).not.toContain("swap/only-outside.txt");
      });
      await attempt(() => files.delete(whose, "swap/only-outside.txt"));
    }
    await files.write(whose, "stop", Buffer.from(""));
    const { stdout } = await swapping;
    await visit.leave();
    await outside.expectUntouched();
    for (const { path, kind } of await kept.list(whose))
      if (kind === "file")
        expect(Buffer.from((await kept.read(whose, path)) ?? []).toString()).not.toContain(secret);
    report(context, {
      "uses of a file": outcomes.done + outcomes.refused,
      "links put in the way": Number(stdout),
      refused: outcomes.refused,
      "bytes outside read or written": 0,
    });
  },
);
