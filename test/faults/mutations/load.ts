import type { Mutation } from "../mutation.ts";

/** What holds under load, with clocks that jump and with files that change at once. */
export const load: readonly Mutation[] = [];
