import { expect, test } from "vitest";
import { languageOf } from "../../../src/plugin-kit/search/languages.js";
import { porterStem } from "../../../src/plugin-kit/search/porter-stem.js";
import { wordsOf } from "../../../src/plugin-kit/search/words.js";

test.each([
  // From the tables of the article that describes the algorithm.
  "caresses:caress ponies:poni ties:ti cats:cat feed:feed agreed:agre plastered:plaster bled:bled motoring:motor",
  "conflated:conflat troubled:troubl sized:size hopping:hop falling:fall hissing:hiss failing:fail filing:file",
  "happy:happi sky:sky relational:relat conditional:condit rational:ration digitizer:digit operator:oper",
  "hopefulness:hope formaliti:formal triplicate:triplic electrical:electr goodness:good revival:reviv",
  "allowance:allow adjustable:adjust replacement:replac adoption:adopt probate:probat rate:rate controll:control",
])("stems as the algorithm says: %s", (pairs) => {
  for (const pair of pairs.split(" ")) {
    const [word = "", stem] = pair.split(":");
    expect(porterStem(word), word).toBe(stem);
  }
});

test.each([
  ["went", "going"],
  ["bought", "buys"],
  ["children", "child"],
  ["painted", "painting"],
  ["allergies", "allergy"],
])("%s and %s are forms of one word", (one, other) => {
  expect(porterStem(one)).toBe(porterStem(other));
});

test.each([
  ["en", "When did she go to the market?"],
  ["de", "Wann war sie auf dem Markt?"],
  ["fr", "Quand est-elle allée au marché avec les enfants ?"],
  ["es", "¿Cuándo fue al mercado con los niños?"],
  ["nl", "Wanneer is hij naar de markt gegaan?"],
  ["en", "zebra 4711"],
])("%s: %s", (tag, query) => {
  expect(languageOf(wordsOf(query)).tag).toBe(tag);
});
