/** A report of some length: what a model writes into a file is in its own context, too. */
export function closingReport(): string {
  const months = Array.from({ length: 12 }, (_, month) => {
    const name = new Date(Date.UTC(2025, month)).toLocaleString("en-GB", { month: "long" });
    const sentences = Array.from(
      { length: 5 },
      (_, week) =>
        `In week ${week + 1} the books were compared with the bank, and ${month + week} differences were cleared.`,
    );
    return `## ${name}\n\n${sentences.join(" ")}\n`;
  });
  return `# Closing report\n\n${months.join("\n")}`;
}
