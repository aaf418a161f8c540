/** Texts that follow each other, such as the lines of a run: a secret may go on from one to the next. */
export interface Output {
  /** What a secret may have begun with at the end of the texts before. */
  begun: string;
}

/** Takes known secrets and control characters out of a text. Half of a secret or more at the end of an output's text is one. */
export type RedactText = (text: string, output?: Output) => string;
