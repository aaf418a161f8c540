import type { Mutation } from "../mutation.ts";

/** What keeps work through a crash, a full disk and a killed process. */
export const store: readonly Mutation[] = [];
