import { createHash } from "node:crypto";
import {
  type DataBlock,
  type Filesystem,
  InMemoryFilesystem,
  type Offloader,
  type ToolResultBlock,
} from "@holdfast/core";
import { createMessage } from "@holdfast/core/plugin-kit";
import { describeOffloader, type TempDirectory, tempDirectory } from "@holdfast/testing";
import { LocalFilesystem, WorkspaceOffloader } from "@holdfast/workspace";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readWhole } from "../tools/read-whole.js";
import { ada, readText, toolBench } from "../tools/tool-bench.js";
import { messageArbitrary } from "./message-arbitrary.js";
import { parseTranscript } from "./parse-transcript.js";

const filesystems = new WeakMap<Offloader, Filesystem>();

function offloaderOn(filesystem: Filesystem): WorkspaceOffloader {
  const offloader = new WorkspaceOffloader({ filesystem });
  filesystems.set(offloader, filesystem);
  return offloader;
}

const readBack: Parameters<typeof describeOffloader>[1]["readBack"] = async (
  offloader,
  slot,
  { reference, readBack: sentence },
) => {
  expect(sentence).toContain(`read_file, path ${JSON.stringify(reference)}`);
  const bench = toolBench({ filesystem: filesystems.get(offloader) as Filesystem });
  const first = await bench.use("read_file", { path: reference }, slot);
  if (first.isError) return null;
  return readWhole((request) => bench.use("read_file", request, slot), reference);
};

describeOffloader("WorkspaceOffloader in memory", {
  create: () => offloaderOn(new InMemoryFilesystem()),
  readBack,
});

const directories = new WeakMap<Offloader, TempDirectory>();

describeOffloader("WorkspaceOffloader on a directory", {
  async create() {
    const directory = await tempDirectory();
    const offloader = offloaderOn(new LocalFilesystem({ root: directory.path }));
    directories.set(offloader, directory);
    return offloader;
  },
  cleanup: async (offloader) => directories.get(offloader)?.cleanup(),
  readBack,
});

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 7]);
const image: DataBlock = {
  type: "data",
  mediaType: "image/png",
  source: { kind: "base64", data: png.toString("base64") },
  name: "shot.png",
};
const imagePath = `data/${createHash("sha256").update(png).digest("hex")}.png`;

function result(...output: ToolResultBlock["output"]): ToolResultBlock {
  return { type: "tool_result", toolCallId: "c-1", name: "look", state: "success", output };
}

describe("a tool result", () => {
  test("goes to a file of its session, named after tool and content, and again to the same", async () => {
    const filesystem = new InMemoryFilesystem();
    const offloader = offloaderOn(filesystem);
    const slot = { ...ada, sessionId: "A/b" };
    const block = { ...result({ type: "text", text: "long" }), name: "Odd name" };
    const { reference, readBack: sentence } = await offloader.offloadToolResult(slot, block);
    expect(reference).toMatch(
      /^large_tool_results\/agent\/%41%2fb\/%4fdd%20name-[0-9a-f]{32}\.txt$/,
    );
    expect(sentence).toContain("grep_files");
    expect((await offloader.offloadToolResult(slot, block)).reference).toBe(reference);
    const files = (await filesystem.list(slot)).filter(({ kind }) => kind === "file");
    expect(files.map(({ path }) => path)).toEqual([reference]);
  });

  test("keeps its data, in place and in order", async () => {
    const filesystem = new InMemoryFilesystem();
    const page: DataBlock = {
      type: "data",
      mediaType: "text/html",
      source: { kind: "url", url: "https://a.example" },
    };
    const parts = [
      { type: "text", text: "before" },
      image,
      page,
      { type: "text", text: "after" },
    ] as const;
    const { reference } = await offloaderOn(filesystem).offloadToolResult(ada, result(...parts));
    expect(await readText(filesystem, reference)).toBe(
      `before\n[image/png "shot.png", 9 bytes: ${imagePath}]\n[text/html: https://a.example]\nafter`,
    );
    const { blocks } = await toolBench({ filesystem }).use("read_file", { path: imagePath });
    expect(blocks).toEqual([{ ...image, name: imagePath }]);
  });

  test("that UTF-8 cannot hold is kept as JSON", async () => {
    const filesystem = new InMemoryFilesystem();
    const text = "lone \ud800 and $& \n";
    const { reference } = await offloaderOn(filesystem).offloadToolResult(
      ada,
      result({ type: "text", text }),
      { directory: "results" },
    );
    expect(reference).toMatch(/^results\/agent\/one\/look-[0-9a-f]{32}\.json$/);
    expect(JSON.parse((await readText(filesystem, reference)) ?? "")).toBe(text);
  });
});

