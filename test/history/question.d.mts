/** Tool that a question makes the model call. */
export interface ScriptedTool {
  /** `work` runs, `approve` asks first, `remote` waits for its result from outside. */
  readonly tool: "work" | "approve" | "remote";
  /** Time the tool takes. */
  readonly ms: number;
}

/** Behaviour of the model while it answers a question. */
export interface Script {
  /** Tools called at once, round by round, before the answer. */
  readonly rounds: readonly (readonly ScriptedTool[])[];
  /** Time before the first piece of each reply. */
  readonly delayMs: number;
  /** Further words of the answer, each a piece of its own. */
  readonly words: number;
}

export function questionText(id: string, script: Script): string;
export function readQuestion(text: string): { readonly id: string; readonly script: Script } | null;
export function answerPieces(id: string, nonce: string, words: number): string[];
export function answeredQuestion(text: string): string | null;
