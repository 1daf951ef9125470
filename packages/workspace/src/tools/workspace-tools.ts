import type { Filesystem, Tool } from "@holdfast/core";
import { KeyedQueue } from "@holdfast/core/plugin-kit";
import { isResultPath } from "../offload/result-path.js";
import { editFileTool } from "./edit-file.js";
import { executeTool } from "./execute.js";
import { fileTools } from "./file-tool.js";
import type { FileView } from "./file-view.js";
import { globFilesTool } from "./glob-files.js";
import { grepFilesTool } from "./grep-files.js";
import { listFilesTool } from "./list-files.js";
import type { ProtectedPaths } from "./protected-paths.js";
import { type ReadLimits, readFileTool } from "./read-file.js";
import { writeFileTool } from "./write-file.js";

/** Parts of the tools of a workspace. */
export interface WorkspaceToolParts {
  readonly agentId: string;
  readonly filesystem: Filesystem;
  readonly view: FileView;
  readonly protectedPaths: ProtectedPaths;
  readonly limits: ReadLimits;
}

/** Creates the file tools, and `execute` where commands can be run. */
export function workspaceTools(parts: WorkspaceToolParts, canRun: boolean): readonly Tool[] {
  const { filesystem, view, protectedPaths } = parts;
  const fileTool = fileTools(parts.agentId);
  const write = { filesystem, protectedPaths, changes: new KeyedQueue() };
  return [
    readFileTool(fileTool, view, {
      ...parts.limits,
      name: "read_file",
      description: "Reads a file of the workspace, one page at a time.",
      missingHint: "Paths are relative to the workspace; list_files shows what there is.",
    }),
    writeFileTool(fileTool, write),
    editFileTool(fileTool, view, write),
    grepFilesTool(fileTool, view),
    globFilesTool(fileTool, view),
    listFilesTool(fileTool, view),
    ...(canRun ? [executeTool(fileTool, filesystem)] : []),
  ];
}

/** Creates a tool that reads offloaded content and nothing else, for agents without the file tools. */
export function readOffloadedTool(parts: WorkspaceToolParts): Tool {
  return readFileTool(fileTools(parts.agentId), parts.view, {
    ...parts.limits,
    name: "read_offloaded",
    description:
      "Reads content that was moved out of this conversation, by its path, one page at a time.",
    missingHint: "Use the path exactly as it was given.",
    refusal: (path) =>
      isResultPath(path) || /^(?:conversation_history|data)\//.test(path)
        ? null
        : "Only content that was moved out of a conversation can be read.",
  });
}
