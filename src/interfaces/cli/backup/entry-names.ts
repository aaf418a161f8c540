const word = "[\\w-][\\w.@-]*";

/** Names of the entries of a backup; the group of a credential's name is its path in the store. */
export const stateName = new RegExp(`^(state\\.db|logs/${word}\\.log)$`);
export const secretName = new RegExp(`^credentials/(${word}/${word}/${word})$`);
