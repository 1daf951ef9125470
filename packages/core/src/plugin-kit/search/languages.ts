import { derivedStems } from "./derived-stems.js";
import { irregularForms, porterStem } from "./porter-stem.js";
import { relatedWords } from "./related-words.js";

/** A language whose function words and endings are known. */
export interface Language {
  readonly tag: string;
  /** Function words, which say nothing about what is looked for. */
  readonly stopWords: ReadonlySet<string>;
  stem(word: string): string;
  /** Returns words of a stem that do not begin like it. */
  irregular?(stem: string): readonly string[];
  /** Returns stems of words that may be derived from the same word. */
  derived?(stem: string): Iterable<string>;
  /** Returns words that mean nearly the same. */
  related?(word: string): Iterable<string>;
}

/**
 * English words that are in most texts; an index leaves them out. Words that are also names or nouns (`will`, `may`) are not
 * among them.
 */
export const functionWords: ReadonlySet<string> =
  setOf(`a an the and or but if then than so as of at by for with about into to
  from in on off out up down over under again is am are was were be been being have has had having do does did doing this that
  these those i me my mine we us our ours you your yours he him his she her hers it its they them their theirs not no nor too
  very s t d ll m re ve just there here`);

const english = `what which who whom whose when where why how can could should would shall might must will may also any some all
  both each few more most other such only own same once during before after while because until between through isn aren wasn
  weren don doesn didn hasn haven hadn wouldn couldn shouldn yes please tell know ever recently currently many much
  according kind type`;

const others: readonly (readonly [tag: string, stopWords: string, endings: string])[] = [
  [
    "de",
    `der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren hat haben hatte ich du er sie es wir
    ihr mich dich ihn uns euch mir dir ihm ihnen mein dein sein nicht kein keine mit von zu zum zur im in am an auf aus bei fur
    uber unter nach vor was wer wie wo wann warum welche welcher welches wohin woher dass als wenn auch noch schon nur so sich`,
    "ern erin innen em en er es e s n",
  ],
  [
    "fr",
    `le la les l un une des du de d et ou mais est sont etait ont ai as avons avez je j tu il elle nous vous ils elles me te se ce
    cet cette ces mon ma mes ton ta tes son sa ses notre votre leur ne pas plus avec pour par sur sous dans en au aux que qui quoi
    quel quelle quels quelles quand ou comment pourquoi qu y`,
    "issements issement ement euses eux euse aient erait erent ees ait ent ant er ez es ee s e",
  ],
  [
    "es",
    `el la los las un una unos unas y o pero es son era fue ha han he yo tu ella nosotros ellos me te se le lo mi mis tus su sus no
    con de del al en por para sobre que quien cual cuando donde como porque cuanto muy ya hay este esta estos estas`,
    "amientos amiento aciones acion mente aron ieron ando iendo adas ados ada ado idas idos ida ido ar er ir as os es a o e s",
  ],
  [
    "it",
    `il lo la i gli le un uno una e o ma sono era ha hanno ho io tu lui lei noi voi loro mi ti si ci vi mio mia tuo suo non con di
    del della dei delle da dal in nel nella su per tra che chi quale quando dove come perche quanto molto questo questa`,
    "azioni azione mente arono ando endo ate ati ata ato ite iti ita ito are ere ire i e a o",
  ],
  [
    "pt",
    `o a os as um uma e ou mas foi era tem eu tu ele ela nos eles me te se meu minha seu sua nao com de do da dos das em no na nos
    nas por para sobre que quem qual quando onde como porque quanto muito este esta isso`,
    "amentos amento acoes acao mente aram eram ando endo adas ados ada ado idas idos ida ido ar er ir as os es a o e s",
  ],
  [
    "nl",
    `de het een en of maar is zijn was waren heeft hebben had ik jij je hij zij ze wij we jullie mij hem haar ons mijn jouw niet
    geen met van naar in op aan bij voor over onder na wat wie hoe waar wanneer waarom welke dat als ook nog al er`,
    "heden heid eren en er es e s",
  ],
];

/** Shortest stem that is left of a word. */
const MIN_STEM_CHARS = 4;

const englishLanguage: Language = {
  tag: "en",
  stopWords: new Set([...functionWords, ...setOf(english)]),
  stem: porterStem,
  irregular: irregularForms,
  derived: derivedStems,
  related: (word) => relatedWords(word, porterStem),
};

const languages: readonly Language[] = [
  englishLanguage,
  ...others.map(([tag, stopWords, endings]): Language => {
    const list = endings.split(" ");
    return {
      tag,
      stopWords: setOf(stopWords),
      stem(word) {
        const fits = (each: string) =>
          word.endsWith(each) && word.length - each.length >= MIN_STEM_CHARS;
        const ending = list.find(fits);
        return ending === undefined ? word : word.slice(0, -ending.length);
      },
    };
  }),
];

/** Returns the language of most function words; English, whose endings do little harm to others, when there are none. */
export function languageOf(words: readonly string[]): Language {
  let best = englishLanguage;
  let most = 0;
  for (const language of languages) {
    const count = words.filter((word) => language.stopWords.has(word)).length;
    if (count > most) [best, most] = [language, count];
  }
  return best;
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/));
}
