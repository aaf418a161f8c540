/** Where the memories of each kind are in the API. */
export const memoryPaths = {
  agent: "/api/agents/:name/memory",
  shared: "/api/memories/:name",
} as const;

/** The route of a memory, `<agent>` or `shared/<name>`, and its name there. */
export function placeOf(memory: string) {
  const [, shared] = /^shared\/(.*)$/.exec(memory) ?? [];
  return shared === undefined
    ? { at: memoryPaths.agent, name: memory }
    : { at: memoryPaths.shared, name: shared };
}
