import { InMemoryFilesystem } from "@holdfast/core";
import { describePlugin } from "@holdfast/testing";
import { workspace } from "../src/index.js";

describePlugin("workspace", {
  create: () => workspace(),
  agent: () => ({ filesystem: new InMemoryFilesystem() }),
  toolCalls: [
    { name: "write_file", input: { path: "notes.md", content: "- a note" } },
    { name: "list_files", input: {} },
  ],
});
