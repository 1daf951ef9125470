/** A rule of the algorithm: an ending and what replaces it. */
type Rule = readonly [ending: string, replacement: string];

// Rules of Porter's algorithm (1980); within a step the longest ending decides.
const PLURALS: readonly Rule[] = [
  ["sses", "ss"],
  ["ies", "i"],
  ["ss", "ss"],
  ["s", ""],
];
const STEP_2: readonly Rule[] = [
  ["ational", "ate"],
  ["ization", "ize"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["tional", "tion"],
  ["biliti", "ble"],
  ["entli", "ent"],
  ["ousli", "ous"],
  ["ation", "ate"],
  ["alism", "al"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["alli", "al"],
  ["ator", "ate"],
  ["logi", "log"],
  ["bli", "ble"],
  ["eli", "e"],
];
const STEP_3: readonly Rule[] = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ness", ""],
  ["ful", ""],
];
const STEP_4: readonly Rule[] = [
  ...["ement", "ance", "ence", "able", "ible", "ment"],
  ...["ant", "ent", "ion", "ism", "ate", "iti", "ous", "ive", "ize"],
  ...["al", "er", "ic", "ou"],
].map((ending): Rule => [ending, ""]);

/** Endings that are `or` in American spelling: colour, favourite, neighbours; not in hour, four or journey. */
const BRITISH = /(?<=^[a-z]{3,})our/;

/** Words that Porter's rules leave apart, by what they are forms of. */
const IRREGULAR: ReadonlyMap<string, string> = new Map(
  [
    "be:am is are was were been being",
    "become:became",
    "begin:began begun",
    "bite:bit bitten",
    "blow:blew blown",
    "break:broke broken",
    "bring:brought",
    "build:built",
    "buy:bought",
    "catch:caught",
    "child:children",
    "choose:chose chosen",
    "come:came",
    "draw:drew drawn",
    "drink:drank drunk",
    "drive:drove driven",
    "eat:ate eaten",
    "fall:fell fallen",
    "feel:felt",
    "fight:fought",
    "find:found",
    "fly:flew flown flies flying",
    "foot:feet",
    "forget:forgot forgotten",
    "get:got gotten",
    "give:gave given",
    "go:went gone goes",
    "grow:grew grown",
    "hear:heard",
    "hide:hid hidden",
    "hold:held",
    "keep:kept",
    "know:knew known",
    "lead:led",
    "leave:left",
    "lend:lent",
    "lose:lost",
    "make:made",
    "man:men",
    "mean:meant",
    "meet:met",
    "mouse:mice",
    "pay:paid",
    "person:people",
    "ride:rode ridden",
    "ring:rang rung",
    "run:ran",
    "say:said",
    "see:saw seen",
    "sell:sold",
    "send:sent",
    "shoot:shot",
    "sing:sang sung",
    "sit:sat",
    "sleep:slept",
    "speak:spoke spoken",
    "spend:spent",
    "stand:stood",
    "steal:stole stolen",
    "swim:swam swum",
    "take:took taken",
    "teach:taught",
    "tell:told",
    "think:thought",
    "throw:threw thrown",
    "tooth:teeth",
    "understand:understood",
    "wake:woke woken",
    "wear:wore worn",
    "wife:wives",
    "win:won",
    "woman:women",
    "write:wrote written",
  ].flatMap((line) => {
    const [base = "", forms = ""] = line.split(":");
    return forms.split(" ").map((form): [string, string] => [form, base]);
  }),
);

let formsByStem: Map<string, string[]> | undefined;

/** Returns the irregular forms, and the base, of a stem. */
export function irregularForms(stem: string): readonly string[] {
  if (formsByStem === undefined) {
    formsByStem = new Map();
    for (const [form, base] of IRREGULAR) {
      const of = porterStem(base);
      const forms = formsByStem.get(of) ?? [base];
      forms.push(form);
      formsByStem.set(of, forms);
    }
  }
  return formsByStem.get(stem) ?? [];
}

/** Returns the stem of a lower-case English word: Porter's algorithm, and irregular forms by their base. */
export function porterStem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  let stem = (IRREGULAR.get(word) ?? word).replace(BRITISH, "or");
  stem = replaced(stem, PLURALS, () => true);
  stem = withoutTense(stem);
  if (stem.endsWith("y") && hasVowel(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`;
  stem = replaced(stem, STEP_2, (rest) => measure(rest) > 0);
  stem = replaced(stem, STEP_3, (rest) => measure(rest) > 0);
  stem = replaced(
    stem,
    STEP_4,
    (rest, ending) => measure(rest) > 1 && (ending !== "ion" || /[st]$/.test(rest)),
  );
  if (stem.endsWith("e")) {
    const rest = stem.slice(0, -1);
    const size = measure(rest);
    if (size > 1 || (size === 1 && !endsShort(rest))) stem = rest;
  }
  return stem.endsWith("ll") && measure(stem) > 1 ? stem.slice(0, -1) : stem;
}

/** Applies the rule of the longest ending that the word has, if the rest satisfies the condition. */
function replaced(
  word: string,
  rules: readonly Rule[],
  accepts: (rest: string, ending: string) => boolean,
): string {
  const rule = rules.find(([ending]) => word.endsWith(ending));
  if (rule === undefined) return word;
  const rest = word.slice(0, word.length - rule[0].length);
  return accepts(rest, rule[0]) ? rest + rule[1] : word;
}

function withoutTense(word: string): string {
  if (word.endsWith("eed")) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const rest = /^(.+?)(?:ed|ing)$/.exec(word)?.[1];
  if (rest === undefined || !hasVowel(rest)) return word;
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (/([^aeioulsz])\1$/.test(rest)) return rest.slice(0, -1);
  return measure(rest) === 1 && endsShort(rest) ? `${rest}e` : rest;
}

/** Counts the changes from vowels to consonants. */
function measure(word: string): number {
  return shapeOf(word).match(/v+c+/g)?.length ?? 0;
}

function hasVowel(word: string): boolean {
  return shapeOf(word).includes("v");
}

/** Tells whether a word ends with consonant, vowel and a consonant other than w, x or y. */
function endsShort(word: string): boolean {
  return /cvc$/.test(shapeOf(word)) && !/[wxy]$/.test(word);
}

/** Writes a word as consonants and vowels; a `y` after a consonant is a vowel. */
function shapeOf(word: string): string {
  let shape = "";
  for (const letter of word) {
    const isVowel = "aeiou".includes(letter) || (letter === "y" && shape.endsWith("c"));
    shape += isVowel ? "v" : "c";
  }
  return shape;
}
