import { providers } from "../../../../streams/agent-config.ts";

/** Who may serve the model of a new project: a provider, or a server of your own without a key. */
export const starterProviders = [...providers, "local"] as const;
export type StarterProvider = (typeof starterProviders)[number];
