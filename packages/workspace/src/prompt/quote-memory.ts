import { markQuoter } from "@holdfast/core/plugin-kit";

/**
 * A text that cannot end the quotation it stands in: every mark in it that is or resembles `<memory>` or `</memory>` loses
 * its bracket.
 */
export const quoteMemory: (text: string) => string = markQuoter(["memory"]);
