/** Steps that take back what was done, the last one first. */
export interface UndoStack {
  push(step: () => void): void;
  /** Takes every step once. One that throws is told, and keeps none of the others from being taken. */
  readonly undo: () => void;
}

export function undoStack(onProblem: (error: unknown) => void): UndoStack {
  const steps: (() => void)[] = [];
  return {
    push: (step) => void steps.push(step),
    undo: () => {
      for (const step of steps.splice(0).reverse()) {
        try {
          step();
        } catch (error) {
          onProblem(error);
        }
      }
    },
  };
}
