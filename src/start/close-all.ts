/** Takes the steps in order. One that fails is told, and keeps none of the others from being taken. Never rejects. */
export async function closeAll(
  steps: readonly (() => void | Promise<void>)[],
  onProblem: (error: unknown) => void,
): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      onProblem(error);
    }
  }
}
