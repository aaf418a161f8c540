/** What an agent can be called, as part of a regular expression. Some names that it meets are reserved. */
export const agentNamePattern = "[a-z0-9][a-z0-9-]{0,62}";
