const entries = 50_000;
const firstNumber = 10_000;
const day = 86_400_000;
const firstDay = Date.UTC(2016, 0, 1);
const parties = ["Harbour Freight", "Northwind Paper", "Lakeside Power", "Otter & Sons", "Medina"];

/** Returns the amount under a number of the old ledger, as the ledger writes it: `1284.07`. */
export function ledgerAmount(number: number): string {
  const cents = 1_000 + ((number * 7_919) % 900_000);
  return (cents / 100).toFixed(2);
}

/** Ten years of bookkeeping in one text: 50,000 lines, about 3 MB. */
export function wholeLedger(): string {
  const lines: string[] = [];
  for (let number = firstNumber; number < firstNumber + entries; number++) {
    const at = new Date(firstDay + Math.floor((number - firstNumber) / 14) * day);
    const party = parties[number % parties.length];
    lines.push(
      `${at.toISOString().slice(0, 10)} L-${number} ${party}, account ${4_000 + (number % 90)}, ${ledgerAmount(number)} EUR`,
    );
  }
  return lines.join("\n");
}
