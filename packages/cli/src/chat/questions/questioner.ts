/** Answer that a person can choose. */
export interface Choice {
  /** Key that chooses it. */
  readonly key: string;
  /** The key as a whole word. */
  readonly word: string;
  /** Effect, in a few words. */
  readonly help: string;
}

/** Question with a few answers. */
export interface ChoiceQuestion {
  /** Line above everything else; may hold control characters. */
  readonly title?: string | undefined;
  /** Text of unknown origin that the question is about. */
  readonly body?: string | undefined;
  /** Words in front of the answer. */
  readonly prompt: string;
  readonly choices: readonly Choice[];
  /** Says what Esc does. */
  readonly escapeHelp: string;
}

/** Chosen answer. */
export interface Chosen {
  readonly key: string;
  /** Text that was typed behind the key; empty where a key is pressed. */
  readonly rest: string;
}

/** Options of a question that is answered with a text. */
export interface TextQuestion {
  /** Put there to be edited. */
  readonly text?: string | undefined;
  /** Says what Enter and Esc do. */
  readonly help?: string | undefined;
  /** Says what is wrong with the last answer; may hold control characters. */
  readonly problem?: string | undefined;
}

/** Place where a person is asked: a line of a plain terminal, or a dialog of the screen. */
export interface Questioner {
  /** There is a user whose later sessions can remember a rule. */
  readonly hasUser: boolean;
  /** Asks until one of the choices is taken. @returns null for Esc, Ctrl-C and the end of the chat */
  choose(question: ChoiceQuestion): Promise<Chosen | null>;
  /** Asks for a text. @returns null for Esc, Ctrl-C and the end of the chat */
  ask(prompt: string, question?: TextQuestion): Promise<string | null>;
}
