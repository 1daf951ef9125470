import { ledgerAmount } from "./ledger.js";

/** One thing the user says, and what has to be in the answer. */
export interface Turn {
  readonly says: string;
  /** Checked against the answer; none for the daily work. */
  readonly expects?: readonly string[] | undefined;
}

/** Number of turns of the session. */
export const turns = 150;

/** For one turn the provider serves a smaller model than it did before. */
export const smallerModel = { turn: 97, windowTokens: 6_000 } as const;

/** Turns that are not daily work. */
const special: Readonly<Record<number, Turn>> = {
  3: { says: "Remember: the auditor is called Ines Halvorsen and comes on 14 May." },
  45: { says: "Write the closing report to closing-report.md." },
  72: { says: "Fetch the old ledger." },
  77: askLedger(20_417),
  100: { says: "Who is the auditor, and when?", expects: ["Ines Halvorsen", "14 May"] },
  130: askLedger(43_210),
  140: {
    says: "Quote word for word what I told you about the auditor.",
    expects: ["Remember: the auditor is called Ines Halvorsen and comes on 14 May."],
  },
};

function askLedger(number: number): Turn {
  return {
    says: `What does the old ledger say about L-${number}?`,
    expects: [ledgerAmount(number)],
  };
}

/** Returns what the user says in turn 1, 2, 3, … */
export function turnAt(number: number): Turn {
  return special[number] ?? { says: invoice(number) };
}

const goods = ["paper", "toner", "envelopes", "folders", "staples", "labels", "pens", "stamps"];

/** An invoice to book, with its items. */
function invoice(number: number): string {
  const items = Array.from({ length: 6 }, (_, index) => {
    const what = goods[(number + index) % goods.length];
    return `- ${1 + ((number * (index + 3)) % 9)} boxes of ${what}, shelf ${number % 40}/${index + 1}, ${(number % 17) + index}.50 EUR`;
  });
  return `Please book invoice ${1_000 + number}, due in ${10 + (number % 20)} days:\n${items.join("\n")}`;
}
