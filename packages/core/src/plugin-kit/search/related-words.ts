/** Words that people use for one another, a group a line. */
const ALIKE = `job work position profession occupation career employment
boss manager supervisor
colleague coworker
mother mum mom mama
father dad papa
grandmother grandma granny
grandfather grandpa grandad
kid child children
wedding marry married marriage
fiance fiancee engaged
flat apartment
house home
flatmate roommate housemate
neighbour neighbor
holiday vacation trip
trip journey travel tour
bike bicycle cycling
car drive driving
movie film cinema
picture photo photograph
painting paint painted drawing
book novel reading
music song
concert gig performance
instrument music musical
race marathon run running
workout gym exercise fitness
food meal eat eating
restaurant cafe
buy purchase
price cost
pay payment paid
born birth birthday
begin start
end finish
repair fix
big large huge
small little tiny
happy glad
sad upset cry
angry mad furious
afraid scared frightened
ill sick illness
doctor physician surgeon
hospital clinic
surgery operation operate
medicine medication tablet pill
injure injury hurt
health healthy
garden gardening allotment
pottery ceramics clay
class course lesson workshop
school university college education
study learn
argue argument quarrel fight
propose proposal engagement
newspaper paper article
present gift
party celebrate celebration
meeting meet met
talk chat conversation discuss
help support assist
suggest recommend advice advise
choose pick select
want wish hope
enjoy like love
dislike hate
hobby interest pastime
town city village
sea ocean beach coast
mountain hill hiking
flight fly plane
booking reservation book reserve
street road lane
phone telephone mobile
computer laptop
money cash
baggage luggage bag suitcase
refund reimburse reimbursement repay
cancel cancellation
change modify modification update
error mistake wrong
answer reply respond response
accident crash
steal stolen thief rob
colour color
shop store
shoes sneakers trainers boots
trousers pants
rubbish trash garbage
autumn fall
fast quick
problem issue trouble
result outcome
stay live living
move moving relocate
plan intend intention
goal aim target dream
volunteer volunteering charity
church faith religion religious
lawyer attorney
police officer
password passphrase credentials
bug defect
crash fail failure
delete remove
folder directory
meeting appointment
schedule calendar
deadline due`;

/** Words for a kind, each with words for what is of that kind. */
const KINDS = `pet: dog cat puppy kitten rabbit hamster parrot fish
animal: dog cat horse bird cow sheep
relative: brother sister cousin uncle aunt grandmother grandfather
sibling: brother sister
parent: mother father mum mom dad
child: son daughter
partner: wife husband boyfriend girlfriend
spouse: wife husband
instrument: guitar piano violin cello drums flute
sport: football soccer tennis basketball running swimming cycling
drink: coffee tea beer wine juice
fruit: apple banana orange strawberry
vegetable: bean courgette carrot potato tomato
flower: rose tulip sunflower lily
weather: rain raining snow sunny storm wind
season: spring summer autumn winter
vehicle: car bike bus truck van
transport: car bike bus train tram
colour: red green blue yellow orange purple black white
color: red green blue yellow orange purple black white
clothes: dress shirt shoes jacket boots
meal: breakfast lunch dinner
music: song band concert
art: painting drawing sculpture pottery
subject: maths chemistry physics biology history
country: spain france italy germany portugal japan canada
degree: bachelor master phd university
device: phone laptop tablet computer`;

let related: ReadonlyMap<string, ReadonlySet<string>> | undefined;

/**
 * Returns English words that mean nearly the same as a word, or that are of the kind it names: a question says `pet` or `job`
 * where the answer said `dog` or `work`.
 *
 * @param stem - brings words to a common form
 */
export function relatedWords(word: string, stem: (word: string) => string): Iterable<string> {
  related ??= relationsOf(stem);
  return related.get(stem(word)) ?? [];
}

function relationsOf(stem: (word: string) => string): Map<string, Set<string>> {
  const relations = new Map<string, Set<string>>();
  const relate = (word: string, others: readonly string[]): void => {
    const key = stem(word);
    const known = relations.get(key) ?? new Set();
    for (const other of others) if (stem(other) !== key) known.add(other);
    relations.set(key, known);
  };
  for (const line of ALIKE.split("\n")) {
    const words = line.split(" ");
    for (const word of words) relate(word, words);
  }
  for (const line of KINDS.split("\n")) {
    const [kind = "", members = ""] = line.split(": ");
    relate(kind, members.split(" "));
  }
  return relations;
}
