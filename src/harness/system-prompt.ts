/** The system prompt of an agent. Without any instructions a harness would bring its own, a coding assistant's. */
export function systemPrompt(instructions: string, title: string): string {
  return instructions.trim() === "" ? `You are the agent "${title}".` : instructions;
}