describe("data", () => {
  test("is kept once per content, with the extension of its type", async () => {
    const filesystem = new InMemoryFilesystem();
    const offloader = offloaderOn(filesystem);
    const references = [];
    for (const data of [
      png.toString("base64"),
      png.toString("base64url"),
      `${png.toString("base64")}\n`,
    ]) {
      const block: DataBlock = { ...image, source: { kind: "base64", data } };
      references.push((await offloader.offloadData(ada, block)).reference);
    }
    expect(references).toEqual([imagePath, imagePath, imagePath]);
    const other = await offloader.offloadData(ada, { ...image, mediaType: "application/x-odd" });
    expect(other.reference).toBe(imagePath.replace(".png", ".bin"));
    expect(other.readBack).toContain('application/x-odd "shot.png", 9 bytes');
  });

  test.each<DataBlock["source"]>([
    { kind: "url", url: "https://a.example/x.png" },
    { kind: "base64", data: "not base64!" },
    { kind: "base64", data: "AB" },
  ])("that are no bytes of their own are kept as they are: %j", async (source) => {
    const filesystem = new InMemoryFilesystem();
    const block: DataBlock = { ...image, source };
    const { reference } = await offloaderOn(filesystem).offloadData(ada, block);
    expect(reference).toMatch(/^data\/[0-9a-f]{64}\.json$/);
    expect(JSON.parse((await readText(filesystem, reference)) ?? "")).toEqual(block);
  });
});

describe("messages", () => {
  test("become a transcript out of which every one can be made again", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(messageArbitrary, { maxLength: 4 }), async (messages) => {
        const filesystem = new InMemoryFilesystem();
        const { reference } = await offloaderOn(filesystem).offloadContext(ada, messages);
        const written = (await readText(filesystem, reference)) ?? "";
        const parsed = await parseTranscript(written, async (path) =>
          Buffer.from((await filesystem.read(ada, path)) ?? []).toString("base64"),
        );
        // As JSON: that is what a message is, `__proto__` keys and all.
        const sorted = (value: unknown) => JSON.stringify(value, sortKeys);
        expect(parsed.map(sorted)).toEqual(messages.map(sorted));
      }),
      { numRuns: 150 },
    );
  });

  test("stand in files that sort by time, one for the same messages", async () => {
    const filesystem = new InMemoryFilesystem();
    const offloader = offloaderOn(filesystem);
    const at = (createdAt: string) => [createMessage("user", "hello", { id: "m", createdAt })];
    const first = await offloader.offloadContext(ada, at("2026-01-02T03:04:05.678Z"));
    expect(first.reference).toMatch(
      /^conversation_history\/agent\/one\/20260102t030405678z-[0-9a-f]{32}\.md$/,
    );
    expect((await offloader.offloadContext(ada, at("2026-01-02T03:04:05.678Z"))).reference).toBe(
      first.reference,
    );
    for (const messages of [at("some day"), []])
      expect((await offloader.offloadContext(ada, messages)).reference).toContain("/undated-");
  });
});

test.each(["", ".", "..", "/abs", "a/b", "a\0b"])(
  "%j is no directory for results",
  async (directory) => {
    const offloader = offloaderOn(new InMemoryFilesystem());
    const block = result({ type: "text", text: "x" });
    const offload = offloader.offloadToolResult(ada, block, { directory });
    await expect(offload).rejects.toMatchObject({ code: "INVALID_INPUT" });
  },
);

function sortKeys(_: string, value: unknown): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}
