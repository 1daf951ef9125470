import type { DemoColors, DemoTerminal } from "../src/demo-terminal.js";

const unchanged = (text: string): string => text;

/** Colours that are off. */
export const plainColors: DemoColors = {
  isColorSupported: false,
  ...{ bold: unchanged, dim: unchanged, red: unchanged },
  ...{ green: unchanged, yellow: unchanged, cyan: unchanged },
};

/** Terminal that keeps what is printed. */
export interface RecordingTerminal extends DemoTerminal {
  readonly lines: readonly string[];
  readonly documents: readonly unknown[];
}

/** Creates a terminal of 80 columns that nobody watches. */
export function recordingTerminal({
  isJson = false,
}: {
  isJson?: boolean;
} = {}): RecordingTerminal {
  const lines: string[] = [];
  const documents: unknown[] = [];
  return {
    ...{ lines, documents, isJson, env: {}, isInteractive: false, columns: 80 },
    colors: plainColors,
    out: { write: () => true },
    line: (text = "") => void lines.push(text),
    json: (value) => void documents.push(value),
    safeLine: unchanged,
  };
}
