const fences = /`{3,}/g;

/** The prompt of a manual run with an edited payload, which can't end the block that it is in. */
export function promptOfPayload(trigger: string, edited: string): string {
  const inside = [...edited.matchAll(fences)].map(([mark]) => mark.length);
  const fence = "`".repeat(inside.reduce((longest, one) => Math.max(longest, one + 1), 3));
  const head = `Handle this payload of a delivery (${trigger}), which a person edited:`;
  return `${head}\n\n${fence}\n${edited}\n${fence}`;
}
