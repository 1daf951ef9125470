/** Functions that colour a text, or return it unchanged where colours are off. */
export interface DemoColors {
  readonly isColorSupported: boolean;
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

/** Output of a demo. */
export interface DemoTerminal {
  /** Stream that receives text and, in a terminal, cursor movements. */
  readonly out: Pick<NodeJS.WritableStream, "write">;
  /** Environment in which the locale is looked up. */
  readonly env: NodeJS.ProcessEnv;
  /** Redraw a status block while the session runs; plain lines are printed otherwise. */
  readonly isInteractive: boolean;
  /** Print the numbers as one JSON document and nothing else. */
  readonly isJson: boolean;
  readonly colors: DemoColors;
  /** Width in characters. */
  readonly columns: number;
  /** Prints a line. */
  line(text?: string): void;
  /** Prints a JSON document. */
  json(value: unknown): void;
  /** Returns text of unknown origin on one line, without control characters. */
  safeLine(text: string): string;
}
